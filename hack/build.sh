#!/bin/sh
# Builds the pinned programs that the tests, the demo and the linters need, out of
# the go.mod files beside this script. Nothing is downloaded but Go modules.
#
#   hack/build.sh NAME...    builds each NAME unless it is there already and
#                            prints the directory that holds it, one per line
#
# Outputs live in _output/<name>-<key>, where the key is a digest of everything
# the build depends on. A directory appears under that name only by rename, after
# everything in it was built, so that a half-finished build is never used.
set -eu

# A go.work further up does not know the modules here.
export GOWORK=off

hack=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
output=$(dirname -- "$hack")/_output

# version MODULE prints the version of MODULE that ./go.mod selects.
version() { go list -m -f '{{.Version}}' "$1"; }

# gobuild DIR PACKAGE [FLAGS...] builds PACKAGE of the module here into DIR.
gobuild() (
	into=$1 pkg=$2
	shift 2
	CGO_ENABLED=0 go build -buildvcs=false -o "$into/" "$@" "$pkg"
)

build_controlplane() (
	v=$(version k8s.io/kubernetes)
	minor=${v#v1.}
	base=k8s.io/component-base/version
	gobuild "$1" k8s.io/kubernetes/cmd/kube-apiserver -ldflags \
		"-s -w -X $base.gitVersion=$v -X $base.gitMajor=1 -X $base.gitMinor=${minor%%.*}"
	gobuild "$1" go.etcd.io/etcd/server/v3 -ldflags '-s -w'
	mv "$1/v3" "$1/etcd" 2>/dev/null || mv "$1/server" "$1/etcd"
)

build_opentofu() (
	v=$(version github.com/opentofu/opentofu)
	gobuild "$1" github.com/opentofu/opentofu/cmd/tofu -ldflags \
		"-s -w -X github.com/opentofu/opentofu/version.dev=no"
)

build_terraform() { gobuild "$1" github.com/hashicorp/terraform -ldflags '-s -w'; }

# A filesystem mirror, the layout that `provider_installation` of a CLI
# configuration file reads. Both CLIs look under their own registry host.
build_provider_time() (
	v=$(version github.com/hashicorp/terraform-provider-time)
	v=${v#v}
	platform=$(go env GOOS)_$(go env GOARCH)
	gobuild "$1" github.com/hashicorp/terraform-provider-time -ldflags '-s -w'
	for host in registry.opentofu.org registry.terraform.io; do
		platform_dir=$1/mirror/$host/hashicorp/time/$v/$platform
		mkdir -p "$platform_dir"
		ln "$1/terraform-provider-time" "$platform_dir/terraform-provider-time_v$v"
	done
	rm "$1/terraform-provider-time"
)

build_lint() { gobuild "$1" github.com/golangci/golangci-lint/v2/cmd/golangci-lint -ldflags '-s -w'; }

build_generate() (
	gobuild "$1" sigs.k8s.io/controller-tools/cmd/controller-gen
	gobuild "$1" github.com/crossplane/crossplane-tools/cmd/angryjet
)

ensure() (
	name=$1
	[ -f "$hack/$name/go.mod" ] || {
		echo "hack/build.sh: no such program: $name (there is no $hack/$name/go.mod)" >&2
		exit 2
	}
	cd "$hack/$name"
	key=$({ cat go.mod go.sum "$hack/build.sh" && go env GOVERSION GOOS GOARCH; } | git hash-object --stdin | cut -c1-12)
	dir=$output/$name-$key
	if [ ! -d "$dir" ]; then
		echo "building $name (once; minutes for the larger ones) ..." >&2
		mkdir -p "$output"
		tmp=$(mktemp -d "$output/.build-$name-XXXXXX")
		trap 'rm -rf "$tmp"' EXIT
		trap 'exit 130' INT TERM
		"build_$(echo "$name" | tr - _)" "$tmp" >&2
		chmod 755 "$tmp"
		# Somebody else may have been faster; theirs is as good.
		mv -T "$tmp" "$dir" 2>/dev/null || [ -d "$dir" ]
	fi
	echo "$dir"
)

[ $# -gt 0 ] || {
	sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
	exit 2
}
for name in "$@"; do ensure "$name"; done
