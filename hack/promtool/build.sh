#!/bin/sh
# Builds promtool into the directory $1. The tag leaves out the service discovery of all
# clouds. go.mod and go.sum have only what remains: do not run go mod tidy, which ignores
# tags and adds the SDKs of these clouds.
set -eu

module=github.com/prometheus/prometheus
version=$(go list -m -f '{{.Version}}' $module)

go build -buildvcs=false -trimpath -tags remove_all_sd \
	-ldflags "-s -w -X github.com/prometheus/common/version.Version=$version" \
	-o "$1/" $module/cmd/promtool
