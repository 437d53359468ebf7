#!/bin/sh
# Writes where the project is: the address of the package, which is also that of the image,
# and the URL of the source. hack/address.txt has both. All other places are copies: manifests,
# documentation, links of alerts and of the dashboard, labels of the image, and tests.
#
#   hack/address.sh PACKAGE SOURCE    writes other addresses to all places
#   hack/address.sh                   prints the addresses
#
# The paths of Go modules stay as they are.
set -eu

cd "$(dirname -- "$0")/.."

{ read -r old_package && read -r old_source; } <hack/address.txt

case $# in
0)
	cat hack/address.txt
	exit
	;;
2) ;;
*)
	echo 'hack/address.sh: want PACKAGE and SOURCE: make address PACKAGE=ghcr.io/acme/provider-terraform SOURCE=https://github.com/acme/provider-terraform' >&2
	exit 2
	;;
esac

package=$1 source=$2

# matches TEXT PATTERN says whether the whole text matches.
matches() { printf '%s\n' "$1" | grep -Eqx "$2"; }

matches "$package" '[a-z0-9.:-]+(/[a-z0-9._-]+)+' || {
	echo "hack/address.sh: $package is not a repository of images without a tag" >&2
	exit 2
}
matches "$source" 'https://[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)+' || {
	echo "hack/address.sh: $source is not a URL with https and without a slash at the end" >&2
	exit 2
}

# replace OLD NEW replaces a text in all files that git knows or would add.
replace() {
	pattern=$(printf '%s' "$1" | sed 's/[.]/\\./g')
	git grep --untracked -lIF -e "$1" | while read -r file; do
		sed "s#$pattern#$2#g" "$file" >"$file.new"
		# The file keeps its mode.
		cat "$file.new" >"$file"
		rm "$file.new"
	done
}

replace "$old_package" "$package"
replace "$old_source" "$source"
