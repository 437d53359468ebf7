// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	providerinstance "github.com/crossplane-contrib/provider-terraform/test/instance"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

func TestServedBy(t *testing.T) {
	t.Parallel()

	now := time.Now()

	cases := map[string]struct {
		reason string
		// changes has how long before now a file changed.
		changes map[string]time.Duration
		want    string
	}{
		"None": {
			reason: "No instance serves a Workspace without a workdir.",
			want:   "",
		},
		"Another": {
			reason:  "The workdir of another Workspace does not count.",
			changes: map[string]time.Duration{"shard-0/.records/other/main.tf": time.Second},
			want:    "",
		},
		"One": {
			reason:  "Where the workdir is there it is served.",
			changes: map[string]time.Duration{"shard-1/.records/uid/main.tf": time.Second},
			want:    "shard-1",
		},
		"Moved": {
			reason: "Both have a workdir; the one where something happened last counts.",
			changes: map[string]time.Duration{
				"shard-0/.records/uid/main.tf": 3 * time.Second,
				"shard-1/.records/uid/main.tf": 2 * time.Second,
			},
			want: "shard-1",
		},
		"MovedBack": {
			reason: "An old file does not hide a new one.",
			changes: map[string]time.Duration{
				"shard-0/.records/uid/main.tf": time.Minute,
				"shard-0/.records/uid/plan":    time.Second,
				"shard-1/.records/uid/main.tf": 2 * time.Second,
			},
			want: "shard-0",
		},
		"Forgotten": {
			reason:  "No instance serves a Workspace whose last run was too long ago.",
			changes: map[string]time.Duration{"shard-0/.records/uid/main.tf": forgotten + time.Second},
			want:    "",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			dir := t.TempDir()
			for file, ago := range tc.changes {
				touch(t, filepath.Join(dir, file), now.Add(-ago))
			}

			got, err := servedBy([]*instance{
				{shard: "shard-0", Instance: &providerinstance.Instance{Root: filepath.Join(dir, "shard-0")}},
				{shard: "shard-1", Instance: &providerinstance.Instance{Root: filepath.Join(dir, "shard-1")}},
			}, "uid", now)
			if err != nil {
				t.Fatalf("%s\nservedBy(...): %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nservedBy(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEnded starts an instance that ends by itself.
func TestEnded(t *testing.T) {
	t.Parallel()

	ended := make(chan error)
	d := &demo{dir: t.TempDir(), abort: func(err error) { ended <- err }}

	if err := program.WriteScript(d.provider(), "exit 3"); err != nil {
		t.Fatal(err)
	}

	if _, err := d.startInstance("shard-0", ""); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff("shard-0 ended by itself: exit status 3", message(<-ended)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// touch makes a file that has changed at the supplied time, as its directory has.
func touch(t *testing.T, file string, when time.Time) {
	t.Helper()

	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	for _, path := range []string{file, filepath.Dir(file)} {
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
}
