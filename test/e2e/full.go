// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/v1/tarball"

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

	return story.New(ctx, story.Cluster{
		Client:     e.Client,
		Config:     e.Config,
		Listen:     e.listen,
		Publish:    e.publishDir,
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
func (e *env) publishDir(ctx context.Context, version, dir string) (string, error) {
	runtime, err := tarball.ImageFromPath(e.options.runtime(), nil)
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
