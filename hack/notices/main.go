// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Notices copies the license files of all Go modules in binaries, and of the Go standard
// library, to a directory. It takes the modules from the list that the Go compiler writes
// to each binary, so a module that is only in go.mod is left out. It takes the files from the
// module cache.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

func main() {
	dir := flag.String("dir", "", "the directory for the files; each module gets a directory MODULE@VERSION there")

	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	if err := run(ctx, *dir, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1) //nolint:gocritic // The process ends.
	}
}

func run(ctx context.Context, dir string, binaries []string) error {
	if dir == "" || len(binaries) == 0 {
		return errors.New("want -dir and the path of at least one binary")
	}

	modules, err := modulesOf(binaries...)
	if err != nil {
		return err
	}

	from, err := newOrigin(ctx)
	if err != nil {
		return err
	}

	return from.copy(modules, dir)
}

// newOrigin returns the directories of the go command on PATH.
func newOrigin(ctx context.Context) (origin, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOMODCACHE", "GOROOT", "GOVERSION")
	cmd.Stderr = os.Stderr

	out, err := cmd.Output()
	if err != nil {
		return origin{}, fmt.Errorf("go env: %w", err)
	}

	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 3 {
		return origin{}, fmt.Errorf("go env: want three lines, got %q", out)
	}

	return origin{cache: lines[0], goroot: lines[1], goversion: lines[2]}, nil
}
