// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

const namespace = "bench"

// A bench is the state that all parts share.
type bench struct {
	*options

	dir string

	// assets is the directory of etcd and kube-apiserver, and mirror one of plugins, as the CLI's
	// filesystem_mirror wants it.
	assets, mirror string

	provider, cli string

	// variables are added to the environment of the instances.
	variables []string

	plane *controlplane.ControlPlane
	start time.Time
	log   io.Writer
}

// measure runs the measurements that the options select. After an error, the report has
// the measurements before it.
func measure(ctx context.Context, o *options, log io.Writer) (*report, error) {
	r := &report{Date: time.Now().UTC().Truncate(time.Second)}

	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // It is a temporary directory.

	b := &bench{options: o, dir: dir, provider: filepath.Join(dir, "provider"), start: time.Now(), log: log}

	if err := b.build(ctx); err != nil {
		return r, err
	}

	if err := b.describe(ctx, r); err != nil {
		return r, err
	}

	if b.plane, err = controlplane.Start(ctx, dir, b.assets, filepath.Join("package", "crds"), filepath.Join(dir, "controlplane.log")); err != nil {
		return r, err
	}
	defer b.plane.Stop()

	if err := b.configure(ctx); err != nil {
		return r, err
	}

	measures := map[string]func(context.Context, *report) error{
		"cost": b.costs, "existing": b.existing, "waiting": b.waitings, "scaling": b.scalings, "memory": b.memories, "elastic": b.elastics,
	}

	for _, part := range parts() {
		if slices.Contains(o.parts, part) {
			if err := measures[part](ctx, r); err != nil {
				return r, errors.Wrapf(err, "cannot measure %s", part)
			}
		}
	}

	return r, nil
}

func (b *bench) sayf(format string, args ...any) {
	fmt.Fprintf(b.log, "%4.0fs  %s\n", time.Since(b.start).Seconds(), fmt.Sprintf(format, args...))
}

// backend configuration of all states whose Secrets end with the supplied suffix.
func backend(suffix string) string {
	return fmt.Sprintf("terraform {\n  backend \"kubernetes\" {\n    namespace     = %q\n    secret_suffix = %q\n  }\n}\n", namespace, suffix)
}

// configure makes the ProviderConfig that Workspaces use by default, and the CLI
// configuration that lets the CLI find plugins.
func (b *bench) configure(ctx context.Context) error {
	configuration := backend("workspace")
	rc := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", b.mirror)

	return errors.Join(
		os.WriteFile(b.cliConfig(), []byte(rc), 0o600),
		b.plane.Kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}),
		b.plane.Kube.Create(ctx, &namespacedv1beta1.ClusterProviderConfig{
			ObjectMeta: metav1.ObjectMeta{Name: "default"},
			Spec:       commonv1beta1.ProviderConfigSpec{Configuration: &configuration},
		}),
	)
}

func (b *bench) cliConfig() string { return filepath.Join(b.dir, "tofurc") }

// each calls fn for all items, for as many at the same time as there are workers, until the
// first error.
func each[T any](ctx context.Context, workers int, items []T, fn func(context.Context, T) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)

	for _, item := range items {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}

			return fn(ctx, item)
		})
	}

	return g.Wait()
}

// build finds all programs, and builds the provider. The benchmark has to be run at the root of the
// repository.
func (b *bench) build(ctx context.Context) (err error) {
	b.sayf("building the provider")

	for name, path := range map[string]*string{"KUBEBUILDER_ASSETS": &b.assets, "TOFU_BIN": &b.cli, "PROVIDER_MIRROR": &b.mirror} {
		if *path, err = program.Find(name, "bench"); err != nil {
			return err
		}
	}

	// The provider is built as for a release, without the flags of the tests.
	return program.BuildProvider(ctx, ".", b.provider, "-buildvcs=auto")
}

// describe adds the programs and the machine to the report.
func (b *bench) describe(ctx context.Context, r *report) (err error) {
	if r.Version, err = program.FirstLine(ctx, b.provider, "--version"); err != nil {
		return err
	}

	if r.CLI, err = program.FirstLine(ctx, b.cli, "version"); err != nil {
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

	r.Machine = machine{CPU: "unknown", CPUs: runtime.NumCPU(), LoadBefore: before.Load1}

	// Not every architecture has a name in /proc/cpuinfo.
	if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 && cpus[0].ModelName != "" {
		r.Machine.CPU = cpus[0].ModelName
	}

	return nil
}
