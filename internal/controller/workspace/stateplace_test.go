// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

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
		want   statePlace
	}{
		"None":       {reason: "Without a backend init leaves nothing.", want: statePlace{onDisk: true, inWorkdir: true}},
		"NoBackend":  {reason: "A backend was taken away.", record: `{"version": 3}`, want: statePlace{onDisk: true, inWorkdir: true}},
		"Local":      {reason: "It is where it would be without.", record: `{"backend": {"type": "local", "config": {"path": null, "workspace_dir": null}}}`, want: statePlace{onDisk: true, inWorkdir: true}},
		"LocalPath":  {reason: "Another Workspace may have the same path.", record: `{"backend": {"type": "local", "config": {"path": "/states/a"}}}`, want: statePlace{onDisk: true}},
		"LocalDir":   {reason: "Another Workspace may have the same directory.", record: `{"backend": {"type": "local", "config": {"workspace_dir": "/states"}}}`, want: statePlace{onDisk: true}},
		"Kubernetes": {reason: "It is elsewhere.", record: `{"backend": {"type": "kubernetes", "config": {"namespace": "a"}}}`},
		"Cloud":      {reason: "It is elsewhere.", record: `{"backend": {"type": "cloud", "config": {}}}`},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := &session{target: &terraform.Workspace{Dir: t.TempDir()}}
			if tc.record != "" {
				writeBackendRecord(t, s.target.Dir, tc.record)
			}

			got, err := s.statePlace()
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(statePlace{})); diff != "" {
				t.Errorf("\n%s\nstatePlace(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStatePlaceOfMalice ensures that a module cannot make the provider read anything but
// a file in its own directory.
func TestStatePlaceOfMalice(t *testing.T) {
	t.Parallel()

	outside := t.TempDir()
	writeBackendRecord(t, outside, `{}`)

	cases := map[string]struct {
		reason string
		plant  func(path string) error
	}{
		"Broken":    {reason: "It is no JSON.", plant: func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) }},
		"Directory": {reason: "It is no file.", plant: func(path string) error { return os.Mkdir(path, 0o700) }},
		"Outside":   {reason: "It is elsewhere.", plant: func(path string) error { return os.Symlink(filepath.Join(outside, backendRecordFile), path) }},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := &session{target: &terraform.Workspace{Dir: t.TempDir()}}
			if err := os.Mkdir(filepath.Join(s.target.Dir, dataDir), 0o700); err != nil {
				t.Fatal(err)
			}

			if err := tc.plant(filepath.Join(s.target.Dir, backendRecordFile)); err != nil {
				t.Fatal(err)
			}

			if got, err := s.statePlace(); err == nil {
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
