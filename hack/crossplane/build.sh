#!/bin/sh
# Builds Crossplane into the directory $1, beside the other files of its image and its
# Helm chart.
set -eu

module=github.com/crossplane/crossplane/v2
version=$(go list -m -f '{{.Version}}' $module)

go build -buildvcs=false -trimpath \
	-ldflags "-s -w -X github.com/crossplane/crossplane-runtime/v2/pkg/version.version=$version" \
	-o "$1/" $module/cmd/crossplane

# There is no directory before the build has downloaded the module. Its files are read-only.
source=$(go list -m -f '{{.Dir}}' $module)
cp -r --no-preserve=mode "$source/cluster/crds" "$source/cluster/webhookconfigurations" "$1/"
cp -r --no-preserve=mode "$source/cluster/charts/crossplane" "$1/chart"
