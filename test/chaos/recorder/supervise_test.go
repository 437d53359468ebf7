// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/chaos/record"
)

// TestSluggish shows that a sluggish CLI gets an interrupt late, that the interrupt is
// recorded, and that the exit status and the environment of the module are unchanged.
func TestSluggish(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	dir := filepath.Join(b.root, uid)

	// It stands for the CLI: it ends with another status when it is interrupted.
	tofu := filepath.Join(t.TempDir(), "tofu")
	if err := os.WriteFile(tofu, []byte("#!/bin/sh\ntrap 'echo interrupted $CHAOS_UID; exit 7' INT\necho started\nwhile true; do sleep 0.01; done\n"), 0o700); err != nil {
		t.Fatal(err)
	}

	cmd := exec.Command(b.program, b.dir, "a#1", tofu, "apply")
	cmd.Dir = dir

	cmd.Env = append(os.Environ(), sluggish+"=300ms")
	// As the provider starts it: in a group of its own.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}

	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || lines.Text() != "started" {
		t.Fatalf("the CLI did not start: %q", lines.Text())
	}

	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}

	if !lines.Scan() || lines.Text() != "interrupted "+uid {
		t.Errorf("the CLI was not interrupted: %q", lines.Text())
	}

	// The exit status is that of the CLI.
	_ = cmd.Wait()

	if status := cmd.ProcessState.ExitCode(); status != 7 {
		t.Errorf("status %d, want that of the CLI", status)
	}

	var kinds []string

	events := b.events(t)
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}

	if diff := cmp.Diff([]string{record.Start, record.Interrupt}, kinds); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	if events[1].PID != events[0].PID || b.held(t, events[0].PID) {
		t.Errorf("the interrupt is of process %d, the run is %d, and held: %t", events[1].PID, events[0].PID, b.held(t, events[0].PID))
	}
}

// TestSluggishKilled shows that a sluggish CLI dies when its process group is killed.
func TestSluggishKilled(t *testing.T) {
	t.Parallel()

	b := newBench(t)

	tofu := filepath.Join(t.TempDir(), "tofu")
	if err := os.WriteFile(tofu, []byte("#!/bin/sh\necho started\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}

	cmd := exec.Command(b.program, b.dir, "a#1", tofu, "destroy")
	cmd.Dir = filepath.Join(b.root, uid)

	cmd.Env = append(os.Environ(), sluggish+"=1h")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}

	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		t.Fatal("the CLI did not start")
	}

	// The process alone: the CLI notices.
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	// The pipe is closed when the last process has ended.
	if lines.Scan() {
		t.Errorf("the CLI says %q", lines.Text())
	}

	_ = cmd.Wait()
}
