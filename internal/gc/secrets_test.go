// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// planFile is a file with secrets.
const planFile = "run.tfplan"

// pathOf returns the path of a file in the directory of a Workspace, or of the plan among its records.
func pathOf(dir *workdir.Dir, name string) string {
	if name == planFile {
		return filepath.Join(dir.Records(), name)
	}

	return filepath.Join(dir.Path(), name)
}

// leave files in the directory of a Workspace like an instance that was killed.
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

	if err := os.MkdirAll(filepath.Join(dir.Path(), ".terraform"), 0o700); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{planFile, "terraform.tfstate", ".terraform/terraform.tfstate"} {
		if err := os.WriteFile(pathOf(dir, name), []byte(`{"backend": {"config": "sesame"}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	return dir
}

// expectLeft fails the test unless there are exactly these files, except the provider's own.
func expectLeft(t *testing.T, dir *workdir.Dir, reason string, want ...string) {
	t.Helper()

	have := []string{}

	for _, name := range []string{"main.tf", "sub/credential", planFile, "terraform.tfstate", ".terraform/terraform.tfstate"} {
		if _, err := os.Lstat(pathOf(dir, name)); err == nil {
			have = append(have, name)
		}
	}

	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(have))); diff != "" {
		t.Errorf("%s\nfiles: -want, +got:\n%s", reason, diff)
	}
}

func newSecretCleaner(root *workdir.Root, live client.Reader, served Served, interval time.Duration) *SecretCleaner {
	return &SecretCleaner{
		Root:         root,
		Live:         live,
		Served:       served,
		Interval:     interval,
		PollInterval: 10 * time.Minute,
		Remove:       runner.RemoveSecrets,
		Log:          logging.NewNopLogger(),
	}
}

func TestSecretCleaner(t *testing.T) {
	t.Parallel()

	kept := []string{"main.tf", "terraform.tfstate", ".terraform/terraform.tfstate"}
	everything := append([]string{"sub/credential", planFile}, kept...)

	cases := map[string]struct {
		reason   string
		interval time.Duration
		later    []string
	}{
		"Interval": {
			reason:   "Files that are left later are removed later.",
			interval: time.Hour,
			later:    kept,
		},
		"NoInterval": {
			reason: "Without an interval, files are removed at the start.",
			later:  everything,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			root, err := workdir.Open(t.TempDir(), time.Hour)
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

				// This instance serves all Workspaces.
				api := serving{labels: map[types.UID]labels.Set{}}
				for _, dir := range []*workdir.Dir{dead, used} {
					api.labels[types.UID(filepath.Base(dir.Path()))] = labels.Set{}
				}

				go func() {
					ended <- newSecretCleaner(root, api, shard.ID{}, tc.interval).Start(ctx)
				}()

				synctest.Wait()
				expectLeft(t, dead, "The secrets are not needed any more. A state is not a secret.", kept...)
				expectLeft(t, used, "A run needs its secrets.", everything...)

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

// TestSecretCleanerElsewhere has a run on another machine, whose lock may not be visible here.
// Its secrets are removed as soon as that run must be over, and no sooner.
func TestSecretCleanerElsewhere(t *testing.T) {
	t.Parallel()

	root, err := workdir.Open(t.TempDir(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}

	kept := []string{"main.tf", "terraform.tfstate", ".terraform/terraform.tfstate"}
	everything := append([]string{"sub/credential", planFile}, kept...)
	dir := leave(t, root, "0a0f3a2a-7f0e-4a52-9d56-6b5e2a4f0a01")
	record := `{"host": "other", "nonce": "a", "longest": 1200000000000}`

	if err := os.WriteFile(filepath.Join(dir.Records(), "use"), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)

		go func() {
			ended <- newSecretCleaner(root, serving{}, shard.ID{}, 0).Start(ctx)
		}()

		time.Sleep(19 * time.Minute)
		synctest.Wait()
		expectLeft(t, dir, "A run needs its secrets.", everything...)

		time.Sleep(2 * time.Minute)
		synctest.Wait()
		expectLeft(t, dir, "It takes 20 minutes at most.", kept...)

		cancel()

		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// serving is an API server that has Workspaces with the UIDs and labels, or fails.
type serving struct {
	client.Reader

	labels map[types.UID]labels.Set
	err    error
}

func (s serving) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	o := (&client.ListOptions{}).ApplyOptions(opts)
	l, ok := list.(*metav1.PartialObjectMetadataList)

	if !ok {
		return errors.Errorf("cannot list %T", list)
	}

	for uid, set := range s.labels {
		if o.LabelSelector.Matches(set) {
			l.Items = append(l.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: uid, Labels: set}})
		}
	}

	return s.err
}

func TestMovedAway(t *testing.T) {
	t.Parallel()

	const uid = "0a0f3a2a-7f0e-4a52-9d56-6b5e2a4f0a01"

	all := []string{".terraform/terraform.tfstate", "main.tf", "terraform.tfstate"}

	served, err := shard.Parse("a")
	if err != nil {
		t.Fatal(err)
	}

	cases := map[string]struct {
		reason string
		api    serving
		used   bool
		poll   time.Duration
		last   time.Duration
		want   []string
		err    bool
	}{
		"Elsewhere": {
			reason: "The instance that serves the Workspace now may have another disk. A state stays.",
			api:    serving{labels: map[types.UID]labels.Set{uid: {shard.LabelKey: "b"}}},
			last:   2 * minMovedAfter,
			want:   []string{"terraform.tfstate"},
		},
		"Gone": {
			reason: "No instance serves the Workspace.",
			last:   2 * minMovedAfter,
			want:   []string{"terraform.tfstate"},
		},
		"JustNow": {
			reason: "The instance that serves the Workspace now uses this disk.",
			last:   minMovedAfter - time.Minute,
			want:   all,
		},
		"LongInterval": {
			reason: "The instance that serves the Workspace now uses this disk at the next poll.",
			api:    serving{labels: map[types.UID]labels.Set{uid: {shard.LabelKey: "b"}}},
			poll:   6 * time.Hour,
			last:   11 * time.Hour,
			want:   all,
		},
		"TwoIntervals": {
			reason: "There was no poll on this disk.",
			api:    serving{labels: map[types.UID]labels.Set{uid: {shard.LabelKey: "b"}}},
			poll:   6 * time.Hour,
			last:   13 * time.Hour,
			want:   []string{"terraform.tfstate"},
		},
		"Here": {
			reason: "A Workspace that is rarely reconciled has not moved.",
			api:    serving{labels: map[types.UID]labels.Set{uid: {shard.LabelKey: "a"}}},
			last:   2 * minMovedAfter,
			want:   all,
		},
		"Used": {
			reason: "A run needs its inputs.",
			used:   true,
			last:   2 * minMovedAfter,
			want:   append([]string{planFile, "sub/credential"}, all...),
		},
		"Unknown": {
			reason: "Without an answer of the API server, only the secrets of runs are removed.",
			api:    serving{err: errors.New("boom")},
			last:   2 * minMovedAfter,
			want:   all,
			err:    true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			root, err := workdir.Open(t.TempDir(), time.Hour)
			if err != nil {
				t.Fatal(err)
			}

			dir := leave(t, root, uid)

			if tc.used {
				done, err := dir.Use(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer done()
			}

			// This changes the directory, too.
			if _, err := root.Sweep(t.Context(), runner.RemoveSecrets); err != nil {
				t.Fatal(err)
			}

			last := time.Now().Add(-tc.last)
			if err := os.Chtimes(dir.Records(), last, last); err != nil {
				t.Fatal(err)
			}

			c := newSecretCleaner(root, tc.api, served, 0)
			c.PollInterval = tc.poll

			if _, err := c.clean(t.Context()); tc.err != (err != nil) {
				t.Errorf("%s\nremove(...): want error %t, got %v", tc.reason, tc.err, err)
			}

			expectLeft(t, dir, tc.reason, tc.want...)
		})
	}
}
