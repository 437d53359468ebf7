// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReport(t *testing.T) {
	t.Parallel()

	type want struct {
		Text        []string
		Diagnostics []Diagnostic
		Warnings    []Diagnostic
		Drift       []string
		Planned     []ResourceChange
		Deletes     []ResourceChange
		NewOutputs  []string
		Summary     *Summary
		Outputs     map[string]Output
		Progress    []Progress
	}

	cases := map[string]struct {
		reason string
		lines  string
		want   want
	}{
		"Nothing": {
			reason: "a run may print nothing",
		},
		"NotJSON": {
			reason: "a line that is not a message is text",
			lines:  "panic: oh\n[]\n{\"a\":1}\n",
			want:   want{Text: []string{"panic: oh", "[]", `{"a":1}`}},
		},
		"UnknownType": {
			reason: "messages of unknown types are text only",
			lines:  `{"@level":"info","@message":"Terraform 1.11.4","terraform":"1.11.4","type":"version","ui":"1.2"}`,
			want:   want{Text: []string{"Terraform 1.11.4"}},
		},
		"Diagnostic": {
			reason: "all parts of a diagnostic are kept, and the text for people has its place and detail",
			lines:  `{"@level":"error","@message":"Error: S","diagnostic":{"severity":"error","summary":"S","detail":"D\n","address":"a.b","range":{"filename":"main.tf","start":{"line":7,"column":30,"byte":156},"end":{"line":7,"column":31,"byte":157}},"snippet":{"context":"resource \"a\" \"b\"","code":"secret","start_line":7}},"type":"diagnostic"}`,
			want: want{
				Text: []string{"Error: S\nmain.tf:7: a.b\nD"},
				Diagnostics: []Diagnostic{{
					Summary: "S", Detail: "D\n", Address: "a.b",
					File: "main.tf", Line: 7, Context: `resource "a" "b"`,
				}},
			},
		},
		"Provisioner": {
			reason: "the text for people has had the output of a provisioner before",
			lines:  `{"@level":"error","@message":"Error: S","diagnostic":{"severity":"error","summary":"S","detail":"Error running command 'c': exit status 7. Output: d of a secret\n"},"type":"diagnostic"}`,
			want: want{
				Text:        []string{"Error: S\n\nError running command 'c': exit status 7"},
				Diagnostics: []Diagnostic{{Summary: "S", Detail: "Error running command 'c': exit status 7. Output: d of a secret\n"}},
			},
		},
		"BareDiagnostic": {
			reason: "a diagnostic may have neither address, range nor context",
			lines:  `{"@level":"error","@message":"Error: S","diagnostic":{"severity":"error","summary":"S","detail":"","snippet":{"context":null}},"type":"diagnostic"}`,
			want:   want{Text: []string{"Error: S"}, Diagnostics: []Diagnostic{{Summary: "S"}}},
		},
		"Warning": {
			reason: "a warning is no error",
			lines:  `{"@level":"warn","@message":"Warning: S","diagnostic":{"severity":"warning","summary":"S"},"type":"diagnostic"}`,
			want:   want{Text: []string{"Warning: S"}, Warnings: []Diagnostic{{Summary: "S"}}},
		},
		"UnknownCheck": {
			reason: "a check that the apply will evaluate is no problem",
			lines:  `{"@level":"warn","@message":"Warning: C","diagnostic":{"severity":"warning","summary":"Check block assertion known after apply"},"type":"diagnostic"}`,
			want:   want{Text: []string{"Warning: C"}},
		},
		"ErrorWithoutDiagnostic": {
			reason: "an error that comes as a message is an error",
			lines:  `{"@level":"error","@message":"canceled"}`,
			want:   want{Text: []string{"canceled"}, Diagnostics: []Diagnostic{{Summary: "canceled"}}},
		},
		"Plan": {
			reason: "a plan reports drift, changes and their number",
			lines: `{"@message":"d","change":{"resource":{"addr":"a.d"},"action":"update"},"type":"resource_drift"}
{"@message":"p","change":{"resource":{"addr":"a.n"},"action":"create"},"type":"planned_change"}
{"@message":"p","change":{"resource":{"addr":"data.a.r"},"action":"read"},"type":"planned_change"}
{"@message":"p","change":{"resource":{"addr":"a.p[\"x\"]"},"action":"replace","reason":"tainted"},"type":"planned_change"}
{"@message":"p","change":{"resource":{"addr":"a.i"},"action":"replace","importing":{"id":"i"}},"type":"planned_change"}
{"@message":"p","change":{"resource":{"addr":"a.d"},"previous_resource":{"addr":"a.was"},"action":"delete"},"type":"planned_change"}
{"@message":"s","changes":{"add":1,"change":2,"import":4,"remove":3,"forget":5,"operation":"plan"},"type":"change_summary"}
{"@message":"o","outputs":{"same":{"sensitive":false,"action":"noop"},"o":{"sensitive":true,"action":"create"},"l":{"action":"delete"}},"type":"outputs"}`,
			want: want{
				Text:  []string{"d", "p", "p", "p", "p", "p", "s", "o"},
				Drift: []string{"a.d"},
				Planned: []ResourceChange{
					{Action: "replace", Address: "a.i", Imports: true},
					{Action: "delete", Address: "a.d", Previous: "a.was"},
					{Action: "replace", Address: `a.p["x"]`},
					{Action: "create", Address: "a.n"},
				},
				Deletes: []ResourceChange{
					{Action: "replace", Address: `a.p["x"]`},
					{Action: "replace", Address: "a.i", Imports: true},
					{Action: "delete", Address: "a.d", Previous: "a.was"},
				},
				NewOutputs: []string{"l", "o"},
				Summary:    &Summary{Add: 1, Change: 2, Destroy: 3, Import: 4, Forget: 5},
			},
		},
		"ForgetfulReplacement": {
			reason: "a replacement that forgets what it replaces has no action of its own",
			lines: `{"@message":"p","change":{"resource":{"addr":"a.b"},"action":"noop","reason":"cannot_update"},"type":"planned_change"}
{"@message":"p","change":{"resource":{"addr":"a.i"},"action":"import","reason":"cannot_update","importing":{"id":"i"}},"type":"planned_change"}
{"@message":"p","change":{"resource":{"addr":"a.n"},"action":"noop"},"type":"planned_change"}`,
			want: want{
				Text:    []string{"p", "p", "p"},
				Planned: []ResourceChange{{Action: "replace", Address: "a.i", Imports: true, Forgets: true}, {Action: "replace", Address: "a.b", Forgets: true}},
				Deletes: []ResourceChange{{Action: "replace", Address: "a.b", Forgets: true}, {Action: "replace", Address: "a.i", Imports: true, Forgets: true}},
			},
		},
		"Apply": {
			reason: "the result of an apply takes precedence over the plan; numbers are exact",
			lines: `{"@message":"s","changes":{"add":9},"type":"change_summary"}
{"@message":"o","outputs":{"n":{"sensitive":false,"action":"create"}},"type":"outputs"}
{"@message":"s","changes":{"add":1},"type":"change_summary"}
{"@message":"o","outputs":{"n":{"sensitive":false,"type":"number","value":12345678901234567890},"s":{"sensitive":true,"type":["list","string"]}},"type":"outputs"}`,
			want: want{
				Text:       []string{"s", "o", "s", "o"},
				NewOutputs: []string{"n"},
				Summary:    &Summary{Add: 1},
				Outputs: map[string]Output{
					"n": {Value: json.RawMessage(`12345678901234567890`)},
					"s": {Sensitive: true},
				},
			},
		},
		"NoOutputs": {
			reason: "an empty list of outputs differs from none",
			lines:  `{"@message":"o","outputs":{},"type":"outputs"}`,
			want:   want{Text: []string{"o"}, Outputs: map[string]Output{}},
		},
		"Progress": {
			reason: "the steps of a run are passed on",
			lines: `{"@message":"1","hook":{"resource":{"addr":"a.b"},"id_key":"id"},"type":"refresh_start"}
{"@message":"2","hook":{"resource":{"addr":"a.b"},"action":"create"},"type":"apply_start"}
{"@message":"3","hook":{"resource":{"addr":"a.b"},"action":"create","elapsed_seconds":10},"type":"apply_progress"}
{"@message":"4","hook":{"resource":{"addr":"a.b"},"action":"create","elapsed_seconds":12.5},"type":"apply_complete"}
{"@message":"5","hook":{"resource":{"addr":"a.c"},"action":"delete"},"type":"apply_errored","@level":"error"}`,
			want: want{
				Text: []string{"1", "2", "3", "4", "5"},
				Progress: []Progress{
					{Event: "refresh_start", Address: "a.b"},
					{Event: "apply_start", Address: "a.b", Action: "create"},
					{Event: "apply_progress", Address: "a.b", Action: "create"},
					{Event: "apply_complete", Address: "a.b", Action: "create"},
					{Event: "apply_errored", Address: "a.c", Action: "delete"},
				},
			},
		},
		"ActionBlock": {
			reason: "the action of an action block is an object: it concerns no resource",
			lines: `{"@message":"Action started: action.a.b","hook":{"action":{"addr":"action.a.b","module":"","action":"action.a.b","action_type":"a"},"lifecycle":{"resource":{"addr":"a.b"}}},"type":"action_start"}
{"@message":"Action complete: action.a.b","hook":{"action":{"addr":"action.a.b"}},"type":"action_complete"}`,
			want: want{
				Text:     []string{"Action started: action.a.b", "Action complete: action.a.b"},
				Progress: []Progress{{Event: "action_start"}, {Event: "action_complete"}},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got want

			r := newReport(func(p Progress) { got.Progress = append(got.Progress, p) })
			for line := range strings.Lines(tc.lines) {
				got.Text = append(got.Text, r.add([]byte(strings.TrimSpace(line))))
			}

			got.Diagnostics, got.Drift, got.Summary, got.Outputs = r.errors.kept, r.drift.kept, r.summary, r.outputs
			got.Warnings, got.Planned, got.NewOutputs = r.warnings.kept, r.planned.kept, r.newOutputs.kept
			got.Deletes = r.deletes

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			silent := newReport(nil)
			for line := range strings.Lines(tc.lines) {
				silent.add([]byte(line)) // A listener is optional.
			}
		})
	}
}

