// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseLock(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		text   string
		want   Lock
	}{
		"Complete": {
			reason: "all fields, in the form of all backends",
			text: `Error message: resource temporarily unavailable
Lock Info:
  ID:        3937d8ce-99e6-f005-7582-6c1d9c7feb75
  Path:      terraform.tfstate.d/ws/terraform.tfstate
  Operation: OperationTypeApply
  Who:       root@vm
  Version:   1.12.6
  Created:   2026-11-21 10:51:21.563908972 +0000 UTC
  Info:      


OpenTofu acquires a state lock to protect the state from being written
by multiple users at the same time.`,
			want: Lock{
				ID: "3937d8ce-99e6-f005-7582-6c1d9c7feb75", Operation: "OperationTypeApply", Who: "root@vm",
				Created: "2026-11-21 10:51:21.563908972 +0000 UTC",
			},
		},
		"Partial": {reason: "fields may be missing", text: "Lock Info:\n  ID: x\n", want: Lock{ID: "x"}},
		"None":    {reason: "a backend may not know the lock", text: "Error message: x\nID: not of a lock"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, parseLock(tc.text)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLockFields(t *testing.T) {
	t.Parallel()

	// Both CLIs print the user and the host, and the time in any zone, with a fraction that is not zero.
	for who, want := range map[string]string{"root@host-0": "host-0", "@host-0": "host-0", "root@": "", "host-0": "", "": ""} {
		if got := (Lock{Who: who}).Host(); got != want {
			t.Errorf("host of %q: want %q, got %q", who, want, got)
		}
	}

	for created, want := range map[string]time.Time{
		"2026-11-21 10:51:21.563908972 +0000 UTC": time.Date(2026, 11, 21, 10, 51, 21, 563908972, time.UTC),
		"2026-11-21 10:51:21 +0000 UTC":           time.Date(2026, 11, 21, 10, 51, 21, 0, time.UTC),
		"2026-11-21 12:51:21 +0200 CEST":          time.Date(2026, 11, 21, 10, 51, 21, 0, time.UTC),
		"2026-11-21T10:51:21Z":                    {},
		"":                                        {},
	} {
		if got, err := (Lock{Created: created}).Since(); !got.Equal(want) || err == nil == want.IsZero() {
			t.Errorf("%q: want %s, got %s, error: %v", created, want, got, err)
		}
	}
}

// TestLockKept has a server that refuses to release a lock that the run held.
func TestLockKept(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		s := startLockServer(t)
		ws := newWorkspace(t, map[string]string{"main.tf": s.backend() + `resource "terraform_data" "x" {}`})

		ws.Name = DefaultWorkspace
		if err := c.Init(t.Context(), ws, InitOptions{}); err != nil {
			t.Fatalf("init: %v", err)
		}

		s.keepLocks()

		_, err := c.Apply(t.Context(), ws, ApplyOptions{})
		if err == nil || !strings.Contains(err.Error(), "releasing the state lock") {
			t.Errorf("want the words of the CLI, got %v", err)
		}

		if l, ok := LockOf(err); ok || IsLocked(err) {
			t.Errorf("want no lock of another run, got %+v", l)
		}
	})
}

