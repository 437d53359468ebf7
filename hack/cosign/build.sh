#!/bin/sh
# Builds cosign into the directory $1. It signs a release, and the tests verify what it has signed.
set -eu

module=github.com/sigstore/cosign/v3
version=$(go list -m -f '{{.Version}}' $module)

go build -mod=readonly -buildvcs=false -trimpath -ldflags "-s -w -X sigs.k8s.io/release-utils/version.gitVersion=$version" \
	-o "$1/" $module/cmd/cosign