// TestRemoteState has a data source that reads the state of another module. Its errors have no place, and the texts of those about the
// state of the Workspace.
func TestRemoteState(t *testing.T) {
	t.Parallel()

	const (
		network = `{"hook":{"resource":{"addr":"data.terraform_remote_state.network"},"action":"read"},"type":"apply_start"}`
		dns     = `{"hook":{"resource":{"addr":"module.a.data.terraform_remote_state.dns[0]"},"action":"read"},"type":"apply_start"}`
		done    = `{"hook":{"resource":{"addr":"module.a.data.terraform_remote_state.dns[0]"},"action":"read","elapsed_seconds":0},"type":"apply_complete"}`
		other   = `{"hook":{"resource":{"addr":"data.aws_vpc.a"},"action":"read"},"type":"apply_start"}`
		slow    = `{"hook":{"resource":{"addr":"data.terraform_remote_state.network"},"action":"read","elapsed_seconds":10},"type":"apply_progress"}`
	)

	cases := map[string]struct {
		reason         string
		hooks          []string
		summary        string
		want, withText string
	}{
		"Failed":   {reason: "It is the one that has not ended.", hooks: []string{network, dns, done, slow, other}, summary: "HTTP remote state endpoint requires auth", want: "data.terraform_remote_state.network"},
		"TwoReads": {reason: "It may be each of them.", hooks: []string{dns, network}, summary: "EOF", want: "data.terraform_remote_state.network or module.a.data.terraform_remote_state.dns[0]"},
		"None":     {reason: "It is about the state of the Workspace.", hooks: []string{dns, done, other}, summary: "HTTP remote state endpoint requires auth"},
		"Save":     {reason: "A run saves that at its end.", hooks: []string{network}, summary: "Failed to save state"},
		"Persist":  {reason: "Or cannot.", hooks: []string{network}, summary: "Failed to persist state to backend"},
		"Lock":     {reason: "And releases its lock.", hooks: []string{network}, summary: "Error releasing the state lock"},
		"Provider": {reason: "A provider is at fault.", hooks: []string{network}, summary: "Provider produced inconsistent result after apply"},
		"OneOfTwo": {
			reason: "The text tells which one it is.", hooks: []string{dns, network}, summary: "data.terraform_remote_state.network: Unable to read remote state",
			want: "data.terraform_remote_state.network", withText: "data.terraform_remote_state.network: Unable to read remote state",
		},
		"Again": {
			reason: "OpenTofu has an error that has it.", hooks: []string{network}, summary: "data.terraform_remote_state.network: Unable to read remote state",
			want: "data.terraform_remote_state.network", withText: "data.terraform_remote_state.network: Unable to read remote state",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newReport(nil)
			for _, line := range append(tc.hooks, fmt.Sprintf(`{"@level":"error","diagnostic":{"severity":"error","summary":%q},"type":"diagnostic"}`, tc.summary)) {
				r.add([]byte(line))
			}

			if got := r.errors.kept; len(got) != 1 || got[0].Address != tc.want {
				t.Fatalf("%s\nwant the address %q, got %+v", tc.reason, tc.want, got)
			}

			if got := r.errors.kept[0].String(); tc.withText != "" && got != tc.withText {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.withText, got)
			}
		})
	}
}

