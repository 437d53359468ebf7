// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Command recorder records the start of a run of the CLI, and becomes the CLI:
//
//	recorder DIRECTORY INSTANCE CLI ARGUMENT...
//
// An instance of the chaos test runs a script that calls it in place of the CLI. It
// becomes the CLI with exec instead of starting it, so that signals, the parent process
// and the leftovers of a SIGKILL are the same as without it. The one exception is a CLI
// that reacts slowly to an interrupt: see supervise.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/test/chaos/record"
)

// sentinel is the name of the file that is in every workdir in which there was a run.
const sentinel = ".chaos"

func main() {
	err := run(os.Args[1:])
	if status := exitError(0); errors.As(err, &status) {
		os.Exit(int(status))
	}

	if err != nil {
		fmt.Fprintln(os.Stderr, "recorder:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 4 {
		return errors.New("need a directory, an instance, a CLI and its arguments")
	}

	dir, instance, cli, args := args[0], args[1], args[2], args[3:]

	wd, err := os.Getwd()
	if err != nil {
		return err
	}

	// A run in another directory, such as the query for the version, belongs to no
	// Workspace.
	uid := filepath.Base(wd)
	if uuid.Validate(uid) != nil {
		return unix.Exec(cli, append([]string{cli}, args...), os.Environ())
	}

	if err := start(dir, instance, wd, args); err != nil {
		return err
	}

	// The module writes these values into the ledger with each action.
	env := append(os.Environ(), "CHAOS_RUN="+strconv.Itoa(os.Getpid()), "CHAOS_UID="+uid)

	if delay, err := time.ParseDuration(os.Getenv(sluggish)); err == nil && changes(args) {
		return supervise(delay, filepath.Join(dir, "runs"), uid, cli, args, env)
	}

	return unix.Exec(cli, append([]string{cli}, args...), env)
}

// changes says whether the command changes anything: only such are worth being slow.
func changes(args []string) bool { return args[0] == "apply" || args[0] == "destroy" }

func start(dir, instance, wd string, args []string) error {
	e := record.Event{
		Kind:     record.Start,
		UID:      filepath.Base(wd),
		PID:      os.Getpid(),
		Parent:   os.Getppid(),
		Instance: instance,
		Command:  command(args),
		Root:     filepath.Dir(wd),
	}

	var err error
	if e.State, err = record.State(wd, os.Environ()); err != nil {
		return err
	}

	if e.Beside, err = record.Hold(filepath.Join(dir, "locks"), e.UID); err != nil {
		return err
	}

	if e.Fresh, err = touch(filepath.Join(wd, sentinel)); err != nil {
		return err
	}

	e.Time = time.Now().UnixNano()

	return record.Append(filepath.Join(dir, "runs"), e)
}

// touch makes the named file unless it exists, and says whether it did.
func touch(name string) (bool, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // The name is ours, in the workdir.
	if os.IsExist(err) {
		return false, nil
	}

	if err != nil {
		return false, err
	}

	return true, f.Close()
}

// command returns the subcommand of the arguments, of one or two words.
func command(args []string) string {
	if len(args) > 1 && !strings.HasPrefix(args[1], "-") && (args[0] == "state" || args[0] == "workspace") {
		return args[0] + " " + args[1]
	}

	return args[0]
}
