// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/crossplane-contrib/provider-terraform/test/program"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// Environment variables that say where the programs are that this test needs.
const (
	envAssets = "KUBEBUILDER_ASSETS"
	envTofu   = "TOFU_BIN"
)

// A suite has the settings from the command line and the environment.
type suite struct {
	duration   time.Duration
	patience   time.Duration
	seed       uint64
	workspaces int

	// faults are the classes of faults.
	faults string

	// root of the repository.
	root string

	// assets is the directory of etcd and kube-apiserver, and tofu the path of the CLI.
	assets, tofu string

	// provider and recorder are the paths of programs that were built for this test.
	provider, recorder string
}

// shared is set once, before any test runs: TestMain has no other way to hand
// something to a test.
var shared suite

func TestMain(m *testing.M) {
	flag.DurationVar(&shared.duration, "duration", 25*time.Second, "for how long to inject faults")
	// A Workspace that kept failing is tried every minute.
	flag.DurationVar(&shared.patience, "patience", wait.Patience+3*time.Minute, "for how long to wait afterwards until everything is as it should be")
	// The run that is part of every test run has the same mix each time.
	flag.Uint64Var(&shared.seed, "seed", 11, "seed of the faults; 0 for a random one")
	// The other classes take minutes to find anything.
	flag.StringVar(&shared.faults, "faults", "label,spec,process,server", "classes of faults to inject, separated by commas, or all: "+strings.Join(sorted(classes()), ","))
	flag.IntVar(&shared.workspaces, "workspaces", 7, "about how many Workspaces there are")
	flag.Parse()
	ctrllog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// prepare finds and builds all programs. Only TestChaos needs them.
func (s *suite) prepare(dir string) error {
	// Anything that can be typed again.
	for s.seed == 0 {
		s.seed = uint64(rand.Uint32())
	}

	var err error
	if s.assets, err = program.Find(envAssets, "chaos"); err != nil {
		return err
	}

	if s.tofu, err = program.Find(envTofu, "chaos"); err != nil {
		return err
	}

	if s.root, err = filepath.Abs(filepath.Join("..", "..")); err != nil {
		return err
	}

	if err := program.DependOn(s.root); err != nil {
		return err
	}

	s.provider, s.recorder = filepath.Join(dir, "provider"), filepath.Join(dir, "recorder")

	// Without the race detector: it would slow down everything that is to race here,
	// and other tests have it.
	if err := program.BuildProvider(context.Background(), s.root, s.provider); err != nil {
		return err
	}

	return program.Build(s.root, s.recorder, "./test/chaos/recorder")
}
