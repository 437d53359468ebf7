// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestParseState(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		raw    string
		want   *State
		err    string
	}{
		"Empty": {
			reason: "an empty state",
			raw:    `{"version":4,"serial":2,"lineage":"l","outputs":{},"resources":[]}`,
			want:   &State{Lineage: "l", Serial: 2},
		},
		"Indented": {
			reason: "values do not depend on the layout of the file; numbers are exact",
			raw: `{
  "version": 4, "serial": 18446744073709551615, "lineage": "l",
  "outputs": {
    "s": {"value": {"a": "se\u003ccret\u003e", "n": [1, 12345678901234567890.5]}, "type": ["object", {"a": "string"}], "sensitive": true}
  }
}`,
			want: &State{Lineage: "l", Serial: 18446744073709551615, Outputs: map[string]Output{"s": {
				Value:     json.RawMessage(`{"a":"se\u003ccret\u003e","n":[1,12345678901234567890.5]}`),
				Sensitive: true,
			}}},
		},
		"Instances": {
			reason: "instances of resources count, not those of data sources; one that is being replaced counts once",
			raw: `{"version":4,"resources":[
				{"mode":"data","type":"t","name":"d","instances":[{}]},
				{"mode":"managed","type":"t","name":"none","instances":[]},
				{"mode":"managed","type":"t","name":"one","instances":[{"deposed":"6d701b55"},{}]},
				{"mode":"managed","type":"t","name":"two","instances":[{"index_key":0},{"index_key":1}]},
				{"module":"module.m","mode":"managed","type":"t","name":"two","instances":[{"index_key":"a"},{"index_key":"a","deposed":"6d701b55"},{"index_key":"b"}]}]}`,
			want: &State{Managed: 5, Data: true, Deposed: 2, Addresses: []string{"t.one", "t.two", "module.m.t.two"}},
		},
		"Modules": {
			reason: "keys are not part of an address",
			raw:    `{"version":4,"resources":[{"module":"module.a[\"x]\\\"y\"].module.b[0]","mode":"managed","type":"t","name":"n","instances":[{}]}]}`,
			want:   &State{Managed: 1, Addresses: []string{"module.a.module.b.t.n"}},
		},
		"OtherVersion": {reason: "an older format", raw: `{"version":3}`, err: "version 3 of the state file is not supported, only 4 is"},
		"NotJSON":      {reason: "not a state", raw: `x`, err: "not a state file: "},
		"Null":         {reason: "not a state", raw: `null`, err: "version 0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := ParseState([]byte(tc.raw))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.err)) {
				t.Errorf("%s: want error %q, got %v", tc.reason, tc.err, err)
			}
		})
	}
}

func TestPullState(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": `
resource "terraform_data" "x" { count = 3 }
output "o" { value = 1 }`})
		if diff := cmp.Diff(&State{}, mustPull(t, c, ws)); diff != "" {
			t.Errorf("no state: -want, +got:\n%s", diff)
		}

		mustApply(t, c, ws)

		first := mustPull(t, c, ws)
		if first.Lineage == "" || first.Serial == 0 || first.Managed != 3 || len(first.Outputs) != 1 {
			t.Errorf("want the applied state, got %+v", first)
		}

		mustApply(t, c, ws, "-replace=terraform_data.x[0]")

		second := mustPull(t, c, ws)
		if second.Lineage != first.Lineage || second.Serial <= first.Serial {
			t.Errorf("want the same state, later: got %+v after %+v", second, first)
		}

		ws.Name = "another"
		if diff := cmp.Diff(&State{}, mustPull(t, c, ws)); diff != "" {
			t.Errorf("another workspace: -want, +got:\n%s", diff)
		}

		filesystem.Write(t, ws.Dir, map[string]string{"main.tf": "foo {"})
		_, err := c.PullState(t.Context(), ws)

		want := `main.tf:1: Unsupported block type: Blocks of type "foo" are not expected here.`
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in the error, got %v", want, err)
		}
	})
}

// FuzzParseState checks that the values of an accepted state are JSON.
func FuzzParseState(f *testing.F) {
	f.Add([]byte(stateRead))
	f.Add([]byte(`{"version":4,"outputs":{"a":{"value":null},"b":{"value":[ 1e999, "x" ],"sensitive":true}},"resources":[{"instances":[{"index_key":1},{"index_key":"1"}]}]}`))
	f.Add([]byte(`{"version":4,"serial":-1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := ParseState(raw)
		if err != nil {
			return
		}

		for name, o := range s.Outputs {
			if len(o.Value) > 0 && !json.Valid(o.Value) {
				t.Errorf("output %q is not JSON: %q", name, o.Value)
			}
		}
	})
}

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

		if err := push("5", lineage); !IsNewerState(err) || IsUnrelatedState(err) {
			t.Errorf("want an older one to be refused, got %v", err)
		}

		expect("an older one", "17")

		if err := push("99", foreign); !IsNewerState(err) || !IsUnrelatedState(err) {
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

// TestDamagedState ensures that a state that cannot be read is recognized, without advice about files.
func TestDamagedState(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		ws := newWorkspace(t, map[string]string{"main.tf": `resource "terraform_data" "x" {}`})
		mustApply(t, c, ws)

		if err := os.WriteFile(filepath.Join(ws.Dir, "terraform.tfstate.d", ws.Name, "terraform.tfstate"), []byte(`{"version":5}`), 0o600); err != nil {
			t.Fatal(err)
		}

		_, pulled := c.PullState(t.Context(), ws)
		_, planned := c.Plan(t.Context(), ws, PlanOptions{Out: filepath.Join(ws.Dir, "plan")})

		for op, err := range map[string]error{"pull": pulled, "plan": planned} {
			if !CannotLoadState(err) || !strings.Contains(err.Error(), "format version 5") || strings.Contains(err.Error(), "-state") {
				t.Errorf("%s: want only the cause, got %v", op, err)
			}
		}
	})
}
