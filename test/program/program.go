// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package program finds and builds the programs that tests run.
package program

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Find returns the absolute path that the named environment variable holds. The
// supplied make target is what sets it.
func Find(env, target string) (string, error) {
	path := os.Getenv(env)
	if path == "" {
		return "", errors.Errorf("%s is not set: run `make %s`, which builds what this test needs", env, target)
	}

	if _, err := os.Stat(path); err != nil { //nolint:gosec // Whoever runs the test has chosen it.
		return "", errors.Wrapf(err, "%s does not name what is there: run `make %s`, which builds what this test needs", env, target)
	}

	return filepath.Abs(path)
}

// Build builds a package of the module in the directory root.
func Build(root, out, pkg string, flags ...string) error {
	build := exec.Command("go", append(append([]string{"build"}, flags...), "-o", out, pkg)...) //nolint:gosec,noctx // Tests choose what they build.
	build.Dir = root

	text, err := build.CombinedOutput()

	return errors.Wrapf(err, "cannot build %q: %s", pkg, text)
}

// FirstLine returns the first line that a program prints. The PATH is the whole
// environment of the program, so that it reads no configuration of this machine.
func FirstLine(ctx context.Context, path string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // The caller chooses the program.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "CHECKPOINT_DISABLE=1"}
	out, err := cmd.CombinedOutput()
	line, _, _ := strings.Cut(string(out), "\n")

	return line, errors.Wrapf(err, "cannot run %q: %s", path, out)
}

// DependOn looks at the source of the module in the directory root. A test that runs what
// was built from it has to call it: go test repeats the result of an earlier run if
// nothing has changed that the test itself has looked at. What the compiler looks at does
// not count, nor does what TestMain does before it runs the tests.
func DependOn(root string) error {
	for _, dir := range []string{"apis", "cmd", "internal", "test", "go.mod"} {
		if err := filepath.WalkDir(filepath.Join(root, dir), func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
			return errors.Wrap(err, "cannot look at the source")
		}
	}

	return nil
}
