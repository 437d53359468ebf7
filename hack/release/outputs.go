// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// buildOutputs builds the programs of the image and their documents as the first stage of the Dockerfile does. The
// paths of this machine do not get into them.
func (o *options) buildOutputs(ctx context.Context, r *release, architecture string) ([]string, error) {
	dir := filepath.Join(o.out, "programs", architecture)
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}

	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // There is nothing secret in a release.
		return nil, err
	}

	// Settings of this machine do not count.
	env := []string{
		"CGO_ENABLED=0", "GOOS=linux", "GOARCH=" + architecture, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off", "GOFLAGS=-trimpath",
	}

	var outputs []string

	for _, program := range []string{"crossplane-terraform-provider", "crossplane-terraform-fetch"} {
		to := filepath.Join(dir, program)
		from := "./cmd/" + strings.TrimPrefix(program, "crossplane-terraform-")

		if _, err := run(ctx, r.source(), env, "go", "build", "-mod=readonly", "-buildvcs=true", "-ldflags=-s -w", "-o", to, from); err != nil {
			return nil, err
		}

		if err := r.checkVersion(to); err != nil {
			return nil, err
		}

		outputs = append(outputs, to)
	}

	clis, err := r.buildCLIs(ctx, env)
	if err != nil {
		return nil, err
	}

	outputs = append(outputs, clis...)
	documents := filepath.Join(dir, "documents")

	if _, err := run(ctx, r.source(), []string{"CYCLONEDX_GOMOD=" + o.cyclonedx}, "hack/documents.sh", append([]string{documents}, outputs...)...); err != nil {
		return nil, err
	}

	return append(outputs, documents), nil
}

// checkVersion checks that a program says which version it is.
func (r *release) checkVersion(program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}

	if info.Main.Version != r.version {
		return fmt.Errorf("%s says that it is version %q, want %q: delete other tags of commit %s", program, info.Main.Version, r.version, r.commit)
	}

	return nil
}

// buildCLIs returns the paths of Terraform and OpenTofu. hack/build.sh builds them once for each version. It runs in a
// directory of its own, because the tools of the tests have the paths of this machine in them.
func (r *release) buildCLIs(ctx context.Context, env []string) ([]string, error) {
	hack := filepath.Join(r.out, "tools", "hack")
	if err := os.RemoveAll(hack); err != nil { //nolint:gosec // The user chooses the directory.
		return nil, err
	}

	var paths []string

	for _, cli := range []struct{ name, program string }{{"terraform", "terraform"}, {"opentofu", "tofu"}} {
		if err := os.CopyFS(filepath.Join(hack, cli.name), os.DirFS(filepath.Join(r.source(), "hack", cli.name))); err != nil {
			return nil, err
		}

		script, err := os.ReadFile(filepath.Join(r.source(), "hack", "build.sh")) //nolint:gosec // It is in the clone.
		if err != nil {
			return nil, err
		}

		path := filepath.Join(hack, "build.sh")
		if err := os.WriteFile(path, script, 0o755); err != nil { //nolint:gosec // It is run.
			return nil, err
		}

		dir, err := run(ctx, hack, env, path, cli.name)
		if err != nil {
			return nil, err
		}

		paths = append(paths, filepath.Join(strings.TrimSpace(dir), cli.program))
	}

	return paths, nil
}
