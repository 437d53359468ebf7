// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPushState(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		const (
			lineage = "11111111-2222-3333-4444-555555555555"
			foreign = "99999999-2222-3333-4444-555555555555"
		)

		ws := newWorkspace(t, map[string]string{"main.tf": `resource "terraform_data" "x" {}`})
		pushValue := func(serial, lineage, value string) error {
			path := filepath.Join(ws.Dir, ErroredStateFile)

			data := `{"version":4,"terraform_version":"1.5.0","serial":` + serial + `,"lineage":"` + lineage + `","outputs":{"s":{"value":"` + value + `","type":"string"}},"resources":[]}`
			if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}

			return c.PushState(t.Context(), ws, path)
		}
		push := func(serial, lineage string) error { return pushValue(serial, lineage, serial) }
		// The serial is set by the CLI, which may count the push, too.
		expect := func(reason, serial string) {
			t.Helper()

			s := mustPull(t, c, ws)
			if diff := cmp.Diff([]string{lineage, `"` + serial + `"`}, []string{s.Lineage, string(s.Outputs["s"].Value)}); diff != "" {
				t.Errorf("%s: lineage and output: -want, +got:\n%s", reason, diff)
			}
		}

		if err := push("3", lineage); err != nil {
			t.Fatalf("there was no state yet: %v", err)
		}

		expect("there was no state yet", "3")

		if err := push("17", lineage); err != nil {
			t.Errorf("a newer one: %v", err)
		}

		expect("a newer one", "17")

		if err := push("5", lineage); !IsNewerState(err) {
			t.Errorf("want an older one to be refused, got %v", err)
		}

		expect("an older one", "17")

		if err := push("99", foreign); !IsNewerState(err) {
			t.Errorf("want another one to be refused, got %v", err)
		}

		expect("another one", "17")

		serial := strconv.FormatUint(mustPull(t, c, ws).Serial, 10)
		if err := pushValue(serial, lineage, "other"); !IsNewerState(err) {
			t.Errorf("want a different one with the same serial to be refused, got %v", err)
		}

		expect("a different one with the same serial", "17")

		ws.Name = "another"
		if diff := cmp.Diff(&State{}, mustPull(t, c, ws)); diff != "" {
			t.Errorf("another workspace: -want, +got:\n%s", diff)
		}
	})
}

func TestPushStateLocked(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		s := startLockServer(t)
		ws := newWorkspace(t, map[string]string{"main.tf": s.backend()})

		ws.Name = DefaultWorkspace
		if err := c.Init(t.Context(), ws, InitOptions{}); err != nil {
			t.Fatalf("init: %v", err)
		}

		s.leave("1", "alice@laptop")

		path := filepath.Join(ws.Dir, ErroredStateFile)
		if err := os.WriteFile(path, []byte(`{"version":4,"terraform_version":"1.5.0","serial":1,"lineage":"l","outputs":{},"resources":[]}`), 0o600); err != nil {
			t.Fatal(err)
		}

		err := c.PushState(t.Context(), ws, path)
		if !IsLocked(err) {
			t.Errorf("want the state to be locked, got %v", err)
		}
	})
}
