#!/bin/sh
# Builds the existing provider-terraform into the directory $1, for tests of the switch from it. It has
# no flag for the address of its metrics: without the one that is set here, two tests at the same time
# need the same port.
set -eu

go build -buildvcs=false -ldflags '-s -w -X sigs.k8s.io/controller-runtime/pkg/metrics/server.DefaultBindAddress=0' \
	-o "$1/" github.com/upbound/provider-terraform/cmd/provider
