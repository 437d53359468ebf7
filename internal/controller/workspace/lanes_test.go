// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/queue"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

func requestOf(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
}

// A laneFixture is a controller with lanes. The Workspace "a-1!" is urgent and
// belongs to tenant a.
type laneFixture struct {
	lanes *lanes

	// called are those that were called, in their order.
	called []string

	// working are the lanes of those that are being reconciled.
	working map[string]*lane
}

func newLaneFixture(n int) *laneFixture {
	f := &laneFixture{working: map[string]*lane{}}
	w := newTestWatch(newMemory())
	f.lanes = newLanes(n, w)
	f.lanes.waiting = queue.NewFair(func(r reconcile.Request) queue.Class {
		tenant, rest, _ := strings.Cut(r.Name, "-")
		c := queue.Class{Tenant: tenant}

		if strings.HasSuffix(rest, "!") {
			c.Priority = queue.Urgent
		}

		return c
	})
	f.lanes.call = func(r reconcile.Request) { f.called = append(f.called, r.Name) }

	return f
}

// begin a reconcile, and say whether it may apply.
func (f *laneFixture) begin(name string) bool {
	f.working[name] = f.lanes.arrive(requestOf(name))

	return f.working[name].enter()
}

// look begins a reconcile that has nothing to apply.
func (f *laneFixture) look(name string) { f.working[name] = f.lanes.arrive(requestOf(name)) }

func (f *laneFixture) end(name string) {
	f.lanes.leave(f.working[name])
	delete(f.working, name)
}

// fill all lanes, and let others wait.
func (f *laneFixture) fill(working []string, waiting ...string) {
	for _, name := range working {
		f.begin(name)
	}

	for _, name := range waiting {
		f.begin(name)
		f.end(name)
	}
}

