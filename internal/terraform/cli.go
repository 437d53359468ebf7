// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package terraform runs the terraform or tofu program.
//
// A CLI is a program that was found once and is then shared. Each command is a method, and runs one
// process. Its output is returned as values: a Plan, the outputs, the state, or an *Error with the
// diagnostics of the program.
//
// A run inherits neither the environment nor the directory of this process. Both, and the name of
// the Terraform workspace, come from the supplied Workspace.
package terraform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/go-version"
)

// A Product is one of the programs that a CLI can be.
type Product string

// The products, in the order of Find.
const (
	Terraform Product = "terraform"
	OpenTofu  Product = "opentofu"
)

// Names that the CLI chooses.
const (
	// DataDir is the directory to which init writes everything but LockFile, in the directory that it runs in.
	DataDir = ".terraform"

	// LockFile is the dependency lock file: the versions and checksums of providers.
	LockFile = ".terraform.lock.hcl"
)

const defaultGrace = 25 * time.Second

// versionTimeout is reached only by a program that is neither terraform nor tofu.
const versionTimeout = time.Minute

// versionLine is the first line of `version`. The -json form of the answer does not name the product.
var versionLine = regexp.MustCompile(`(?m)^(Terraform|OpenTofu) v(\S+)`)

// A CLI is a terraform or tofu program. It is safe for concurrent use, but not in one directory.
type CLI struct {
	// Path of the program, absolute.
	Path    string
	Product Product
	// Version without a leading v.
	Version string

	options Options
}

// Options of a CLI. The zero value is ready for use.
type Options struct {
	// Grace is the time in which an interrupted run may save its state and release its lock before it is
	// killed, defaultGrace if 0.
	Grace time.Duration

	// Stop interrupts every run, and refuses new ones, once it is done. It may be nil.
	Stop context.Context //nolint:containedctx // See above.

	// Begin, if not nil, is called before every run, with whether it changes infrastructure. The run is
	// interrupted when the returned context ends. The function is called when no process of the run is left.
	// After an error the run does not begin.
	Begin func(ctx context.Context, changes bool) (context.Context, func(), error)

	// Observe, if not nil, is called after every run, with the subcommand, the duration and the error.
	// A plan that found changes is not an error.
	Observe func(op string, took time.Duration, err error)
}

// Find returns the CLI with the supplied name: a program on PATH or an absolute path. Without a name
// it is terraform or else tofu. A program that is neither is an error.
func Find(ctx context.Context, name string, o Options) (*CLI, error) {
	path, err := locate(name)
	if err != nil {
		return nil, err
	}

	o.Grace = cmp.Or(o.Grace, defaultGrace)
	o.Stop = cmp.Or(o.Stop, context.Background())

	if o.Begin == nil {
		o.Begin = func(ctx context.Context, _ bool) (context.Context, func(), error) { return ctx, func() {}, nil }
	}

	c := &CLI{Path: path, options: o}

	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()

	answer, err := c.run(ctx, Workspace{Dir: filepath.Dir(path), Env: Environ(nil)}, command{op: "version", args: []string{"version"}})
	if err != nil {
		return nil, fmt.Errorf("cannot ask %q for its version: %w", path, err)
	}

	m := versionLine.FindSubmatch(answer)
	if m == nil {
		return nil, fmt.Errorf("%q is neither terraform nor tofu", path)
	}

	c.Product, c.Version = Product(strings.ToLower(string(m[1]))), string(m[2])

	return c, nil
}

// Since reports whether the CLI is the supplied product in this version or a later one. A pre-release counts
// as its release, and a version that cannot be compared as an earlier one.
func (c *CLI) Since(p Product, release string) bool {
	have, err := version.NewVersion(c.Version)

	return err == nil && c.Product == p && have.Core().GreaterThanOrEqual(version.Must(version.NewVersion(release)))
}

// locate returns the absolute path of the program with the supplied name.
func locate(name string) (string, error) {
	if name == "" {
		for _, candidate := range []string{"terraform", "tofu"} {
			if path, err := exec.LookPath(candidate); err == nil {
				return filepath.Abs(path)
			}
		}

		return "", errors.New(`neither "terraform" nor "tofu" is on PATH: put one of them there, or give the name or the absolute path of one`)
	}

	if !filepath.IsAbs(name) && name != filepath.Base(name) {
		return "", fmt.Errorf("%q is neither a name on PATH nor an absolute path", name)
	}

	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("cannot find %q: must be the name of a program on PATH or the absolute path of one, terraform or tofu: %w", name, err)
	}

	return filepath.Abs(path)
}
