#!/bin/sh
# Writes the documents of the image, which say what is in its Go binaries and on which terms.
#
#   hack/documents.sh DIR BINARY...    creates DIR
#
#   DIR/LICENSE                        the license of this project
#   DIR/licenses/MODULE@VERSION/...    the license files of each Go module in the binaries
#   DIR/sbom/BINARY.cdx.json           the modules in a binary, as CycloneDX
#
# The same binaries give the same files. Their modules must be in the module cache, where
# the build of the binaries puts them. CYCLONEDX_GOMOD may name the program that writes the
# SBOMs; otherwise it is built.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
dir=$1
shift

# The programs that this script builds run here, even if the binaries are for another platform.
unset GOOS GOARCH

cyclonedx=${CYCLONEDX_GOMOD:-}
[ "$cyclonedx" ] || cyclonedx=$("$root/hack/tools.sh" cyclonedx-gomod)/cyclonedx-gomod

tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
trap 'exit 130' INT TERM
go build -C "$root" -mod=readonly -o "$tools/notices" ./hack/notices

mkdir "$dir" "$dir/sbom"
cp "$root/LICENSE" "$dir/"
"$tools/notices" -dir "$dir/licenses" "$@"

for binary in "$@"; do
	"$cyclonedx" bin -json -disable-html-escape -std -noserial -notimestamp \
		-output "$dir/sbom/$(basename "$binary").cdx.json" "$binary"
done
