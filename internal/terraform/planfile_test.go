// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// zipped returns a zip file with the given entries.
func zipped(tb testing.TB, entries map[string]string) []byte {
	tb.Helper()

	var b bytes.Buffer

	w := zip.NewWriter(&b)
	for name, content := range entries {
		f, err := w.Create(name)
		if err != nil {
			tb.Fatal(err)
		}

		if _, err := f.Write([]byte(content)); err != nil {
			tb.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}

	return b.Bytes()
}

const (
	stateRead      = `{"version":4,"serial":0,"lineage":"","outputs":{"o":{"value":1,"type":"number"}},"resources":[{"instances":[{}]}]}`
	stateRefreshed = `{"version":4,"serial":7,"lineage":"l","outputs":{"o":{"value":2,"type":"number"}},"resources":[]}`
)

func TestReadPlanFile(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		content []byte
		want    *State
	}{
		"Both": {
			reason:  "recorded resources and outputs, with the identity that only the other entry has",
			content: zipped(t, map[string]string{entryRead: stateRead, entryRefreshed: stateRefreshed}),
			want: &State{Lineage: "l", Serial: 7, Resources: 1, Outputs: map[string]Output{
				"o": {Value: []byte("1")},
			}},
		},
		"NotAZip":     {reason: "an encrypted plan is JSON", content: []byte(`{"meta":{},"encrypted_data":"x"}`)},
		"Empty":       {reason: "a plan that was not written", content: nil},
		"NoRead":      {reason: "one entry is missing", content: zipped(t, map[string]string{entryRefreshed: stateRefreshed})},
		"NoRefreshed": {reason: "the other entry is missing", content: zipped(t, map[string]string{entryRead: stateRead})},
		"NotAState":   {reason: "another format", content: zipped(t, map[string]string{entryRead: "{}", entryRefreshed: stateRefreshed})},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			path := filepath.Join(t.TempDir(), "plan")
			if err := os.WriteFile(path, tc.content, 0o600); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, readPlanFile(path)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}

	if got := readPlanFile(filepath.Join(t.TempDir(), "missing")); got != nil {
		t.Errorf("want nothing out of nothing, got %+v", got)
	}
}

func TestEncryptedPlan(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		if c.Product() != OpenTofu {
			t.Skip("only OpenTofu encrypts")
		}

		ws := newWorkspace(t, map[string]string{"main.tf": `output "o" { value = 1 }`})
		ws.Env = append(ws.Env, `TF_ENCRYPTION=
key_provider "pbkdf2" "k" {
  passphrase = "correct-horse-battery-staple"
  iterations = 200000
}
method "aes_gcm" "m" {
  keys = key_provider.pbkdf2.k
}
state {
  method = method.aes_gcm.m
}
plan {
  method = method.aes_gcm.m
}`)

		p := mustPlan(t, c, ws)
		if p.Prior != nil {
			t.Errorf("want no state of an encrypted plan, got %+v", p.Prior)
		}

		if _, err := c.Apply(t.Context(), ws, ApplyOptions{PlanFile: p.File}); err != nil {
			t.Errorf("apply: %v", err)
		}

		if got := string(mustPull(t, c, ws).Outputs["o"].Value); got != "1" {
			t.Errorf("want the state to be readable, got output %q", got)
		}
	})
}
