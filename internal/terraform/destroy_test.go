// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDestroy(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{
			"main.tf": `
variable "v" {}
resource "terraform_data" "x" {
  count = 2
  input = var.v
}`,
			"a.tfvars": `v = 1`,
		})
		args := []string{"-var-file=a.tfvars"}

		s, err := c.Destroy(t.Context(), ws, args, nil)
		if err != nil || s != (Summary{}) {
			t.Errorf("want nothing to be destroyed with success, got %+v, %v", s, err)
		}

		mustApply(t, c, ws, "-var-file=a.tfvars")

		var events []string

		s, err = c.Destroy(t.Context(), ws, args, func(p Progress) { events = append(events, p.Event+" "+p.Action) })
		if err != nil || s != (Summary{Destroy: 2}) {
			t.Errorf("want both to be destroyed, got %+v, %v", s, err)
		}

		if got := strings.Count(strings.Join(events, "\n"), "apply_complete delete"); got != 2 {
			t.Errorf("want to see both end, got %q", events)
		}

		if got := mustPull(t, c, ws).Resources; got != 0 {
			t.Errorf("want nothing to be left, got %d", got)
		}
	})
}

func TestDestroyFails(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": `
resource "terraform_data" "x" {
  lifecycle { prevent_destroy = true }
}`})
		mustApply(t, c, ws)

		_, err := c.Destroy(t.Context(), ws, nil, nil)
		if err == nil || !strings.Contains(err.Error(), "prevent_destroy") || !strings.HasSuffix(err.Error(), "(on main.tf line 2)") {
			t.Errorf("want the reason and the place, got %v", err)
		}

		if got := mustPull(t, c, ws).Resources; got != 1 {
			t.Errorf("want it to be still there, got %d", got)
		}

		if !Began(err) {
			t.Error("want it to have read the resources")
		}

		if err := os.WriteFile(filepath.Join(ws.Dir, "main.tf"), []byte("resource {"), 0o600); err != nil {
			t.Fatal(err)
		}

		if _, err := c.Destroy(t.Context(), ws, nil, nil); err == nil || Began(err) {
			t.Errorf("want a broken module to keep it from beginning, got %v", err)
		}
	})
}
