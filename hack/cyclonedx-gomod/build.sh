#!/bin/sh
# Builds cyclonedx-gomod into the directory $1. An SBOM has the digest of this program, so
# the program must not depend on the directory in which it is built.
set -eu

go build -mod=readonly -buildvcs=false -trimpath -ldflags '-s -w' -o "$1/" github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
