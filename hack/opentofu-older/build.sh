#!/bin/sh
# Builds an older OpenTofu into the directory $1: the third CLI of an image in make e2e.
set -eu

go build -buildvcs=false -ldflags '-s -w -X github.com/opentofu/opentofu/version.dev=no' -o "$1/" github.com/opentofu/opentofu/cmd/tofu