func TestReportIsBounded(t *testing.T) {
	t.Parallel()

	r := newReport(nil)
	for i := range 2 * maxErrors {
		r.add(fmt.Appendf(nil, `{"@level":"warn","diagnostic":{"severity":"warning","summary":"W","address":"x[%d]"}}`, i))
		r.add(fmt.Appendf(nil, `{"@level":"error","diagnostic":{"severity":"error","summary":"S","address":"x[%d]"}}`, i))
	}

	r.add([]byte(`{"@level":"error","diagnostic":{"severity":"error","summary":"Failed to save state"}}`))
	r.add([]byte(`{"@level":"warn","diagnostic":{"severity":"warning","summary":"Check block assertion failed"}}`))

	if n := len(r.errors.kept); n != maxErrors || r.errors.more != maxErrors+1 || r.errors.kept[0].Summary != "Failed to save state" {
		t.Errorf("want the error without an object first of %d, and %d more, got %d and %d: %v", maxErrors, maxErrors+1, n, r.errors.more, r.errors.kept[0])
	}

	if n := len(r.warnings.kept); n != maxWarnings || r.warnings.more != 2*maxErrors+1-maxWarnings || !r.warnings.kept[0].isCheck() {
		t.Errorf("want the failed check first of %d warnings, got %d: %v", maxWarnings, n, r.warnings.kept[0])
	}
}

