// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestValidName compares ValidName with what the CLI accepts.
func TestValidName(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": ""})

		names := []string{"a", "-a", "A_b.c~d", strings.Repeat("a", 253), "a" + NameSymbols, "a b", "a/b", "a%20b", "straße", "a\tb", "a(b)", "a*", "a!", "a'b", "a,b", "a;b", "a?b", "a#b", "a[b]"}
		for _, name := range names {
			ws.Name = name

			_, err := c.PullState(t.Context(), ws)
			if got := err == nil; got != ValidName(name) {
				t.Errorf("%q: want accepted %t, got %v", name, ValidName(name), err)
			}
		}
	})

	for _, name := range []string{".", ".."} {
		if ValidName(name) {
			t.Errorf("%q would be a directory of other workspaces", name)
		}
	}
}

// TestUnreadableStateOfInit ensures that init reads the state of the default workspace, and that the error
// is recognized.
func TestUnreadableStateOfInit(t *testing.T) {
	const backend = `
terraform {
  backend "local" {
    path = "shared.tfstate"
  }
}
`

	forEachCLI(t, func(t *testing.T, c *CLI) {
		for name, state := range map[string]string{
			"Corrupted": `{"version":`,
			"NewFormat": `{"version":99,"serial":1,"lineage":"l"}`,
		} {
			ws := newWorkspace(t, map[string]string{"main.tf": backend, "shared.tfstate": state})

			if err := c.Init(t.Context(), ws, InitOptions{}); !CannotReadStateInInit(err) || HasOtherEncryption(err) {
				t.Errorf("%s: want an init that cannot read the state, got %v", name, err)
			}
		}

		if c.Product != OpenTofu {
			return
		}

		encrypted := func(passphrase string) string {
			return `
terraform {
  encryption {
    key_provider "pbkdf2" "p" {
      passphrase = "` + passphrase + `"
      iterations = 200000
    }
    method "aes_gcm" "m" { keys = key_provider.pbkdf2.p }
    state { method = method.aes_gcm.m }
    plan { method = method.aes_gcm.m }
  }
}
`
		}

		const (
			one, other = "correct-horse-battery", "battery-horse-correct"
			module     = backend + `output "a" { value = 1 }`
		)

		for name, texts := range map[string][2]string{
			"Encrypted": {encrypted(one), ""},
			"Plain":     {"", encrypted(one)},
			"OtherKey":  {encrypted(one), encrypted(other)},
		} {
			ws := newWorkspace(t, map[string]string{"main.tf": module + texts[0]})

			ws.Name = DefaultWorkspace
			if err := c.Init(t.Context(), ws, InitOptions{}); err != nil {
				t.Fatal(err)
			}

			mustApply(t, c, ws)
			filesystem.Write(t, ws.Dir, map[string]string{"main.tf": module + texts[1]})

			ws.Name = "ws"
			if err := c.Init(t.Context(), ws, InitOptions{}); !CannotReadStateInInit(err) || !HasOtherEncryption(err) {
				t.Errorf("%s: want an init that cannot decrypt the state at %q, got %v", name, filepath.Join(ws.Dir, "shared.tfstate"), err)
			}
		}
	})
}
