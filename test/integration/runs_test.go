// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A runLog records the runs of a CLI. It is a script in place of the CLI that writes its
// arguments down and then becomes the CLI with exec.
type runLog struct {
	// cli is the path of the script.
	cli string

	log string
}

func newRunLog(dir, cli string) (*runLog, error) {
	r := &runLog{cli: filepath.Join(dir, filepath.Base(cli)), log: filepath.Join(dir, "runs")}

	script := fmt.Sprintf(`#!/bin/sh
case $1 in
state | workspace) echo "$PWD: $1 $2" ;;
*) echo "$PWD: $1" ;;
esac >>'%s'
exec '%s' "$@"
`, r.log, cli)

	return r, errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(r.cli, []byte(script), 0o700))
}

// of returns the runs in the workdir of the Workspace with the supplied UID, such
// as "plan" and "state pull", oldest first.
func (r *runLog) of(uid string) []string {
	runs := []string{}

	for line := range strings.Lines(r.dump()) {
		dir, run, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if ok && strings.Contains(dir, uid) {
			runs = append(runs, run)
		}
	}

	return runs
}

// dump returns all runs, one per line. A missing log has no runs.
func (r *runLog) dump() string {
	data, err := os.ReadFile(r.log)
	if err != nil && !os.IsNotExist(err) {
		return err.Error()
	}

	return string(data)
}
