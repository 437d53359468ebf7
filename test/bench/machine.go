// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"path/filepath"
	"runtime"

	"github.com/prometheus/procfs"

	"github.com/crossplane-contrib/provider-terraform/test/program"
)

type programs struct {
	// assets is the directory of etcd and kube-apiserver, crds that of our CRDs.
	assets, crds string

	provider, cli string

	// mirror is a directory of plugins, as the CLI's filesystem_mirror wants it.
	mirror string
}

// find finds all programs and builds the provider into the supplied directory. The
// benchmark has to be run at the root of the repository.
func find(ctx context.Context, dir string) (programs, error) {
	p := programs{crds: filepath.Join("package", "crds"), provider: filepath.Join(dir, "provider")}

	for name, path := range map[string]*string{"KUBEBUILDER_ASSETS": &p.assets, "TOFU_BIN": &p.cli, "PROVIDER_MIRROR": &p.mirror} {
		var err error
		if *path, err = program.Find(name, "bench"); err != nil {
			return p, err
		}
	}

	// The provider is built as for a release, without the flags of the tests.
	return p, program.BuildContext(ctx, ".", p.provider, "./cmd/provider", "-buildvcs=auto")
}

func (p programs) describe(ctx context.Context, r *report) error {
	version, err := program.FirstLine(ctx, p.provider, "--version")
	if err != nil {
		return err
	}

	cli, err := program.FirstLine(ctx, p.cli, "version")
	if err != nil {
		return err
	}

	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return err
	}

	before, err := fs.LoadAvg()
	if err != nil {
		return err
	}

	r.Version, r.CLI = version, cli
	r.Machine = machine{CPU: "unknown", CPUs: runtime.NumCPU(), LoadBefore: before.Load1}

	// Not every architecture has a name in /proc/cpuinfo.
	if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 && cpus[0].ModelName != "" {
		r.Machine.CPU = cpus[0].ModelName
	}

	return nil
}