// FuzzReport checks that no line makes the parser panic, and that every value that it returns is
// JSON.
func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"@level":"error","@message":"E","diagnostic":{"severity":"error","summary":"S","range":{"start":{"line":1}}}}`))
	f.Add([]byte(`{"outputs":{"a":{"type":"string","value":"x"},"b":{"sensitive":true,"type":["map","number"]}},"type":"outputs"}`))
	f.Add([]byte(`{"changes":{"add":1},"type":"change_summary"}`))
	f.Add([]byte(`{"hook":{"elapsed_seconds":1e300},"type":"apply_progress"}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r := newReport(func(Progress) {})
		r.add(line)

		for name, o := range r.outputs {
			if len(o.Value) > 0 && !json.Valid(o.Value) {
				t.Errorf("output %q is not JSON: %q", name, o.Value)
			}
		}

		for _, d := range slices.Concat(r.errors.kept, r.warnings.kept) {
			if strings.ContainsAny(d.String(), "\r\n") {
				t.Errorf("not one line: %q", d.String())
			}
		}
	})
}

// TestStateDump ensures that a state that the CLI could not write is kept, also if it is longer than any other line.
func TestStateDump(t *testing.T) {
	t.Parallel()

	r := newReport(nil)
	w := &lineWriter{max: 200, longer: stateLine, line: func(line []byte) { r.add(line) }}

	state := `{"resources":"` + strings.Repeat("x", 1000) + `"}`
	for _, line := range []string{
		`{"@level":"info","@message":"a (local-exec): Emergency state dump","type":"log","state":{"not":"` + strings.Repeat("x", 1000) + `"}}`,
		`{"@level":"info","@message":"Emergency state dump","@module":"tofu.ui","type":"log","state":` + state + `}`,
	} {
		if _, err := w.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}

	if string(r.state) != state {
		t.Errorf("want the state, got %.100q", r.state)
	}
}

// TestCorrectsDrift has more resources that have drifted than a plan names: one of them is changed back, or none.
func TestCorrectsDrift(t *testing.T) {
	t.Parallel()

	for changed, want := range map[string]bool{"z.z": true, "z.other": false} {
		r := newReport(nil)

		for i := range maxChanges {
			r.add(fmt.Appendf(nil, `{"change":{"resource":{"addr":"a.a[%d]"},"action":"update"},"type":"resource_drift"}`, i))
		}

		r.add([]byte(`{"change":{"resource":{"addr":"z.z"},"action":"update"},"type":"resource_drift"}`))
		r.add([]byte(`{"change":{"resource":{"addr":"` + changed + `"},"action":"update"},"type":"planned_change"}`))

		if r.corrects != want {
			t.Errorf("%s changes: want %t, got %t", changed, want, r.corrects)
		}
	}
}
