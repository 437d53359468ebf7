// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

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
		// With this backend, Terraform reports the lock that it wanted instead.
		if c.Product() == OpenTofu {
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
