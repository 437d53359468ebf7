// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package sandbox runs a program of which nothing remains: in namespaces of its own, with
// directories and kernel settings of its own. Whatever the program has started ends with it.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// patience is how long the program may take to end after SIGTERM.
const patience = 30 * time.Second

// PIDFile is the name of the file in the directory of a sandbox that has the PID of its first process.
// Programs outside can enter its namespaces.
const PIDFile = "pid"

// Options of a sandbox.
type Options struct {
	// Dir has the files of /var/lib in the sandbox. It is removed in the end.
	Dir string

	// Logs is /var/log in the sandbox.
	Logs string

	// Cgroup is the name of a cgroup for the program, in each hierarchy of this machine.
	Cgroup string
}

// Run runs this program again with the supplied arguments in a sandbox, and waits for its end. The
// program has to call Enter before anything else. Run returns an error if the program fails, or
// if something of it remains on this machine.
func Run(ctx context.Context, o Options, args ...string) (err error) {
	if err := o.check(); err != nil {
		return err
	}

	groups, err := hierarchies(o.Cgroup)
	if err != nil {
		return err
	}

	// An earlier program was killed before it could do that.
	if err := o.remove(ctx, groups); err != nil {
		return fmt.Errorf("cannot remove the files of an earlier run: %w", err)
	}

	before, err := look(o.Dir, groups)
	if err != nil {
		return err
	}

	var inside namespaces

	// Also after a panic.
	defer func() {
		ctx := context.WithoutCancel(ctx)
		err = errors.Join(err, inside.gone(ctx), o.remove(ctx, groups), before.restore(groups), before.compare(o.Dir, groups))
	}()

	if err := o.create(groups); err != nil {
		return err
	}

	return o.run(ctx, &inside, args)
}

// Check returns an error if this machine does not allow a sandbox with a cgroup of the supplied name.
func Check(cgroup string) error {
	groups, err := hierarchies(cgroup)
	if err != nil {
		return err
	}

	for _, g := range groups {
		if err := g.writable(); err != nil {
			return err
		}
	}

	cmd := exec.Command("true") //nolint:noctx // It ends at once.
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: cloneFlags}

	if err := cmd.Run(); err != nil {
		return fmt.Errorf("cannot create namespaces: %w", err)
	}

	return nil
}

// cloneFlags are the namespaces of a sandbox.
const cloneFlags = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC

// check returns an error if the sandbox would hide its own files.
func (o Options) check() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}

	for _, path := range []string{program, o.Dir, o.Logs} {
		for _, hidden := range []string{"/run", library, logs} {
			if strings.HasPrefix(path, hidden+"/") {
				return fmt.Errorf("%s is below %s, which is another directory in the sandbox: use a copy of the repository elsewhere", path, hidden)
			}
		}
	}

	return nil
}

func (o Options) create(groups []hierarchy) error {
	for _, dir := range []string{o.Dir, o.Logs} {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // Containers read from it as other users.
			return err
		}
	}

	for _, g := range groups {
		if err := g.create(); err != nil {
			return err
		}
	}

	return nil
}

// remove removes what the sandbox needs outside.
func (o Options) remove(ctx context.Context, groups []hierarchy) error {
	errs := []error{os.RemoveAll(o.Dir)}
	for _, g := range groups {
		errs = append(errs, g.remove(ctx))
	}

	return errors.Join(errs...)
}

// run starts the first process of the sandbox, and waits for its end.
func (o Options) run(ctx context.Context, inside *namespaces, args []string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}

	// The kernel kills the process when this thread ends.
	runtime.LockOSThread()

	defer runtime.UnlockOSThread()

	cmd := exec.CommandContext(ctx, program, append([]string{first, o.Dir, o.Logs}, args...)...) //nolint:gosec // It is this program.
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = environment(o.Dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: cloneFlags,
		Pdeathsig:  syscall.SIGKILL,
		// Ctrl-C is for this process, which then ends the other one.
		Setsid: true,
	}

	if ctx.Err() != nil {
		return errors.New("interrupted")
	}

	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot create namespaces: %w", err)
	}

	errs := []error{
		inside.of(cmd.Process.Pid),
		os.WriteFile(filepath.Join(o.Dir, PIDFile), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600),
	}

	// A program that succeeds after a signal has not failed.
	if err := cmd.Wait(); !cmd.ProcessState.Success() {
		errs = append(errs, err)
	}

	return errors.Join(errs...)
}

// environment returns the environment of the program. It has no settings of a proxy: all servers
// of the sandbox are in it.
func environment(dir string) []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + filepath.Join(dir, "home"),
		"TMPDIR=" + filepath.Join(dir, "tmp"),
	}
}

// untilGone waits a short time until check returns nil: the kernel ends processes after the first
// one of their namespace.
func untilGone(ctx context.Context, check func() error) error {
	return wait.Until(ctx, wait.Soon, check)
}
