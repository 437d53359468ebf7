#!/bin/sh
# Builds the programs of a node, and the controllers and the scheduler that it needs, into
# the directory $1. The flags are those of the API server in hack/build.sh, so that Go
# compiles the packages that they share once.
set -eu

version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=${version#v1.}
base=k8s.io/component-base/version

for program in kube-controller-manager kube-scheduler kube-proxy kubelet; do
	go build -buildvcs=false -ldflags \
		"-s -w -X $base.gitVersion=$version -X $base.gitMajor=1 -X $base.gitMinor=${minor%%.*}" \
		-o "$1/" k8s.io/kubernetes/cmd/$program
done
