// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestLeaveOutModule ensures that the module is left out only where that reaches the same state.
func TestLeaveOutModule(t *testing.T) {
	t.Parallel()

	const kubernetes = `terraform {
  backend "kubernetes" {}
}`

	initState := "IN " + stateOnlyDir + " " + initRun
	pullState := "IN " + stateOnlyDir + " " + pullRun

	cases := map[string]struct {
		reason string
		change []func(s *subject)
		want   bool
		// ran are the runs of two reads of the state by two Runners.
		ran []string
		// files during the second run.
		files filesystem.Files
	}{
		"Inline": {
			reason: "The state does not depend on the module.", change: []func(*subject){inline("# broken"), partialBackend}, want: true,
			ran:   []string{initRun + " -backend-config=DIR/crossplane.remote.tfbackend", pullRun, pullRun},
			files: filesystem.Files{"crossplane.remote.tfbackend": "path = 1"},
		},
		"InlineBackend": {reason: "Without the module the state is elsewhere.", change: []func(*subject){inline(kubernetes)}},
		"InlineCloud":   {reason: "So it is with that setting.", change: []func(*subject){inline("terraform {\n  cloud {}\n}")}},
		"Configuration": {
			reason: "A module has no second backend.", change: []func(*subject){inline("# backend"), configuration(kubernetes)}, want: true,
			ran:   []string{initRun, pullRun, pullRun},
			files: filesystem.Files{"crossplane-provider-config.tf": kubernetes},
		},
		"Variables": {
			reason: "Missing variables do not matter.", change: []func(*subject){missingVariables, func(s *subject) { s.Vars = []commonv1beta1.Var{{Key: "a", Value: "b"}} }}, want: true,
			ran: []string{initRun, pullRun, pullRun},
		},
		"Remote": {
			reason: "The configuration says where the state is. The module is not needed at all, and stays.", change: []func(*subject){remote("/missing"), configuration(kubernetes), entrypoint("a")}, want: true,
			// Init always runs: its result is removed with the directory.
			ran:   []string{initState, pullState, initState, pullState},
			files: filesystem.Files{"a/main.tf": "fetched", stateOnlyDir + "/crossplane-provider-config.tf": kubernetes},
		},
		"RemoteLocal": {reason: "The state may be in the directory of the module.", change: []func(*subject){remote("/missing"), configuration("terraform {\n  backend \"local\" {}\n}")}},
		"RemotePlain": {reason: "The module may say where the state is.", change: []func(*subject){remote("/missing")}},
		"RemoteOther": {reason: "The configuration has no backend.", change: []func(*subject){remote("/missing"), configuration("# backend")}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)

			var r *Runner

			for n := range 2 {
				r = p.stubbed(t, firstUID, tc.change...)
				if n == 0 {
					replaceTree(t, r)
				}

				if got := r.LeaveOutModule(); got != tc.want {
					t.Fatalf("\n%s\nLeaveOutModule(): want %t, got %t", tc.reason, tc.want, got)
				}

				if !tc.want {
					if r.stateOnly || len(r.Inputs.module) == 0 && r.Inputs.parameters.Source == commonv1beta1.ModuleSourceInline {
						t.Errorf("\n%s\nLeaveOutModule(): want no effect", tc.reason)
					}

					return
				}

				if err := callState(t.Context(), r); err != nil {
					t.Fatal(err)
				}

				if n == 1 {
					expectFiles(t, tc.reason+"\nduring the run", r, tc.files)
				}

				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
			}

			if diff := cmp.Diff(tc.ran, p.ran(t, r)); diff != "" {
				t.Errorf("\n%s\nruns: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// replaceTree makes a module that was fetched earlier, unless the module is inline.
func replaceTree(t *testing.T, r *Runner) {
	t.Helper()

	if r.Inputs.parameters.Source == commonv1beta1.ModuleSourceInline {
		return
	}

	temp, err := r.Dir.TempDir()
	if err != nil {
		t.Fatal(err)
	}

	src := filepath.Join(temp, "tree")
	filesystem.Write(t, src, filesystem.Files{"a/main.tf": "fetched"})

	if err := r.Dir.ReplaceTree(src, "revision"); err != nil {
		t.Fatal(err)
	}
}

// TestLeaveOutModuleLater ensures that the module can be left out after a run with it has failed.
func TestLeaveOutModuleLater(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	p.answer(t, "init", fails("boom"))

	r := p.stubbed(t, firstUID, variables)
	expectError(t, "State(...)", "boom", callState(t.Context(), r))

	if !r.LeaveOutModule() {
		t.Fatal("LeaveOutModule(): want true, got false")
	}

	expectError(t, "Destroy(...)", "", callDestroy(t.Context(), r))
	expectFiles(t, "without the module", r, filesystem.Files{varFileName(0, false): "from-config-map\n", varFileName(1, true): `{"a": "sesame-sesame"}`})

	if diff := cmp.Diff([]string{initRun + variableFiles("DIR"), initRun, "destroy -json -auto-approve -input=false"}, p.ran(t, r)); diff != "" {
		t.Errorf("runs: -want, +got:\n%s", diff)
	}

	// The result without the module is not that of the module.
	if other := p.stubbed(t, secondUID, variables); callState(t.Context(), other) != nil || len(p.ran(t, other)) != 5 {
		t.Errorf("runs of another Workspace with the module: want init and state pull, got %q", p.ran(t, other)[3:])
	}
}

// TestFetch ensures that a fetched module is used, also an old one while a Workspace is being
// deleted, and that a fetch ends with the lifetime of all runs.
func TestFetch(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		// missing says that the module cannot be fetched, fetched that it was fetched earlier.
		missing, fetched, deleted, stopped bool
		// moved says that the module has no configuration in the entrypoint.
		moved bool

		err    string
		source bool
		ran    []string
	}{
		"Fetched":        {reason: "It is in the directory.", source: true, ran: []string{"IN a " + initRun, "IN a " + pullRun}},
		"Missing":        {reason: "It cannot be fetched.", missing: true, err: "cannot fetch module"},
		"OldVersion":     {reason: "An old version must not be applied.", missing: true, fetched: true, err: "cannot fetch module"},
		"Deleted":        {reason: "It suffices to destroy what it made.", missing: true, fetched: true, deleted: true, ran: []string{"IN a " + initRun, "IN a " + pullRun}},
		"DeletedMoved":   {reason: "Without the files of the module, the CLI would destroy whatever they say.", missing: true, fetched: true, deleted: true, moved: true, err: `cannot use spec.forProvider.entrypoint "b": no such file or directory; the directories with a configuration: a`},
		"MovedThere":     {reason: "The same is true of a module that can be fetched.", fetched: true, deleted: true, moved: true, err: `cannot use spec.forProvider.entrypoint "b": no such file or directory; the directories with a configuration: a`},
		"DeletedMissing": {reason: "There is no version.", missing: true, deleted: true, err: "cannot fetch module"},
		"Stopped":        {reason: "The instance is stopping.", stopped: true, err: "cannot fetch module"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			address := filepath.Join(t.TempDir(), "module")
			if !tc.missing {
				filesystem.Write(t, address, filesystem.Files{"a/main.tf": ""})
			}

			entry := "a"
			if tc.moved {
				entry = "b"
			}

			p := newPlace(t)
			r := p.stubbed(t, firstUID, remote(address), entrypoint(entry))
			r.Deleted = tc.deleted

			if tc.fetched {
				replaceTree(t, r)
			}

			if tc.stopped {
				stop, cancel := context.WithCancel(t.Context())
				cancel()

				r.Stop = stop
			}

			err := callState(t.Context(), r)
			expectError(t, tc.reason, tc.err, err)

			if errors.As(err, &UnpreparedError{}) != (err != nil) {
				t.Errorf("\n%s\n%v is no UnpreparedError", tc.reason, err)
			}

			if failed := tc.missing && tc.fetched && tc.deleted; (r.FetchError() != nil) != failed {
				t.Errorf("\n%s\nFetchError(): %v", tc.reason, r.FetchError())
			}

			want := ""
			if tc.source {
				want = address
			}

			if got := r.Source(); got != want {
				t.Errorf("\n%s\nSource(): want %q, got %q", tc.reason, want, got)
			}

			if diff := cmp.Diff(tc.ran, p.ran(t, r)); diff != "" {
				t.Errorf("\n%s\nruns: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFilesAboveModule ensures that an error about a missing file beside the directory that the address selects has the
// remedy.
func TestFilesAboveModule(t *testing.T) {
	t.Parallel()

	const missing = "Unreadable module directory: Unable to evaluate directory symlink: lstat ../common: no such file or directory"

	cases := map[string]struct {
		reason  string
		sub     string
		entry   string
		command string
		says    string
		want    string
	}{
		"Init":       {reason: "A module calls another one.", sub: "//m/n", command: "init", says: missing, want: `remove "//m/n" from spec.forProvider.module, and set spec.forProvider.entrypoint to "m/n"`},
		"Plan":       {reason: "A function reads a file.", sub: "//m/n", command: "plan", says: `Invalid value for "path" parameter: no file exists at "../x"; this`, want: `entrypoint to "m/n"`},
		"Opened":     {reason: "Some functions say it in another way.", sub: "//m/n", command: "plan", says: `Call to function "filemd5" failed: open ../x: no such file or directory.`, want: `entrypoint to "m/n"`},
		"Query":      {reason: "A ref is no part of the directory.", sub: "//m/n?archive=false", command: "init", says: missing, want: `entrypoint to "m/n"`},
		"Entrypoint": {reason: "It is inside.", sub: "//m", entry: "n", command: "init", says: missing, want: `entrypoint to "m/n"`},
		"Other":      {reason: "The file is missing inside.", sub: "//m/n", command: "init", says: "lstat common: no such file or directory"},
		"Whole":      {reason: "All files are there.", entry: "m/n", command: "init", says: missing},
		"Pattern":    {reason: "An entrypoint is none.", sub: "//m/*", command: "init", says: missing},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			// The fetch of these tests takes all of the address for a path.
			address := t.TempDir() + tc.sub
			filesystem.Write(t, filepath.Join(address, tc.entry), filesystem.Files{"main.tf": ""})

			p := newPlace(t)
			p.answer(t, tc.command, fmt.Sprintf("printf 'Error: Missing\\n\\n%%s\\n' '%s' >&2; exit 1", tc.says))

			_, err := p.stubbed(t, firstUID, remote(address), entrypoint(tc.entry)).Plan(t.Context(), false)
			expectError(t, tc.reason, "Missing: ", err)

			if err != nil && (!strings.Contains(err.Error(), tc.want) || tc.want == "" && strings.Contains(err.Error(), "entrypoint")) {
				t.Errorf("%s: want %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestLinkedEntrypoint ensures that inputs are written where the entrypoint of a fetched module
// leads to, and nowhere outside of the module.
func TestLinkedEntrypoint(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	address := t.TempDir()
	filesystem.Write(t, address, filesystem.Files{"real/main.tf": `variable "a" {}`, "link": "-> real"})

	r := p.stubbed(t, firstUID, entrypoint("link"), variables, remote(address))
	expectError(t, "State(...)", "", callState(t.Context(), r))
	expectFiles(t, "during the run", r, filesystem.Files{
		"link": "-> real", "real/main.tf": `variable "a" {}`,
		"real/crossplane-provider-terraform-vars.tfvars":   "a = \"b\"\n",
		"real/crossplane-provider-terraform-0.tfvars":      "from-config-map\n",
		"real/crossplane-provider-terraform-1.tfvars.json": `{"a": "sesame-sesame"}`,
	})

	if diff := cmp.Diff([]string{"IN real " + initRun + variableFiles("DIR/real"), "IN real " + pullRun}, p.ran(t, r)); diff != "" {
		t.Errorf("runs: -want, +got:\n%s", diff)
	}

	// A program that the module ran has replaced the directory.
	outside := t.TempDir()
	other := p.stubbed(t, secondUID, entrypoint("a"), partialBackend)
	filesystem.Write(t, other.Dir.Path(), filesystem.Files{"a": "-> " + outside})

	_ = callState(t.Context(), other)

	if got := filesystem.Read(t, outside); len(got) != 0 {
		t.Errorf("files outside of the directory: want none, got %v", got)
	}
}

// TestIsModuleEmpty ensures that files of the ProviderConfig are not taken for the module.
func TestIsModuleEmpty(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		change []func(s *subject)
		want   bool
	}{
		"Comment":       {change: []func(*subject){inline("# Source: main.tf")}, want: true},
		"Configuration": {change: []func(*subject){inline(""), configuration("locals {}")}, want: true},
		"Credentials":   {change: []func(*subject){inline(""), credentials("providers.tf")}, want: true},
		"Entrypoint":    {change: []func(*subject){inline("terraform {}"), entrypoint("sub")}},
		"Resources":     {change: []func(*subject){inline(""), configuration("resource \"r\" \"r\" {}")}},
		"Block":         {change: []func(*subject){inline("terraform {}")}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			p.answerPlanned(t)

			r := p.stubbed(t, firstUID, tc.change...)
			if err := callPlan(t.Context(), r); err != nil {
				t.Fatal(err)
			}

			if got, err := r.IsModuleEmpty(true); got != tc.want || err != nil {
				t.Errorf("IsModuleEmpty(): want %t, got %t, %v", tc.want, got, err)
			}
		})
	}
}

// TestFetchEnvironment has a proxy in the environment of the Workspace, which leads to its cloud. It is for the runs.
func TestFetchEnvironment(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	filesystem.Write(t, dir, filesystem.Files{"main.tf": "fetched"})

	r := newPlace(t).stubbed(t, firstUID, remote(dir), environment("HTTPS_PROXY", "http://proxy.example.org"))
	if err := r.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
}
