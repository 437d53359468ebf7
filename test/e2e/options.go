// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/hack/image"
)

// options of the program.
type options struct {
	// smoke is only the shortest story.
	smoke bool

	// level says what runs pods.
	level string

	// keep keeps the node and Crossplane until a signal.
	keep bool

	// inside says that this process is the one in the sandbox.
	inside bool

	// check is only the check of this machine, which needs no tools.
	check bool

	// xpkg is the directory with the package of a release, as an OCI layout. It is installed instead of one that is
	// built here.
	xpkg string

	// root of the repository, and out the directory for all files of a run.
	root, out string

	tools tools
}

// tools are paths of programs, and of directories with programs.
type tools struct {
	controlPlane, node, containerd, cni, crossplane, crossplaneCLI string

	// providerTime is a mirror of a Terraform provider.
	providerTime string

	// provider, fetch, tofu and terraform are the programs in the image of the provider.
	provider, fetch, tofu, terraform string

	// olderTofu is an older OpenTofu, for a directory of CLIs.
	olderTofu string

	// documents is the directory that hack/documents.sh has written for these programs.
	documents string

	// pause is the program of the first container of a pod.
	pause string
}

func parseOptions(args []string) (*options, error) {
	o := &options{}

	f := flag.NewFlagSet("e2e", flag.ContinueOnError)
	f.BoolVar(&o.smoke, "smoke", false, "only install the provider, and create and delete one Workspace")
	f.StringVar(&o.level, "level", levelAuto, "`what` runs pods: a node; processes without containers, on a machine that allows no node; or auto")
	f.BoolVar(&o.keep, "keep", false, "keep the node and Crossplane until Ctrl-C, also after a failure")
	f.BoolVar(&o.inside, "inside", false, "this is the process in the sandbox")
	f.BoolVar(&o.check, "check", false, "only check whether this machine has the programs that it must have")
	f.StringVar(&o.xpkg, "xpkg", "", "install the package in this `directory` instead of building it: _output/release/v0.1.0/oci of make release")
	f.StringVar(&o.root, "root", ".", "the `directory` of the repository")
	f.StringVar(&o.out, "out", "_output/e2e", "a `directory` for logs and caches")

	for name, path := range o.tools.flags() {
		f.StringVar(path, name, "", "the `path` of this tool")
	}

	if err := f.Parse(args); err != nil {
		return nil, err
	}

	if levels := []string{levelAuto, levelNode, levelProcesses}; !slices.Contains(levels, o.level) {
		return nil, errors.Errorf("-level=%s is none of %s", o.level, strings.Join(levels, ", "))
	}

	if err := o.checkXpkg(); err != nil || o.check {
		return o, err
	}

	return o, o.resolve()
}

// checkXpkg checks that the package can be installed here.
func (o *options) checkXpkg() error {
	if o.xpkg == "" {
		return nil
	}

	index, err := image.OpenLayout(o.xpkg)
	if err != nil {
		return errors.Wrapf(err, "-xpkg=%s is no package of a release: run make release and use its directory oci", o.xpkg)
	}

	_, err = image.ForArchitecture(index, runtime.GOARCH)

	return errors.Wrapf(err, "-xpkg=%s", o.xpkg)
}

// flags returns the paths by the names of their flags.
func (t *tools) flags() map[string]*string {
	return map[string]*string{
		"controlplane": &t.controlPlane, "node": &t.node, "containerd": &t.containerd, "cni": &t.cni,
		"crossplane": &t.crossplane, "crossplane-cli": &t.crossplaneCLI, "provider-time": &t.providerTime,
		"provider": &t.provider, "fetch": &t.fetch, "tofu": &t.tofu, "terraform": &t.terraform, "older-tofu": &t.olderTofu, "documents": &t.documents, "pause": &t.pause,
	}
}

// resolve makes all paths absolute, without symbolic links: programs run in other directories.
func (o *options) resolve() error {
	paths := []*string{&o.root}

	for name, path := range o.tools.flags() {
		if *path == "" {
			return errors.Errorf("-%s is not set: run make e2e", name)
		}

		paths = append(paths, path)
	}

	if err := os.MkdirAll(o.out, 0o755); err != nil { //nolint:gosec // Containers read from it as other users.
		return err
	}

	if o.xpkg != "" {
		paths = append(paths, &o.xpkg)
	}

	for _, path := range append(paths, &o.out) {
		abs, err := filepath.Abs(*path)
		if err != nil {
			return err
		}

		if *path, err = filepath.EvalSymlinks(abs); err != nil {
			return err
		}
	}

	return nil
}

// logs is the directory for the output of all programs.
func (o *options) logs() string { return filepath.Join(o.out, "log") }

// runtime is the path of the image of the provider.
func (o *options) runtime() string { return filepath.Join(o.out, "cache", "runtime.tar") }
