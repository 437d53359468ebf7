#!/bin/sh
# Builds the provider of this folder into the directory $1/mirror, which has the layout of a filesystem
# mirror. Each CLI looks under the host of its own registry.
set -eu

platform=$(go env GOOS)_$(go env GOARCH)
for host in registry.opentofu.org registry.terraform.io; do
	go build -buildvcs=false -ldflags '-s -w' \
		-o "$1/mirror/$host/example/cloud/1.0.0/$platform/terraform-provider-cloud_v1.0.0" .
done
