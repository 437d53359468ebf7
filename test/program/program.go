// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package program finds and builds the programs that tests run.
package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
)

// Find returns the absolute path that the named environment variable holds. The supplied
// make target sets it.
func Find(env, target string) (string, error) {
	path := os.Getenv(env)
	if path == "" {
		return "", fmt.Errorf("%s is not set: run `make %s`, which builds the programs of this test", env, target)
	}

	if _, err := os.Stat(path); err != nil { //nolint:gosec // The user who runs the test has set the path.
		return "", fmt.Errorf("%s names a missing file: run `make %s`, which builds the programs of this test: %w", env, target, err)
	}

	return filepath.Abs(path)
}

// Need returns the absolute path that the named environment variable holds, which make test
// sets. The test is skipped with -short: make unit tests without any such program.
func Need(tb testing.TB, env string) string {
	tb.Helper()

	if testing.Short() {
		tb.Skipf("needs %s: run make test", env)
	}

	path, err := Find(env, "test")
	if err != nil {
		tb.Fatal(err)
	}

	return path
}

// CLIs returns the paths of the CLIs by their names: tofu, and terraform if it is on PATH. See
// Need.
func CLIs(tb testing.TB) map[string]string {
	tb.Helper()

	found := map[string]string{"tofu": Need(tb, "TOFU_BIN")}
	if path, err := exec.LookPath("terraform"); err == nil {
		found["terraform"] = path
	}

	return found
}

// Build builds a package of the module in the directory root.
func Build(root, out, pkg string, flags ...string) error {
	return BuildContext(context.Background(), root, out, pkg, flags...)
}

// BuildContext is Build, which the end of the context interrupts.
func BuildContext(ctx context.Context, root, out, pkg string, flags ...string) error {
	build := exec.CommandContext(ctx, "go", append(append([]string{"build"}, flags...), "-o", out, pkg)...) //nolint:gosec // The caller chooses the package.
	build.Dir = root
	// The go command removes its temporary files after SIGINT.
	build.Cancel = func() error { return build.Process.Signal(os.Interrupt) }
	build.WaitDelay = 20 * time.Second

	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build %q: %s: %w", pkg, text, err)
	}

	return nil
}

// BuildProvider builds the program of the provider, and beside it the one that downloads modules, from
// the module in the directory root.
func BuildProvider(ctx context.Context, root, out string, flags ...string) error {
	beside := filepath.Join(filepath.Dir(out), fetch.ProgramName)

	return errors.Join(
		BuildContext(ctx, root, out, "./cmd/provider", flags...),
		BuildContext(ctx, root, beside, "./cmd/fetch", flags...),
	)
}

// FirstLine returns the first line that a program prints. The PATH is the whole
// environment of the program, so that it reads no configuration of this machine.
func FirstLine(ctx context.Context, path string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // The caller chooses the program.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "CHECKPOINT_DISABLE=1"}

	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cannot run %q: %s: %w", path, out, err)
	}

	line, _, _ := strings.Cut(string(out), "\n")

	return line, nil
}

// DependOn reads the names of all source files of the module in the directory root. Each
// test that runs a program built from them has to call it: go test caches the result of a
// test unless a file has changed that the test itself has read. Files that the compiler or
// TestMain reads do not count.
func DependOn(root string) error {
	for _, dir := range []string{"apis", "cmd", "internal", "test", "go.mod"} {
		if err := filepath.WalkDir(filepath.Join(root, dir), func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
			return fmt.Errorf("cannot read the source: %w", err)
		}
	}

	return nil
}

// WriteScript writes an executable shell script. A process that was forked at the same time
// would have the file open for writing, and the kernel executes no file that is.
func WriteScript(path, text string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()

	return os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700) //nolint:gosec // It is executed.
}
