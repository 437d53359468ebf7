#!/bin/sh
# Builds tools with hack/build.sh and shows one line of progress for each of them.
#
#   hack/tools.sh NAME...    prints the directory of each NAME, one per line
#
# This is not a part of hack/build.sh: each build depends on that file, and a change
# of the display would build every tool again.
set -eu

hack=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

for name in "$@"; do
	case $name in
	controlplane) what='kube-apiserver and etcd' ;;
	opentofu) what=OpenTofu ;;
	terraform) what=Terraform ;;
	provider-time) what='the Time provider' ;;
	lint) what=golangci-lint ;;
	generate) what='controller-gen and angryjet' ;;
	*) what=$name ;;
	esac
	"$hack/progress.sh" "$what" "$hack/build.sh" "$name"
done
