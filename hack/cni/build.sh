#!/bin/sh
# Builds the CNI plugins of a node into the directory $1.
set -eu

for plugin in main/bridge main/loopback ipam/host-local; do
	go build -buildvcs=false -trimpath -ldflags '-s -w' -o "$1/" "github.com/containernetworking/plugins/plugins/$plugin"
done
