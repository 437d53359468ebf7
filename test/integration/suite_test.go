// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package integration tests the provider from the outside: real processes of it, built
// with the race detector, against a real API server, running a real CLI.
//
// Each test has its own names and namespaces. A test that needs no options of an instance uses a
// common one. The others have their own instances, directories and shards. Tests of sharded
// instances share one control plane and run in parallel. An unsharded instance serves all
// Workspaces, so its tests have other control planes and run on them one after the other.
package integration

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// Environment variables that say where the programs are that these tests need.
const (
	envAssets = "KUBEBUILDER_ASSETS"
	envTofu   = "TOFU_BIN"
	envMirror = "PROVIDER_MIRROR"
)

// parallelTests is how many tests run at the same time unless -parallel says
// otherwise. It is more than most machines have cores: a test mostly waits.
const parallelTests = "8"

// A suite is the state that all tests share.
type suite struct {
	// source of the program under test: the root of the repository.
	source string

	// provider is the path of the program under test.
	provider string

	// clis are the paths of the programs that the provider runs, by their name.
	clis map[string]string

	// mirror is a directory of provider plugins, as the CLI's filesystem_mirror
	// wants it.
	mirror string

	// sharded is the control plane of sharded instances. Tests of the others have unsharded and
	// succession, and run on each of them one after the other.
	sharded, unsharded, succession *cluster

	// common are the instances that tests share, by name.
	common map[string]*commonInstance
}

// tofu is the default CLI of an instance.
func (s *suite) tofu() string { return s.clis["tofu"] }

func (s *suite) terraform() string { return s.clis["terraform"] }

// shared is set once, before any test runs: TestMain has no other way to hand
// something to a test.
var shared *suite

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctrllog.SetLogger(logr.Discard())

	dir, err := os.MkdirTemp("", "provider-terraform-")
	if err != nil {
		return complain(err)
	}
	defer os.RemoveAll(dir)

	s, err := newSuite(dir)
	if err != nil {
		return complain(err)
	}
	defer s.sharded.stop()
	defer s.unsharded.stop()
	defer s.succession.stop()

	shared = s

	if !isSet("test.parallel") {
		if err := flag.Set("test.parallel", parallelTests); err != nil {
			return complain(err)
		}
	}

	code := m.Run()

	if err := s.endCommon(); err != nil {
		return complain(err)
	}

	return code
}

func newSuite(dir string) (*suite, error) {
	tofu, err := program.Find(envTofu, "test")
	if err != nil {
		return nil, err
	}

	terraform, err := exec.LookPath("terraform")
	if err != nil {
		return nil, errors.Wrap(err, "run `make test`, which builds the programs of this test")
	}

	assets, err := program.Find(envAssets, "test")
	if err != nil {
		return nil, err
	}

	mirror, err := program.Find(envMirror, "test")
	if err != nil {
		return nil, err
	}

	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}

	ours := filepath.Join(root, "package", "crds")
	flux := filepath.Join(root, "internal", "module", "testdata", "flux")

	s := &suite{
		source:     root,
		provider:   filepath.Join(dir, "provider"),
		clis:       map[string]string{"tofu": tofu, "terraform": terraform},
		mirror:     mirror,
		sharded:    newCluster(assets, filepath.Join(dir, "sharded"), ours, flux),
		unsharded:  newCluster(assets, filepath.Join(dir, "unsharded"), ours),
		succession: newCluster(assets, filepath.Join(dir, "succession")),
	}
	s.unsharded.gates = "ShardedListAndWatch=true"
	// The plugin for owner references reads the kinds only every 30 seconds, and refuses owners
	// of a new kind before that. TestRights has the plugin.
	s.succession.plugins = nil

	s.common = newCommonInstances(filepath.Join(dir, "common"), s)

	return s, program.BuildProvider(context.Background(), root, s.provider, "-race")
}

func isSet(name string) bool {
	set := false

	flag.Visit(func(f *flag.Flag) { set = set || f.Name == name })

	return set
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "integration tests:", err)

	return 1
}
