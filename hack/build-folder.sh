#!/bin/sh
# Builds the pinned programs that have scripts of their own. hack/build.sh builds the others.
#
#   hack/build-folder.sh NAME...    builds each NAME unless it is there already and
#                                   prints the directory that holds it, one per line
#
# Each NAME is a folder beside this script, with a go.mod, Go files if the program is one of ours, and a
# script build.sh that is run in that folder with an output directory. A change of one builds one folder
# again, while a change of hack/build.sh would build every tool again.
#
# Outputs live in _output/<name>-<key>, where the key is a digest of everything
# the build depends on. A directory appears under that name only by rename, after
# everything in it was built, so that a half-finished build is never used.
set -eu

# A go.work further up does not know the modules here.
export GOWORK=off

hack=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
output=$(dirname -- "$hack")/_output

ensure() (
	name=$1
	cd "$hack/$name"
	key=$({ cat go.mod go.sum build.sh $(ls ./*.go 2>/dev/null) && go env GOVERSION GOOS GOARCH; } | git hash-object --stdin | cut -c1-12)
	dir=$output/$name-$key
	if [ ! -d "$dir" ]; then
		echo "building $name (once; minutes for the larger ones) ..." >&2
		mkdir -p "$output"
		tmp=$(mktemp -d "$output/.build-$name-XXXXXX")
		trap 'rm -rf "$tmp"' EXIT
		trap 'exit 130' INT TERM
		CGO_ENABLED=0 ./build.sh "$tmp" >&2
		chmod 755 "$tmp"
		# Somebody else may have been faster; theirs is as good.
		mv -T "$tmp" "$dir" 2>/dev/null || [ -d "$dir" ]
	fi
	echo "$dir"
)

for name in "$@"; do ensure "$name"; done
