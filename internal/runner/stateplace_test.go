// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

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
