#!/bin/sh
# Builds containerd, and the shim that runs containers with runc, into the directory $1.
set -eu

module=github.com/containerd/containerd/v2
version=$(go list -m -f '{{.Version}}' $module)

# The tags leave out the snapshotters that need libraries or kernel modules.
go build -buildvcs=false -trimpath -tags 'no_btrfs no_devmapper no_zfs no_aufs' \
	-ldflags "-s -w -X $module/version.Version=$version" \
	-o "$1/" $module/cmd/containerd $module/cmd/containerd-shim-runc-v2
