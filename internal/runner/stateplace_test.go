// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

func TestStatePlace(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		record string
		want   StatePlace
	}{
		"None":       {reason: "Without a backend init leaves nothing.", want: StatePlace{OnDisk: true, InWorkdir: true}},
		"NoBackend":  {reason: "The backend was removed.", record: `{"version": 3}`, want: StatePlace{OnDisk: true, InWorkdir: true}},
		"Local":      {reason: "It is in the same place as without a backend.", record: `{"backend": {"type": "local", "config": {"path": null, "workspace_dir": null}}}`, want: StatePlace{OnDisk: true, InWorkdir: true}},
		"LocalPath":  {reason: "Another Workspace may have the same path.", record: `{"backend": {"type": "local", "config": {"path": "/states/a"}}}`, want: StatePlace{OnDisk: true}},
		"LocalDir":   {reason: "Another Workspace may have the same directory.", record: `{"backend": {"type": "local", "config": {"workspace_dir": "/states"}}}`, want: StatePlace{OnDisk: true}},
		"Kubernetes": {reason: "It is elsewhere.", record: `{"backend": {"type": "kubernetes", "config": {"namespace": "a"}}}`},
		"Cloud":      {reason: "It is elsewhere.", record: `{"backend": {"type": "cloud", "config": {}}}`},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := &Runner{run: &terraform.Workspace{Dir: t.TempDir()}}
			if tc.record != "" {
				writeBackendRecord(t, r.run.Dir, tc.record)
			}

			got, err := r.StatePlace()
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(StatePlace{})); diff != "" {
				t.Errorf("\n%s\nstatePlace(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStateArguments tests that no command uses another state than the one whose owner is checked.
func TestStateArguments(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(s *subject)
		err    string
	}{
		"Plan":         {reason: "The plan would be for another state.", change: func(s *subject) { s.PlanArgs = []string{"-lock=false", "-state=/a"} }, err: `"-state"`},
		"Apply":        {reason: "The value may be another argument.", change: func(s *subject) { s.ApplyArgs = []string{"--state", "/a"} }, err: `"-state"`},
		"Destroy":      {reason: "It would destroy the other state.", change: func(s *subject) { s.DestroyArgs = []string{"-state-out=/a"} }, err: `"-state-out"`},
		"Backup":       {reason: "It overwrites a file.", change: func(s *subject) { s.ApplyArgs = []string{"-backup=/a"} }, err: `"-backup"`},
		"Environment":  {reason: "It has arguments, too.", change: environment("TF_CLI_ARGS", "-no-color -state=/a"), err: `"-state"`},
		"Command":      {reason: "So have its variables for one command.", change: environment("TF_CLI_ARGS_plan", "-state=/a"), err: `"-state"`},
		"Quoted":       {reason: "The CLI removes quotation marks.", change: environment("TF_CLI_ARGS_apply", `-s"ta"t\e '/a'`), err: `"-state"`},
		"NameWithSign": {reason: "A name may have a part of the value.", change: environment("TF_CLI_ARGS=-state", "/a"), err: `"-state"`},
		"NoBackup":     {reason: "It is about no file.", change: func(s *subject) { s.ApplyArgs = []string{"-backup=-"} }},
		"Others":       {reason: "They are about the same state.", change: func(s *subject) { s.PlanArgs = []string{"-var=state=/a", "-target=state", "state"} }},
		"OtherEnv":     {reason: "It has no arguments.", change: environment("A", "-state=/a")},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := gather(t, tc.change)
			expectError(t, tc.reason, tc.err, err)
		})
	}
}

func environment(name, value string) func(s *subject) {
	return func(s *subject) { s.Env = []commonv1beta1.EnvVar{{Name: name, Value: value}} }
}

// TestStatePlaceOfMalice ensures that a module cannot make the provider read anything except a
// file in its own directory.
func TestStatePlaceOfMalice(t *testing.T) {
	t.Parallel()

	outside := t.TempDir()
	writeBackendRecord(t, outside, `{}`)

	cases := map[string]struct {
		reason string
		plant  func(path string) error
	}{
		"Broken":    {reason: "It is not JSON.", plant: func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) }},
		"Directory": {reason: "It is not a file.", plant: func(path string) error { return os.Mkdir(path, 0o700) }},
		"Outside":   {reason: "It is elsewhere.", plant: func(path string) error { return os.Symlink(filepath.Join(outside, backendRecordFile), path) }},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := &Runner{run: &terraform.Workspace{Dir: t.TempDir()}}
			if err := os.Mkdir(filepath.Join(r.run.Dir, dataDir), 0o700); err != nil {
				t.Fatal(err)
			}

			if err := tc.plant(filepath.Join(r.run.Dir, backendRecordFile)); err != nil {
				t.Fatal(err)
			}

			if got, err := r.StatePlace(); err == nil {
				t.Errorf("%s: want an error, got %+v", tc.reason, got)
			}
		})
	}
}

func writeBackendRecord(t *testing.T, dir, text string) {
	t.Helper()

	path := filepath.Join(dir, backendRecordFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