func TestLanes(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		lanes  int
		do     func(f *laneFixture) []bool

		// entered is what do returned, called those that were called, and free how
		// many lanes are in the end.
		entered []bool
		called  []string
		free    int
	}{
		"Free": {
			reason:  "There are as many lanes as there are.",
			lanes:   2,
			do:      func(f *laneFixture) []bool { return []bool{f.begin("a-1"), f.begin("a-2"), f.begin("a-3")} },
			entered: []bool{true, true, false},
		},
		"Again": {
			reason: "Who is in a lane needs no other.",
			lanes:  2,
			do: func(f *laneFixture) []bool {
				return []bool{f.begin("a-1"), f.working["a-1"].enter()}
			},
			entered: []bool{true, true},
			free:    1,
		},
		"Left": {
			reason: "A lane that is left is free.",
			lanes:  1,
			do: func(f *laneFixture) []bool {
				f.begin("a-1")
				f.end("a-1")

				return nil
			},
			free: 1,
		},
		"Looked": {
			reason: "Who only looks takes no lane and leaves none.",
			lanes:  1,
			do: func(f *laneFixture) []bool {
				f.look("a-1")
				f.end("a-1")

				return nil
			},
			free: 1,
		},
		"Called": {
			reason: "Who waits is called when there is a lane, which is its own.",
			lanes:  1,
			do: func(f *laneFixture) []bool {
				f.fill([]string{"a-1"}, "a-2")
				f.end("a-1")

				return []bool{f.begin("a-3"), f.begin("a-2")}
			},
			entered: []bool{false, true},
			called:  []string{"a-2"},
		},
		"TakesTurns": {
			reason: "Tenants take turns, and what is urgent comes first.",
			lanes:  1,
			do: func(f *laneFixture) []bool {
				f.fill([]string{"a-1"}, "a-2", "a-3", "b-1", "c-1!")

				for _, name := range []string{"a-1", "c-1!", "a-2", "b-1"} {
					if f.working[name] == nil {
						f.begin(name)
					}

					f.end(name)
				}

				return nil
			},
			called: []string{"c-1!", "a-2", "b-1", "a-3"},
		},
		"Vanished": {
			reason: "Who does not need the lane any more does not keep it from the next one.",
			lanes:  1,
			do: func(f *laneFixture) []bool {
				f.fill([]string{"a-1"}, "a-2", "a-3")
				f.end("a-1")
				f.look("a-2")
				f.end("a-2")

				return []bool{f.begin("a-3")}
			},
			entered: []bool{true},
			called:  []string{"a-2", "a-3"},
		},
		"Newcomer": {
			reason: "Who comes while a lane is free but others wait gets in line.",
			lanes:  2,
			do: func(f *laneFixture) []bool {
				f.fill([]string{"a-1", "a-2"}, "a-3", "a-4")
				f.end("a-1")
				f.end("a-2")

				return []bool{f.begin("b-1"), f.begin("a-4"), f.begin("a-3")}
			},
			entered: []bool{false, true, true},
			called:  []string{"a-3", "a-4"},
		},
		"AskedAgain": {
			reason: "Who waits and asks again waits once.",
			lanes:  1,
			do: func(f *laneFixture) []bool {
				f.fill([]string{"a-1"}, "a-2", "a-2", "a-3")
				f.end("a-1")
				f.begin("a-2")
				f.end("a-2")

				return nil
			},
			called: []string{"a-2", "a-3"},
		},
		"CalledWhileWorking": {
			reason: "Who is called while it is looked at takes the lane that is kept for it, once.",
			lanes:  1,
			do: func(f *laneFixture) []bool {
				f.fill([]string{"a-1"}, "a-2")
				f.look("a-2")
				f.end("a-1")

				entered := f.working["a-2"].enter()
				f.end("a-2")
				f.look("a-2")
				f.end("a-2")

				return []bool{entered}
			},
			entered: []bool{true},
			called:  []string{"a-2"},
			free:    1,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newLaneFixture(tc.lanes)

			if diff := cmp.Diff(tc.entered, tc.do(f)); diff != "" {
				t.Errorf("\n%s\nenter(...): -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.called, f.called); diff != "" {
				t.Errorf("\n%s\ncalled: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.free, f.lanes.free); diff != "" {
				t.Errorf("\n%s\nfree lanes: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A crowd of Workspaces wants to be applied.
type crowd struct {
	*laneFixture

	rand     *rand.Rand
	todo     map[string]bool
	queued   []string
	applying []string
}

// pick and remove one of the supplied names.
func (c *crowd) pick(names *[]string) string {
	i := c.rand.IntN(len(*names))
	name := (*names)[i]
	*names = slices.Delete(*names, i, i+1)

	return name
}

// step ends an apply, or begins a reconcile of a Workspace that may have vanished.
func (c *crowd) step() {
	switch {
	case len(c.applying) > 0 && (len(c.queued) == 0 || c.rand.IntN(3) == 0):
		name := c.pick(&c.applying)
		c.end(name)
		delete(c.todo, name)
	case len(c.queued) > 0:
		c.reconcile(c.pick(&c.queued))
	}

	c.queued = append(c.queued, c.called...)
	c.called = nil
}

func (c *crowd) reconcile(name string) {
	switch {
	case c.rand.IntN(4) == 0:
		c.look(name)
		c.end(name)
		delete(c.todo, name)
	case c.begin(name):
		c.applying = append(c.applying, name)
	default:
		c.end(name)
	}
}

// TestLanesForgetNobody lets Workspaces come, wait, vanish and end in many orders:
// all are done in the end, without asking again.
func TestLanesForgetNobody(t *testing.T) {
	t.Parallel()

	const lanes = 2

	for seed := range uint64(2000) {
		c := &crowd{laneFixture: newLaneFixture(lanes), rand: rand.New(rand.NewPCG(seed, 0)), todo: map[string]bool{}}

		for _, name := range []string{"a-1", "a-2", "a-3", "b-1!", "b-2", "c-1"} {
			c.todo[name] = true
			c.queued = append(c.queued, name)
		}

		for range 1000 {
			c.step()

			if len(c.applying) > lanes {
				t.Fatalf("seed %d: %v apply at once", seed, c.applying)
			}
		}

		if len(c.todo) > 0 || c.lanes.free != lanes {
			t.Fatalf("seed %d: %v are forgotten, %d lanes are free", seed, c.todo, c.lanes.free)
		}
	}
}

// A stubClient has one Workspace, or none.
type stubClient struct {
	client.Client

	ws *clusterv1beta1.Workspace
}

func (c stubClient) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	to, ok := o.(*clusterv1beta1.Workspace)
	if c.ws == nil || !ok {
		return kerrors.NewNotFound(schema.GroupResource{}, key.Name)
	}

	c.ws.DeepCopyInto(to)

	return nil
}

func TestLanesReconciler(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		lanes  int
		want   reconcile.Result
		runs   int
		free   int
	}{
		"Free": {
			reason: "There is a lane, and it is free again in the end.",
			ws:     workspaceWithUID("a"),
			lanes:  1,
			runs:   1,
			free:   1,
		},
		"Waits": {
			reason: "There is none. It is asked again in case that nobody calls.",
			ws:     workspaceWithUID("a"),
			want:   reconcile.Result{RequeueAfter: laneTimeout},
		},
		"NotNeeded": {
			reason: "Who is settled needs none.",
			ws:     settled(),
			runs:   1,
		},
		"Vanished": {
			reason: "There is nothing to do.",
			lanes:  1,
			free:   1,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			runs := 0
			l := newLanes(tc.lanes, newTestWatch(newMemory()))
			r := l.outermost(l.reconciler(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
				runs++

				if diff := cmp.Diff(0, l.free); diff != "" {
					t.Errorf("\n%s\nfree lanes meanwhile: -want, +got:\n%s", tc.reason, diff)
				}

				return reconcile.Result{}, nil
			}), stubClient{ws: tc.ws}, workspace.Kind{Object: &clusterv1beta1.Workspace{}}))

			got, err := r.Reconcile(t.Context(), requestOf("a"))
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nReconcile(...): -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff([]int{tc.runs, tc.free}, []int{runs, l.free}); diff != "" {
				t.Errorf("\n%s\nruns and free lanes: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLaneNeeded(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		seen   *look
		want   bool
	}{
		"New":     {reason: "It is going to be created.", ws: workspaceWithUID("a"), want: true},
		"Settled": {reason: "It is polled.", ws: settled()},
		"Changed": {
			reason: "Its new specification is going to be applied.",
			ws:     settled(func(ws *clusterv1beta1.Workspace) { ws.SetGeneration(2) }),
			want:   true,
		},
		"Drifted": {
			reason: "The last plan said so.",
			ws:     settled(),
			seen:   &look{exists: true},
			want:   true,
		},
		"UpToDate": {
			reason: "The last plan said that there is nothing to do.",
			ws:     settled(),
			seen:   &look{exists: true, upToDate: true},
		},
		"Deleted":       {reason: "It is going to be destroyed.", ws: settled(deleted), want: true},
		"DeletedExists": {reason: "It is going to be destroyed.", ws: settled(deleted), seen: &look{exists: true, upToDate: true}, want: true},
		"Destroyed":     {reason: "It was destroyed already.", ws: settled(deleted), seen: &look{}},
		"Paused": {
			reason: "Nothing is done.",
			ws: settled(deleted, func(ws *clusterv1beta1.Workspace) {
				meta.AddAnnotations(ws, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
			}),
		},
		"Observed": {
			reason: "It is only looked at.",
			ws: settled(func(ws *clusterv1beta1.Workspace) {
				ws.SetGeneration(2)
				ws.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
			}),
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := newMemory()
			if tc.seen != nil {
				m.keep("a", *tc.seen)
			}

			if got := newLanes(1, newTestWatch(m)).needed(tc.ws); got != tc.want {
				t.Errorf("\n%s\nneeded(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
