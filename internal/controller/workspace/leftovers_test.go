// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// leave files in the directory of a Workspace as a session that was killed does.
func leave(t *testing.T, root *workdir.Root, uid string) *workdir.Dir {
	t.Helper()

	dir, err := root.Dir(uid)
	if err != nil {
		t.Fatal(err)
	}

	if err := dir.Sync(map[string]workdir.File{
		"main.tf":        {Data: []byte("module")},
		"sub/credential": {Data: []byte("sesame"), Secret: true},
	}); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{planFile, "terraform.tfstate"} {
		if err := os.WriteFile(filepath.Join(dir.Path(), name), []byte("sesame"), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	return dir
}

// expectLeft fails the test unless there are just these files, besides those that are
// the provider's own.
func expectLeft(t *testing.T, dir *workdir.Dir, reason string, want ...string) {
	t.Helper()

	have := []string{}

	for _, name := range []string{"main.tf", "sub/credential", planFile, "terraform.tfstate"} {
		if _, err := os.Lstat(filepath.Join(dir.Path(), name)); err == nil {
			have = append(have, name)
		}
	}

	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(have))); diff != "" {
		t.Errorf("%s\nfiles: -want, +got:\n%s", reason, diff)
	}
}

func TestLeftovers(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		interval time.Duration
		later    []string
	}{
		"Interval": {
			reason:   "What is left later is removed later.",
			interval: time.Hour,
			later:    []string{"main.tf", "terraform.tfstate"},
		},
		"NoInterval": {
			reason: "Who collects no garbage looks at the start.",
			later:  []string{"main.tf", "sub/credential", planFile, "terraform.tfstate"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			root, err := workdir.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}

			dead := leave(t, root, "0a0f3a2a-7f0e-4a52-9d56-6b5e2a4f0a01")
			used := leave(t, root, "0a0f3a2a-7f0e-4a52-9d56-6b5e2a4f0a02")

			done, err := used.Use(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer done()

			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)

				go func() { ended <- NewLeftovers(root, tc.interval, logging.NewNopLogger()).Start(ctx) }()

				synctest.Wait()
				expectLeft(t, dead, "Nobody needs secrets any more. A state is none.", "main.tf", "terraform.tfstate")
				expectLeft(t, used, "A session needs its secrets.", "main.tf", "sub/credential", planFile, "terraform.tfstate")

				dead = leave(t, root, "0a0f3a2a-7f0e-4a52-9d56-6b5e2a4f0a01")

				time.Sleep(2 * time.Hour)
				synctest.Wait()
				expectLeft(t, dead, tc.reason, tc.later...)

				cancel()

				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
