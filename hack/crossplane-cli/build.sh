#!/bin/sh
# Builds the CLI of Crossplane into the directory $1. Its source was moved out of the
# module after v2.2.
set -eu

module=github.com/crossplane/crossplane/v2
version=$(go list -m -f '{{.Version}}' $module)

go build -buildvcs=false -trimpath -ldflags "-s -w -X $module/internal/version.version=$version" \
	-o "$1/crossplane" $module/cmd/crank
