// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestBind(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		before func(t *testing.T, r *Root)
		// want is in the error. It is empty if there must be none.
		want  []string
		owner string
	}{
		"New": {
			reason: "The first cluster is the owner.",
			before: func(*testing.T, *Root) {},
			owner:  "b",
		},
		"Unmarked": {
			reason: "A root of an older version belongs to the first cluster that starts.",
			before: func(t *testing.T, r *Root) {
				t.Helper()
				dirOf(t, r, uidA)
			},
			owner: "b",
		},
		"Empty": {
			reason: "The machine failed before the name of the owner was on disk.",
			before: func(t *testing.T, r *Root) {
				t.Helper()
				write(t, filepath.Join(r.Path(), ".cluster"), "")
			},
			owner: "b",
		},
		"Own": {
			reason: "It stays the owner.",
			before: func(t *testing.T, r *Root) {
				t.Helper()
				write(t, filepath.Join(r.Path(), ".cluster"), "b\n")
			},
			owner: "b",
		},
		"Other": {
			reason: "Another cluster is refused, and the error says how to proceed.",
			before: func(t *testing.T, r *Root) {
				t.Helper()
				write(t, filepath.Join(r.Path(), ".cluster"), "a\n")
			},
			want:  []string{`belongs to cluster "a", and this is "b"`, "use another directory", "delete "},
			owner: "a",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := openRoot(t)
			tc.before(t, r)

			err := r.Bind("b")
			if (err != nil) != (len(tc.want) > 0) {
				t.Errorf("%s\nOwn(...): got error %v", tc.reason, err)
			}

			for _, text := range tc.want {
				if err == nil || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), r.Path()) {
					t.Errorf("%s\nOwn(...): want %q in error %v", tc.reason, text, err)
				}
			}

			got := filesystem.Read(t, r.Path())
			if diff := cmp.Diff(files{".cluster": tc.owner + "\n"}, got); diff != "" {
				t.Errorf("%s\nfiles: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBindAtOnce lets several clusters start on one root: exactly one becomes the owner.
func TestBindAtOnce(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	owners := make(chan string, 20)

	var wg sync.WaitGroup

	for range 10 {
		for _, cluster := range []string{"a", "b"} {
			wg.Go(func() {
				if reopened(t, r).Bind(cluster) == nil {
					owners <- cluster
				}
			})
		}
	}

	wg.Wait()
	close(owners)

	n := map[string]int{}
	for cluster := range owners {
		n[cluster]++
	}

	if n["a"]+n["b"] != 10 || n["a"]*n["b"] != 0 {
		t.Errorf("want all 10 instances of one cluster and none of the other to start, got %v", n)
	}
}
