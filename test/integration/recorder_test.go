// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A recorder records the inputs of runs of a CLI: their arguments, environment and files.
// Like a runLog it is a script in place of the CLI. It records more and takes longer, so
// use it only in tests of these inputs.
type recorder struct {
	// cli is the path of the script.
	cli string

	dir string
}

func newRecorder(dir, cli string) (*recorder, error) {
	r := &recorder{cli: filepath.Join(dir, filepath.Base(cli)), dir: filepath.Join(dir, "runs")}

	// A record gets its final name when it is complete. Names are in the order of
	// time. A run that cannot be recorded fails, so that the test does.
	script := fmt.Sprintf(`#!/bin/sh
set -eu
record=$(mktemp -d '%s'/"$(date +%%s%%N).XXXXXX")
pwd >"$record/dir"
printf '%%s\n' "$@" >"$record/args"
env >"$record/env"
find . -name .terraform -prune -o -type f -exec stat -c '%%a %%n' {} + >"$record/files"
records="../.records/$(basename "$PWD")"
[ ! -d "$records" ] || (cd "$records" && find . -type f -exec stat -c '%%a %%n' {} + >>"$record/files")
mv "$record" "$record.complete"
exec '%s' "$@"
`, r.dir, cli)

	return r, errors.Join(os.MkdirAll(r.dir, 0o700), os.WriteFile(r.cli, []byte(script), 0o700))
}

// A recordedRun has the inputs of one run of the CLI.
type recordedRun struct {
	// args begin with the command.
	args []string

	env map[string]string

	// modes of the files in the directory of the run, octal, by their names.
	modes map[string]string
}

// of returns the runs in the workdir of the Workspace with the supplied UID, oldest
// first.
func (r *recorder) of(t *testing.T, uid string) []recordedRun {
	t.Helper()

	records, err := filepath.Glob(filepath.Join(r.dir, "*.complete"))
	if err != nil {
		t.Fatalf("cannot list records: %v", err)
	}

	var runs []recordedRun

	for _, record := range records {
		lines := func(name string) []string {
			data, err := os.ReadFile(filepath.Join(record, name))
			if err != nil {
				t.Fatalf("cannot read record: %v", err)
			}

			return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		}

		if !strings.Contains(lines("dir")[0], uid) {
			continue
		}

		run := recordedRun{args: lines("args"), env: map[string]string{}, modes: map[string]string{}}

		for _, line := range lines("env") {
			if k, v, ok := strings.Cut(line, "="); ok {
				run.env[k] = v
			}
		}

		for _, line := range lines("files") {
			if mode, name, ok := strings.Cut(line, " ./"); ok {
				run.modes[name] = mode
			}
		}

		runs = append(runs, run)
	}

	return runs
}

// expect fails the test unless there were runs of each of the supplied commands
// for the Workspace with the supplied UID. It returns all runs.
func (r *recorder) expect(t *testing.T, uid string, commands ...string) []recordedRun {
	t.Helper()

	runs := r.of(t, uid)

	for _, command := range commands {
		last(t, runs, command)
	}

	return runs
}

// last returns the latest of the supplied runs of a command.
func last(t *testing.T, runs []recordedRun, command string) recordedRun {
	t.Helper()

	for _, r := range slices.Backward(runs) {
		if r.args[0] == command {
			return r
		}
	}

	t.Fatalf("want a run of %s among %d runs", command, len(runs))

	return recordedRun{}
}
