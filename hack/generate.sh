#!/bin/sh
# Generates everything that follows from the Go types in apis/: their methods
# (apis/**/zz_generated.*.go) and the CRDs (package/crds).
#
#   hack/generate.sh            writes them
#   hack/generate.sh --check    writes nothing, but fails and names the files that
#                               are not as they would be written
#
# All of it happens in a copy, in which nothing generated is left from before: a
# failure leaves the tree as it was, and a file that nothing generates any more
# goes away.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

case $#:${1-} in
0:) check=no ;;
1:--check) check=yes ;;
*)
	echo "usage: hack/generate.sh [--check]" >&2
	exit 2
	;;
esac

tools=$("$root/hack/tools.sh" generate)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
trap 'exit 130' INT TERM

# generated lists the generated files of the tree here.
generated() {
	find apis -name 'zz_generated.*.go'
	find package/crds -type f
}

mkdir -p "$copy/hack" "$copy/package/crds"
cp "$root/go.mod" "$root/go.sum" "$copy/"
cp "$root/hack/boilerplate.go.txt" "$copy/hack/"
cp -R "$root/apis" "$copy/"

cd "$copy"
find apis -name 'zz_generated.*.go' -exec rm {} +
# DeepCopyObject comes first: without it angryjet cannot compile the packages.
"$tools/controller-gen" object:headerFile=hack/boilerplate.go.txt paths=./apis/...
"$tools/angryjet" generate-methodsets --header-file=hack/boilerplate.go.txt ./apis/...
"$tools/controller-gen" crd paths=./apis/... output:crd:artifacts:config=package/crds
fresh=$(generated)

cd "$root"
present=$(generated)
stale=$(printf '%s\n' "$fresh" "$present" | LC_ALL=C sort -u | while read -r file; do
	cmp -s "$file" "$copy/$file" || echo "$file"
done)

if [ $check = yes ] && [ "$stale" ]; then
	echo "These generated files are stale; hack/generate.sh writes them:" >&2
	printf '  %s\n' $stale >&2
	exit 1
fi
for file in $stale; do
	if [ -f "$copy/$file" ]; then
		cp "$copy/$file" "$file"
	else
		rm "$file"
	fi
done
