#!/bin/sh
# Builds tools and shows one line of progress for each of them. A tool with a script of its
# own, hack/NAME/build.sh, is built by hack/build-folder.sh, and the others by hack/build.sh.
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
	opentofu-older) what='an older OpenTofu' ;;
	terraform) what=Terraform ;;
	provider-time) what='the Time provider' ;;
	provider-cloud) what='the provider that fails' ;;
	lint) what=golangci-lint ;;
	generate) what='controller-gen and angryjet' ;;
	node) what='kubelet, kube-proxy, scheduler and controllers' ;;
	containerd) what=containerd ;;
	cni) what='the CNI plugins' ;;
	crossplane) what=Crossplane ;;
	crossplane-cli) what='the Crossplane CLI' ;;
	existing-provider) what='the existing provider' ;;
	promtool) what=promtool ;;
	*) what=$name ;;
	esac
	build=$hack/build.sh
	[ ! -f "$hack/$name/build.sh" ] || build=$hack/build-folder.sh
	"$hack/progress.sh" "$what" "$build" "$name"
done