func TestLockReleased(t *testing.T) {
	t.Parallel()

	const info = "Error message: boom\nLock Info:\n  ID: x\n  Who: root@vm\n"

	cases := map[string]struct {
		reason  string
		summary string
		detail  string
		want    []bool
	}{
		"Acquire": {reason: "another process has it", summary: "Error acquiring the state lock", detail: info, want: []bool{true, true}},
		"Unknown": {reason: "the backend does not say which", summary: "Error acquiring the state lock", detail: "x", want: []bool{true, false}},
		"Other":   {reason: "all backends print the holder in the same form", summary: "Error", detail: info, want: []bool{true, true}},
		"Release": {reason: "this run had it", summary: "Error releasing the state lock", detail: info, want: []bool{false, false}},
		"Made":    {reason: "this run had it, to make a state", summary: "Failed to get existing workspaces: boom\n\t\t\t\tAdditionally, unlocking the state in Kubernetes failed:", detail: info, want: []bool{false, false}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := &Error{Diagnostics: []Diagnostic{{Summary: tc.summary, Detail: tc.detail}}}

			_, known := LockOf(err)
			if diff := cmp.Diff(tc.want, []bool{IsLocked(err), known}); diff != "" {
				t.Errorf("%s: IsLocked and LockOf: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLocked(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": sleeper})

		host, err := os.Hostname()
		if err != nil {
			t.Fatal(err)
		}

		begin := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		first := start(t, ws, func(ws Workspace) error {
			_, err := c.Apply(ctx, ws, ApplyOptions{})

			return err
		})

		_, applyErr := c.Apply(t.Context(), ws, ApplyOptions{})

		deleteErr := c.DeleteWorkspace(t.Context(), ws)
		for op, err := range map[string]error{"apply": applyErr, "workspace delete": deleteErr} {
			if !IsLocked(err) {
				t.Errorf("%s: want the state to be locked, got %v", op, err)

				continue
			}

			if !strings.HasPrefix(err.Error(), "Error acquiring the state lock: ") {
				t.Errorf("%s: want the words of the CLI, got %v", op, err)
			}

			l, ok := LockOf(err)
			if !ok || l.ID == "" || l.Who == "" || l.Created == "" {
				t.Errorf("%s: want to know who has it since when, got %+v", op, l)
			}

			if diff := cmp.Diff([]string{"OperationTypeApply", host}, []string{l.Operation, l.Host()}); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", op, diff)
			}

			expectSince(t, l, begin)
		}

		if _, err := c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan")}); err != nil {
			t.Errorf("a plan takes no lock, got %v", err)
		}

		if _, err := c.PullState(t.Context(), ws); err != nil {
			t.Errorf("neither does reading the state, got %v", err)
		}

		cancel()

		if err := <-first.done; !errors.Is(err, context.Canceled) {
			t.Errorf("want the first one to have been undisturbed, got %v", err)
		}
	})
}

// expectSince fails the test unless the lock was made after the supplied time.
func expectSince(t *testing.T, l Lock, begin time.Time) {
	t.Helper()

	if since, err := l.Since(); err != nil || since.Before(begin) || since.After(time.Now()) {
		t.Errorf("want a lock that was made after %s, got %s, error: %v", begin, since, err)
	}
}

func TestUnlock(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		const id = "11111111-2222-3333-4444-555555555555"

		s := startLockServer(t)
		ws := newWorkspace(t, map[string]string{"main.tf": s.backend() + `resource "terraform_data" "x" {}`})

		ws.Name = DefaultWorkspace
		if err := c.Init(t.Context(), ws, InitOptions{}); err != nil {
			t.Fatalf("init: %v", err)
		}

		s.leave(id, "root@host-0")

		_, err := c.Apply(t.Context(), ws, ApplyOptions{})

		l, ok := LockOf(err)
		if !ok || !IsLocked(err) {
			t.Fatalf("want the state to be locked, got %v", err)
		}

		if got := HolderOf(err); got != id {
			t.Errorf("ID of the lock in the words of the backend: want %s, got %q", id, got)
		}

		// With this backend, Terraform reports the lock that it wanted instead.
		if c.Product == OpenTofu {
			since, err := l.Since()
			if want := time.Date(2020, 1, 2, 3, 4, 5, 678e6, time.UTC); err != nil || !since.Equal(want) {
				t.Errorf("want the lock to be made at %s, got %s, error: %v", want, since, err)
			}

			if diff := cmp.Diff([]string{id, "host-0"}, []string{l.ID, l.Host()}); diff != "" {
				t.Errorf("ID of the lock and host: -want, +got:\n%s", diff)
			}
		}

		if err := c.Unlock(t.Context(), ws, id); err != nil {
			t.Fatalf("unlock: %v", err)
		}

		if s.locked() {
			t.Error("the lock is still there")
		}

		if _, err := c.Apply(t.Context(), ws, ApplyOptions{}); err != nil {
			t.Errorf("apply after unlock: %v", err)
		}
	})
}

// TestLockOfInit ensures that a lock is known that an init of Terraform 1.5 reports without the heading of an error.
func TestLockOfInit(t *testing.T) {
	t.Parallel()

	err := newError(opInit, Workspace{}, result{code: 1, stderr: `Error loading state: the state is already locked by another terraform client
Lock Info:
  ID:        11111111-2222-3333-4444-555555555555
  Path:      
  Operation: OperationTypeApply
  Who:       root@vm
  Version:   
  Created:   2026-11-28 22:20:00 +0000 UTC
  Info:      

`}, firsts[Diagnostic]{})

	if l, ok := LockOf(err); !ok || l.ID != "11111111-2222-3333-4444-555555555555" || l.Who != "root@vm" || !IsInitRace(err) {
		t.Errorf("want the lock of an init, got %+v of %v", l, err)
	}
}
