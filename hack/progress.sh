#!/bin/sh
# Runs a command that builds something and shows its progress on stderr, in one line.
#
#   hack/progress.sh WHAT COMMAND [ARG...]
#
# On a terminal the line is rewritten with the elapsed time. Elsewhere there is one
# line at the start and one at the end. A command that takes less than two seconds
# shows nothing.
#
# The stdout of the command is passed on. Its stderr goes to a log file in
# _output/log. If the command fails, the path and the last lines of the log are
# printed; otherwise the log is removed.
set -eu

what=$1
shift

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
mkdir -p "$root/_output/log"
log=$(mktemp "$root/_output/log/build-XXXXXX")
began=$(date +%s)
elapsed() { echo $(($(date +%s) - began)); }

# display shows the progress until it is killed. The command runs in the foreground
# and the display in the background, so that Ctrl-C reaches the command. The display does
# not end by itself: the shell would forget its process ID, and another process that gets
# that ID during a long build would be killed in its place.
display() {
	set +e
	# A sleep outlives its killed shell, and must not keep the pipe of stderr open.
	sleep 2 2>/dev/null
	[ -t 2 ] || echo "building $what ..." >&2
	while kill -0 $$ 2>/dev/null; do
		[ ! -t 2 ] || printf '\rbuilding %s ... %s s' "$what" "$(elapsed)" >&2
		sleep 1 2>/dev/null
	done
}

# hide ends the display. It may be called twice.
hide() {
	[ "$display" ] || return 0
	kill "$display" 2>/dev/null || :
	wait "$display" 2>/dev/null || :
	display=
}

display >&- &
display=$!
trap 'hide; rm -f "$log"' EXIT
trap 'exit 130' INT TERM

status=0
"$@" 2>"$log" || status=$?

hide
took=$(elapsed)
if [ -t 2 ]; then
	[ "$took" -lt 2 ] || printf '\rbuilding %s ... %s s\n' "$what" "$took" >&2
elif [ $status -eq 0 ]; then
	[ "$took" -lt 2 ] || echo "built $what in $took s" >&2
fi

if [ $status -ne 0 ]; then
	echo "building $what failed after $took s; the last lines of $log:" >&2
	tail -n 20 "$log" >&2
	trap - EXIT
fi
exit $status
