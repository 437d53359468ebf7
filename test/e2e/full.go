// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/hack/image"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/test/e2e/story"
)

// full is the life of an installation. Its steps are in the package story.
func full() []step {
	var told *story.Story

	steps := []step{
		{"install Crossplane with its Helm chart", installCrossplane},
		{"serve the infrastructure of the Workspaces", func(ctx context.Context, e *env) (err error) {
			told, err = e.story(ctx)

			return err
		}},
	}

	for _, s := range story.Steps() {
		steps = append(steps, step{s.Name, func(ctx context.Context, _ *env) error { return s.Run(ctx, told) }})
	}

	return append(steps, step{"uninstall Crossplane", func(ctx context.Context, e *env) error {
		told.Close()

		return uninstallCrossplane(ctx, e)
	}})
}

// story prepares the story in this cluster.
func (e *env) story(ctx context.Context) (*story.Story, error) {
	dir, err := e.scratch()
	if err != nil {
		return nil, err
	}

	clis := [2]commonv1beta1.CLI{}

	for i, path := range []string{e.options.tools.olderTofu, e.options.tools.tofu} {
		cli, err := terraform.Find(ctx, path, terraform.Options{})
		if err != nil {
			return nil, err
		}

		clis[i] = commonv1beta1.CLI{Product: commonv1beta1.CLIProductOpenTofu, Version: cli.Version}
	}

	return story.New(ctx, story.Cluster{
		Client: e.Client,
		Config: e.Config,
		Listen: e.listen,
		Publish: func(ctx context.Context, version, dir string) (string, error) {
			return e.publishDir(ctx, version, dir, nil)
		},
		PublishCLIs: func(ctx context.Context, version, dir string) (string, error) {
			return e.publishDir(ctx, version, dir, e.addCLIs)
		},
		CLIs:       clis,
		Kill:       e.Kill,
		Crossplane: e.cli.Run,
		Log:        e.Log,
		Root:       e.root,
		Dir:        dir,
	})
}

// listen returns a listener at the address of the node, which pods can reach.
func (e *env) listen() (net.Listener, error) {
	host, _, err := net.SplitHostPort(e.Registry)
	if err != nil {
		return nil, err
	}

	return net.Listen("tcp", net.JoinHostPort(host, "0")) //nolint:noctx // It does not wait for anything.
}

// publishDir publishes the package in a directory like publish, and returns its reference.
func (e *env) publishDir(ctx context.Context, version, dir string, change func(v1.Image) (v1.Image, error)) (string, error) {
	runtime, err := tarball.ImageFromPath(e.options.runtime(), nil)
	if err == nil && change != nil {
		runtime, err = change(runtime)
	}

	if err != nil {
		return "", err
	}

	scratch, err := e.scratch()
	if err != nil {
		return "", err
	}

	cli, ref := e.cli, e.Registry+"/"+repository+":"+version
	cli.Dir = filepath.Dir(dir)

	return ref, cli.Publish(ctx, runtime, ref, scratch)
}

// addCLIs makes the image of docs/configuration.md, with three programs for --cli-dir.
func (e *env) addCLIs(runtime v1.Image) (v1.Image, error) {
	t := e.options.tools
	layer := filepath.Join(filepath.Dir(e.options.runtime()), "clis.tar.gz")

	return image.AddPrograms(runtime, layer, "cli", map[string]string{"terraform": t.terraform, "tofu": t.tofu, "tofu-older": t.olderTofu}, "TERRAFORM_CLI_DIR=/cli")
}
