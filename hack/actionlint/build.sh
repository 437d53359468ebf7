#!/bin/sh
# Builds actionlint into the directory $1. It checks the workflows in .github.
set -eu

go build -buildvcs=false -trimpath -ldflags '-s -w' -o "$1/" github.com/rhysd/actionlint/cmd/actionlint
