// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
)

// stubFiles are those of one pod.
type stubFiles struct {
	mu    sync.Mutex
	wrote map[string]string
	ended map[string]bool
}

// of returns the files as the process with the supplied identity uses them.
func (r *stubFiles) of(identity string) ProcessFiles { return &ownFiles{stubFiles: r, me: identity} }

type ownFiles struct {
	*stubFiles

	me string
}

func (r *ownFiles) Begin(identity string) error {
	r.mu.Lock()
	defer r.mu.Unlock()

	if _, ok := r.wrote[identity]; !ok {
		r.wrote[identity] = ""
	}

	return nil
}

func (r *ownFiles) Wrote(version string) error {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.wrote[r.me] = version

	return nil
}

func (r *ownFiles) Last(identity string) string {
	r.mu.Lock()
	defer r.mu.Unlock()

	if !r.ended[identity] {
		return ""
	}

	return r.wrote[identity]
}

func (r *ownFiles) Remove(identity string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	delete(r.wrote, identity)
}

func (r *stubFiles) end(identity string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.ended[identity] = true
}

func (r *stubFiles) names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()

	names := []string{}
	for id := range r.wrote {
		names = append(names, id)
	}

	return names
}

// TestRestart kills the holder of a Lease and starts the next process in the same pod.
func TestRestart(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		ended  bool
		other  bool
		change func(*coordinationv1.Lease) *coordinationv1.Lease

		// after is the time from the start of the next process until it takes the Lease.
		after time.Duration
	}{
		"Dead":     {reason: "It knows that the holder is dead.", ended: true},
		"Alive":    {reason: "The holder, or a child of it, may be alive.", after: time.Minute},
		"OtherPod": {reason: "The holder was not in its pod.", ended: true, other: true, after: time.Minute},
		"Changed":  {reason: "Another instance may have taken the Lease before a person restored it.", ended: true, change: edited(), after: time.Minute},
		"Emptied":  {reason: "The same is true of an empty Lease.", ended: true, change: edited(heldBy("")), after: time.Minute},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &apiServer{}
				here := &stubFiles{wrote: map[string]string{}, ended: map[string]bool{}}
				there := &stubFiles{wrote: map[string]string{}, ended: map[string]bool{}}

				a := newCandidate(s, rival, standard())
				a.options.Files = here.of(rival)
				a.start(t)

				b := newCandidate(s, me, standard())
				if tc.other {
					b.options.Files = there.of(me)
				} else {
					b.options.Files = here.of(me)
				}

				until(outage)
				a.end()

				if tc.ended {
					here.end(rival)
				}

				if tc.change != nil {
					s.change(tc.change)
				}

				b.start(t)
				until(outage + 2*time.Minute)

				if got, _, _ := b.events(); got < outage+tc.after || got > outage+tc.after+5*time.Second {
					t.Errorf("%s\nthe Lease was taken after %s, want %s", tc.reason, got-outage, tc.after)
				}

				if hosts, _ := b.Predecessors(); len(hosts) != 1 || hosts[0] != HostOf(rival) {
					t.Errorf("%s\nPredecessors(): %q", tc.reason, hosts)
				}

				// Old files do not pile up.
				if !tc.other {
					if diff := cmp.Diff([]string{me}, here.names()); diff != "" {
						t.Errorf("%s\nfiles: -want, +got:\n%s", tc.reason, diff)
					}
				}

				b.end()

				if err := b.Release(t.Context()); err != nil {
					t.Errorf("%s\nRelease(...): %v", tc.reason, err)
				}

				if got := append(here.names(), there.names()...); !tc.other && len(got) > 0 {
					t.Errorf("%s\nfiles after the release: %q", tc.reason, got)
				}
			})
		})
	}
}
