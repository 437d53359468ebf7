// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// gcOften makes an instance collect garbage all the time.
func gcOften() instanceOption { return withArgs("--gc-interval=1s") }

// TestGarbageCollection lets two shards collect the garbage in one directory. Each
// of them has only its own Workspaces in its cache.
func TestGarbageCollection(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, one, two, root := c.namespace(t), unique("shard"), unique("shard"), t.TempDir()
	a := startInstance(t, c, withShard(one), withRoot(root), gcOften())
	b := startInstance(t, c, withShard(two), withRoot(root), gcOften())

	kept := []string{}

	for _, s := range []scope{clusterScope, namespacedScope} {
		cfg := c.createConfig(t, s, ns, withoutBackend())
		text := withModule(moduleFile(t, "outputs.tf"))
		as := c.createWorkspace(t, s, ns, inShard(one), withConfig(cfg), text)
		bs := c.createWorkspace(t, s, ns, inShard(two), withConfig(cfg), text)
		unserved := c.createWorkspace(t, s, ns, withConfig(cfg), text)

		expectReady(t, c, as)
		expectReady(t, c, bs)
		kept = append(kept, a.workdir(string(as.GetUID())), b.workdir(string(bs.GetUID())), newDir(t, root, string(unserved.GetUID())))
	}

	// A directory whose name is not a UID is not a workdir.
	kept = append(kept, newDir(t, root, "plugin-cache"))

	expectCollection(t, root)

	// Whose directory the first round took may depend on whose round it was.
	a.stop(t)
	expectCollection(t, root)
	expectKept(t, kept...)
}

// TestGarbageCollectionWithoutListing makes the lists fail that the garbage collector
// needs. It must not remove anything then.
func TestGarbageCollectionWithoutListing(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		answer middleware
	}{
		"Failed": {
			reason: "A failed list is not an empty list.",
			answer: func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
			},
		},
		"Forbidden": {
			reason: "Without the right to list Workspaces it is not known which ones are gone.",
			answer: func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden)
			},
		},
		"OneKindForbidden": {
			reason: "Half of the Workspaces are not all of them.",
			answer: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if strings.Contains(r.URL.Path, "tf.m.upbound.io") {
					refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden)

					return
				}

				next.ServeHTTP(w, r)
			},
		},
		"HalfFinished": {
			reason: "The pages before a failed one are not the complete list.",
			answer: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				q := r.URL.Query()
				if q.Get("continue") != "" {
					refuse(w, http.StatusGone, metav1.StatusReasonExpired)

					return
				}

				q.Set("limit", "1")
				r.URL.RawQuery = q.Encode()
				next.ServeHTTP(w, r)
			},
		},
		"NoKindServed": {
			reason: "Where no Workspace can be, it is more likely that something is wrong than that all are gone.",
			answer: func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
			},
		},
	}

	c := shared.sharded.started(t)
	ns := c.namespace(t)

	// More than one of each kind, so that a page of one is not all.
	owners := []workspace.Workspace{}
	for range 2 {
		owners = append(owners,
			c.createWorkspace(t, clusterScope, ns, withModule("")),
			c.createWorkspace(t, namespacedScope, ns, withModule("")))
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			listings := &atomic.Int64{}
			p := startProxy(t, c, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !isOwnerListing(r) {
					next.ServeHTTP(w, r)

					return
				}

				listings.Add(1)
				tc.answer(w, r, next)
			})

			root := t.TempDir()
			dirs := []string{}

			for _, ws := range owners {
				dirs = append(dirs, newDir(t, root, string(ws.GetUID())))
			}

			orphan := newDir(t, root, string(uuid.NewUUID()))

			startInstance(t, c, withShard(unique("shard")), withRoot(root), withKubeconfig(p.kubeconfig), gcOften())
			expectMore(t, listings, 4)

			if _, err := os.Stat(orphan); err != nil {
				t.Errorf("%s: an orphan is gone all the same: %v", tc.reason, err)
			}

			expectKept(t, dirs...)

			// The collection continues as soon as possible.
			p.become(transparent)
			eventually(t, func() error { return isMissing(orphan) })
			expectKept(t, dirs...)
		})
	}
}

// TestGarbageCollectionDuringCreation creates a Workspace, and its workdir, right after
// the garbage collector has listed the Workspaces.
func TestGarbageCollectionDuringCreation(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, root := c.namespace(t), t.TempDir()

	listings := &atomic.Int64{}
	asked, born := make(chan struct{}), make(chan struct{}, 1)
	p := startProxy(t, c, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !isOwnerListing(r) {
			next.ServeHTTP(w, r)

			return
		}

		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)

		// The answer stays behind until it is no longer true.
		if listings.Add(1) <= 2 {
			select {
			case asked <- struct{}{}:
			case <-r.Context().Done():
				return
			}

			select {
			case <-born:
			case <-r.Context().Done():
				return
			}
		}

		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})

	// Where there is no directory at all there is no need to ask.
	newDir(t, root, string(uuid.NewUUID()))
	startInstance(t, c, withShard(unique("shard")), withRoot(root), withKubeconfig(p.kubeconfig), gcOften())

	dirs := []string{}

	for range 2 {
		select {
		case <-asked:
		case <-time.After(patience):
			t.Fatalf("the garbage collector did not ask within %s", patience)
		}

		for _, s := range []scope{clusterScope, namespacedScope} {
			ws := c.createWorkspace(t, s, ns, withModule(""))
			dirs = append(dirs, newDir(t, root, string(ws.GetUID())))
		}

		born <- struct{}{}
	}

	expectCollection(t, root)
	expectCollection(t, root)
	expectKept(t, dirs...)
}

// expectCollection waits until the garbage collector has removed a new directory without a
// Workspace. All earlier garbage is removed by then as well.
func expectCollection(t *testing.T, root string) {
	t.Helper()

	orphan := newDir(t, root, string(uuid.NewUUID()))

	eventually(t, func() error { return isMissing(orphan) })
}

// expectMore waits until the counter has grown by n.
func expectMore(t *testing.T, counter *atomic.Int64, n int64) {
	t.Helper()

	before := counter.Load()

	eventually(t, func() error {
		if now := counter.Load(); now < before+n {
			return errors.Errorf("want %d listings, got %d", n, now-before)
		}

		return nil
	})
}

func expectKept(t *testing.T, dirs ...string) {
	t.Helper()

	for _, dir := range dirs {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("a directory is gone that is still needed: %v", err)
		}
	}
}

func isMissing(dir string) error {
	_, err := os.Stat(dir)
	if os.IsNotExist(err) {
		return nil
	}

	return errors.Errorf("want %s to be gone, got %v", dir, err)
}

// newDir makes a directory with a file in it.
func newDir(t *testing.T, root, name string) string {
	t.Helper()

	dir := filepath.Join(root, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatalf("cannot make directory: %v", err)
	}

	if err := os.WriteFile(filepath.Join(dir, "main.tf"), nil, 0o600); err != nil {
		t.Fatalf("cannot write file: %v", err)
	}

	return dir
}
