// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// lockedBy is the refusal of a CLI because of a lock.
func lockedBy(who string, at time.Time) error {
	return &terraform.Error{Diagnostics: []terraform.Diagnostic{{
		Summary: "Error acquiring the state lock",
		Detail:  "Lock Info:\n  ID: 1\n  Operation: OperationTypeApply\n  Who: " + who + "\n  Created: " + at.UTC().String() + "\n",
	}}}
}

// expectRefusal ensures that the refusal of a lock has the supplied text.
func expectRefusal(t *testing.T, e *external, want string, run func() error) {
	t.Helper()

	err := e.planner.locks.withLock(t.Context(), with(), run)
	if err == nil || err.Error() != want || !terraform.IsLocked(err) {
		t.Errorf("want %q, got %v", want, err)
	}
}

func TestLocking(t *testing.T) {
	t.Parallel()

	const host = "host-0"

	errBoom := errors.New("boom")

	cases := map[string]struct {
		reason string
		do     func(t *testing.T, e *external)
		want   bool
	}{
		"Failed": {
			reason: "A run that failed may have left its lock.",
			do: func(t *testing.T, e *external) {
				t.Helper()

				if err := e.planner.locks.withLock(t.Context(), with(), func() error { return errBoom }); !errors.Is(err, errBoom) {
					t.Errorf("want the error of the run, got %v", err)
				}
			},
			want: true,
		},
		"Planned": {
			reason: "A plan without a lock that succeeds does not prove that there is no lock.",
			do: func(t *testing.T, e *external) {
				t.Helper()

				_ = e.planner.locks.withLock(t.Context(), with(), func() error { return errBoom })
				if err := e.planner.locks.retryAfterUnlock(t.Context(), with(), true, func() error { return nil }); err != nil {
					t.Error(err)
				}
			},
			want: true,
		},
		"Locked": {
			reason: "A run that held the lock has released it.",
			do: func(t *testing.T, e *external) {
				t.Helper()

				_ = e.planner.locks.withLock(t.Context(), with(), func() error { return errBoom })
				if err := e.planner.locks.withLock(t.Context(), with(), func() error { return nil }); err != nil {
					t.Error(err)
				}
			},
		},
		"Refused": {
			reason: "A run that was refused the lock does not hold it.",
			do: func(t *testing.T, e *external) {
				t.Helper()

				before := time.Now()

				err := e.planner.locks.withLock(t.Context(), with(), func() error { return lockedBy("alice@"+host, before) })
				if err == nil || !strings.Contains(err.Error(), "left alone") || !terraform.IsLocked(err) {
					t.Errorf("want an error that names the holder of the lock, got %v", err)
				}
			},
		},
		"RefusedByUnknown": {
			reason: "The CLI reports the lock that it wanted: the holder of the existing lock is unknown. Each attempt has the same error.",
			do: func(t *testing.T, e *external) {
				t.Helper()

				const (
					locked = "Error acquiring the state lock: Error message: Workspace is already locked: ws"
					failed = "Error acquiring the state lock: Error message: pq: sorry, too many clients already"
				)

				for said, want := range map[string]string{locked: locked + ": the backend does not say who holds it", failed: failed} {
					for _, id := range []string{"1", "2"} {
						expectRefusal(t, e, want, func() error {
							now := time.Now()

							return errors.Wrapf(lockedBy("root@"+host, now), "%s Lock Info: ID: %s Who: root@%s Created: %s", said, id, host, now)
						})
					}
				}
			},
		},
		"RefusedByID": {
			reason: "Terraform and the http backend name the ID of the existing lock, beside the lock that the CLI wanted. Each attempt has the same error.",
			do: func(t *testing.T, e *external) {
				t.Helper()

				const want = "the state is locked (lock ID 7): it is left alone, because the CLI does not say who holds it. If nothing holds it any more, remove it with the command force-unlock of the CLI and the same backend"

				expectRefusal(t, e, want, func() error {
					own := lockedBy("root@"+host, time.Now())
					if e := (&terraform.Error{}); errors.As(own, &e) {
						e.Diagnostics[0].Detail = "Error message: HTTP remote state already locked:\nID=7\n" + e.Diagnostics[0].Detail
					}

					return own
				})
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with())
			tc.do(t, r.external)

			if got := r.Locks.FailedRuns.Any("a"); got != tc.want {
				t.Errorf("\n%s\nwant a failure that counts: %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestRecordedRun has runs during which this process may die.
func TestRecordedRun(t *testing.T) {
	t.Parallel()

	known := func(ws *clusterv1beta1.Workspace) {
		ws.Status.AtProvider.State = &commonv1beta1.StateSummary{Lineage: ownLineage}
	}

	cases := map[string]struct {
		reason   string
		ws       *clusterv1beta1.Workspace
		lockFree bool
		err      error
		during   int // The number of recorded runs.
		after    int
	}{
		"Succeeded":       {reason: "It has released its lock.", ws: with(known), during: 1},
		"Failed":          {reason: "It may not have released its lock.", ws: with(known), err: errors.New("boom"), during: 1, after: 1},
		"Refused":         {reason: "It had no lock.", ws: with(known), err: lockedBy("alice@laptop", time.Now().Add(-time.Hour)), during: 1},
		"FirstPlan":       {reason: "A plan without a lock locks the state to make it.", ws: with(), lockFree: true, during: 1},
		"FailedFirstPlan": {reason: "It may not have released that lock.", ws: with(), lockFree: true, err: errors.New("boom"), during: 1, after: 1},
		"Poll":            {reason: "A plan without a lock does not lock a state that exists.", ws: with(known), lockFree: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var during []statelock.Run

			r := newAttempt(t, tc.ws)
			before := time.Now()

			_ = r.planner.locks.retryAfterUnlock(t.Context(), r.ws, tc.lockFree, func() error {
				during = r.runner.failedRuns

				return tc.err
			})

			if diff := cmp.Diff([]int{tc.during, tc.after}, []int{len(during), len(r.runner.failedRuns)}); diff != "" {
				t.Fatalf("\n%s\nrecorded runs during the run and after it: -want, +got:\n%s", tc.reason, diff)
			}

			for _, run := range during {
				want := statelock.Run{Who: r.Locks.Who(), Start: run.Start, PlanWithoutLock: tc.lockFree}
				if diff := cmp.Diff(want, run); diff != "" || run.Start.Before(before) {
					t.Errorf("\n%s\nrecord of the run in progress, which began at %s: -want, +got:\n%s", tc.reason, run.Start, diff)
				}
			}

			for _, run := range r.runner.failedRuns {
				if run.End.Before(run.Start) {
					t.Errorf("\n%s\nthe run ended at %s", tc.reason, run.End)
				}
			}
		})
	}
}

func TestUnrecordedRun(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with())
	r.runner.recordErr = errors.New("no space left on device")

	err := r.planner.locks.withLock(t.Context(), r.ws, func() error {
		t.Error("there was a run without a record")

		return nil
	})
	if !errors.Is(err, r.runner.recordErr) {
		t.Errorf("want the error of the record, got %v", err)
	}
}

// TestLockOfDeadHost has a lock that was made on the host of a dead predecessor.
func TestLockOfDeadHost(t *testing.T) {
	t.Parallel()

	const longest = time.Hour

	made := time.Now().Add(-time.Minute)

	cases := map[string]struct {
		reason  string
		died    bool
		elapsed time.Duration
		want    string
	}{
		"InRun":    {reason: "The predecessor died in a run.", died: true},
		"NoRecord": {reason: "Another cluster may have an instance with that host name.", want: "no record of a run that made the lock"},
		"Old":      {reason: "No run takes that long.", elapsed: longest},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(owner))
			r.planned(terraform.Plan{}, ownState())
			r.Locks.LongestRun = longest
			r.Locks.Predecessors = func(client.Object) statelock.Predecessors {
				return statelock.Predecessors{Hosts: []string{r.Locks.Host}, Until: time.Now()}
			}
			r.now = func() time.Time { return time.Now().Add(tc.elapsed) }

			if tc.died {
				r.runner.failedRuns = []statelock.Run{{Who: r.Locks.Who(), Start: made.Add(-time.Second)}}
			}

			err := r.planner.locks.withLock(t.Context(), r.ws, func() error {
				if !slices.Contains(r.runner.ran, "force-unlock") {
					return lockedBy(r.Locks.Who(), made)
				}

				return nil
			})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("\n%s\nwant an error with %q, got %v", tc.reason, tc.want, err)
			}

			if err == nil {
				return
			}

			// The retries do not go past the time at which the lock is removed.
			for range 20 {
				r.recordFailure(r.ws, err)
			}

			if retry := r.records.Get(r.ws).Failures.Retry; retry.After(made.Add(longest)) {
				t.Errorf("\n%s\nthe next try is at %s", tc.reason, retry)
			}
		})
	}
}

func TestWhyLocked(t *testing.T) {
	t.Parallel()

	const name = "ws"

	cases := map[string]struct {
		reason   string
		policies []xpv2.ManagementAction
		users    []string
		who      string
		want     string
	}{
		"Alone": {
			reason: "No other Workspace works with the state.",
			users:  []string{name, "another"},
			who:    "root@dead",
		},
		"Alive": {
			reason: "Its holder may be alive.",
			users:  []string{name},
			who:    "alice@laptop",
			want:   "its holder may be alive: no dead instance of this provider has made it",
		},
		"Shared": {
			reason: "Another Workspace works with the state and may hold the lock.",
			users:  []string{name, name},
			who:    "root@dead",
			want:   "it may be held for another Workspace with the same external name that this instance works on now, which may use the same backend",
		},
		"OnlyObserves": {
			reason:   "A Workspace that only observes leaves the lock to the owner of the state.",
			policies: []xpv2.ManagementAction{xpv2.ManagementActionObserve},
			users:    []string{name},
			who:      "root@dead",
			want:     "this Workspace only observes the state",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(policies(tc.policies...)))
			r.Locks.Predecessors = func(client.Object) statelock.Predecessors { return statelock.Predecessors{Hosts: []string{"dead"}} }

			for _, user := range tc.users {
				r.Locks.Users.Use(user)
			}

			got, _, err := r.planner.locks.whyLocked(t.Context(), r.ws, terraform.Lock{Who: tc.who, Created: "2026-01-02 03:04:05 +0000 UTC"})
			if err != nil || got != tc.want {
				t.Errorf("\n%s\nwhyLocked(...): want %q, got %q, %v", tc.reason, tc.want, got, err)
			}
		})
	}
}

func TestLockedError(t *testing.T) {
	t.Parallel()

	inner := lockedBy("alice@laptop", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

	l, ok := terraform.LockOf(inner)
	if !ok {
		t.Fatal("the lock is not known")
	}

	err := statelock.LockedError{Err: inner, Lock: l, Why: "its holder may be alive: no dead instance of this provider has made it"}

	const want = "the state is locked by alice@laptop since 2026-01-02T03:04:05Z, for apply (lock ID 1): it is left alone, because its holder may be alive: no dead instance of this provider has made it. If nothing holds it any more, remove it with the command force-unlock of the CLI and the same backend. What a killed run has created may be missing in the state: look for it first"

	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("Error(): -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(inner, error(err), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("the error of the CLI is lost: -want, +got:\n%s", diff)
	}

	err.Lease = "ns/lock-tfstate-ws"
	if got := err.Error(); !strings.Contains(got, "If nothing holds it any more, delete the Lease ns/lock-tfstate-ws. ") {
		t.Errorf("Error() of the lock on a state in this cluster: got %q", got)
	}

	err.Lock.Operation, err.Lease = "init", ""
	if got := err.Error(); !strings.HasSuffix(got, "with the backend kubernetes the holder in the Lease with that ID, with s3 the object whose name ends in .tflock") {
		t.Errorf("Error() of the lock on a state that is being made: got %q", got)
	}
}

// anotherCreating is another Workspace that has begun to create something in the Terraform
// workspace of the supplied name.
func anotherCreating(name string) client.Object {
	ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "other", UID: "b"}}
	meta.SetExternalName(ws, name)
	workspace.BeginCreation(ws, commonv1beta1.StateSummary{}, time.Now())

	return ws
}

// TestUnlock checks a lock of a host on which an instance died. The lock stays if an instance
// that is alive may have made it there, for another Workspace with the same state. Pods of a
// StatefulSet keep their names.
func TestUnlock(t *testing.T) {
	t.Parallel()

	const host = "pod-0"

	plan, pull, unlock := "plan", "state pull", "force-unlock"
	blank := terraform.State{Lineage: ownLineage, Serial: 1}
	refused := lockedBy("root@"+host, time.Now())

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		others []client.Object
		state  terraform.State
		err    error
		served bool
		shared bool
		ran    []string
		want   string
	}{
		"OwnName": {
			reason: "Nor one of the same name that this instance works on now.",
			ws:     with(owner),
			state:  ownState(),
			shared: true,
			ran:    []string{plan, pull, unlock, plan},
		},
		"SharedName": {
			reason: "The other one may work on the same state, which nothing owns yet.",
			ws:     with(begun),
			state:  blank,
			shared: true,
			ran:    []string{plan, pull},
			want:   "it may be held for another Workspace with the same external name",
		},
		"Own": {
			reason: "No other Workspace changes a state that has an owner.",
			ws:     with(owner),
			others: []client.Object{anotherCreating("ws")},
			state:  ownState(),
			served: true,
			ran:    []string{plan, pull, unlock, plan},
		},
		"Alone": {
			reason: "There is no other Workspace.",
			ws:     with(begun),
			state:  blank,
			served: true,
			ran:    []string{plan, pull, unlock, plan},
		},
		"Copy": {
			reason: "A copy creates something in the same state.",
			ws:     with(begun),
			others: []client.Object{anotherCreating("ws")},
			state:  blank,
			served: true,
			ran:    []string{plan, pull},
			want:   `it may be held for the Workspace "ns/other" of tf.m.upbound.io`,
		},
		"CopyWithoutState": {
			reason: "A copy creates the same state.",
			ws:     with(begun),
			others: []client.Object{anotherCreating("ws")},
			err:    refused,
			served: true,
			ran:    []string{plan, pull},
			want:   `it may be held for the Workspace "ns/other" of tf.m.upbound.io`,
		},
		"CopyElsewhere": {
			reason: "The instance that serves the copy is on another host.",
			ws:     with(begun),
			others: []client.Object{anotherCreating("ws")},
			state:  blank,
			ran:    []string{plan, pull, unlock, plan},
		},
		"OtherName": {
			reason: "The other one has another Terraform workspace.",
			ws:     with(begun),
			others: []client.Object{anotherCreating("other")},
			state:  blank,
			served: true,
			ran:    []string{plan, pull, unlock, plan},
		},
		"OtherState": {
			reason: "The other one has another state.",
			ws:     with(begun),
			others: []client.Object{anotherOwner(otherLineage)},
			state:  blank,
			served: true,
			ran:    []string{plan, pull, unlock, plan},
		},
		"OtherOwner": {
			reason: "The existing state belongs to the other one.",
			ws:     with(begun),
			others: []client.Object{anotherOwner(otherLineage)},
			state:  otherState(),
			served: true,
			ran:    []string{plan, pull},
			want:   `it may be held for the Workspace "ns/other" of tf.m.upbound.io`,
		},
		"Unreadable": {
			reason: "It is not known which state is locked.",
			ws:     with(begun),
			err:    errors.New("backend is away"),
			ran:    []string{plan, pull},
			want:   "backend is away",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws, tc.others...)
			r.runner.state, r.runner.stateErr = &tc.state, tc.err
			r.Locks.Predecessors = func(client.Object) statelock.Predecessors { return statelock.Predecessors{Hosts: []string{host}} }
			r.Locks.IsServed = func(_ context.Context, o client.Object, on string) bool {
				return tc.served && o.GetUID() == "b" && on == host
			}

			r.Locks.Users.Use("ws")

			if tc.shared {
				r.Locks.Users.Use("ws")
			}

			err := r.planner.locks.withLock(t.Context(), r.ws, func() error {
				r.runner.ran = append(r.runner.ran, plan)
				if len(r.runner.ran) == 1 {
					return refused
				}

				return nil
			})
			if (tc.want == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("\n%s\nwant an error with %q, got %v", tc.reason, tc.want, err)
			}

			if diff := cmp.Diff(tc.ran, r.runner.ran); diff != "" {
				t.Errorf("\n%s\nruns: -want, +got:\n%s", tc.reason, diff)
			}

			removed := counts{}
			if slices.Contains(tc.ran, unlock) {
				removed = counts{"lock removed"}
			}

			if diff := cmp.Diff(removed, *r.counts); diff != "" {
				t.Errorf("\n%s\nmetrics: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUnlockThroughKubernetes has locks that the CLI cannot remove, because it removes only those
// of the selected workspace.
func TestUnlockThroughKubernetes(t *testing.T) {
	t.Parallel()

	const id = "33333333-3333-3333-3333-333333333333"

	cases := map[string]struct {
		reason    string
		workspace string
		lock      terraform.Lock
		change    func(b *runner.KubernetesBackend)
		want      bool
	}{
		"Own":          {reason: "The state was being made.", workspace: "ws", lock: terraform.Lock{ID: id, Operation: "init"}, want: true},
		"Default":      {reason: "The CLI also makes the state of the default workspace.", workspace: terraform.DefaultWorkspace, lock: terraform.Lock{ID: id, Operation: "init"}, want: true},
		"DefaultApply": {reason: "That state belongs to another Workspace.", workspace: terraform.DefaultWorkspace, lock: terraform.Lock{ID: id, Operation: "OperationTypeApply"}},
		"Other":        {reason: "The lock is not on this state.", workspace: "other", lock: terraform.Lock{ID: id, Operation: "init"}},
		"OtherLock":    {reason: "Another process has locked the state since.", workspace: "ws", lock: terraform.Lock{ID: "4", Operation: "init"}},
		"NoServer": {
			reason: "Nothing speaks against this cluster.", workspace: "ws", lock: terraform.Lock{ID: id},
			change: func(b *runner.KubernetesBackend) { b.Server = "" }, want: true,
		},
		"OtherServer": {
			reason: "The lock is in another cluster.", workspace: "ws", lock: terraform.Lock{ID: id},
			change: func(b *runner.KubernetesBackend) { b.Server = "https://there" },
		},
		"OtherNamespace": {
			reason: "A tenant may write any ID to a lock.", workspace: "ws", lock: terraform.Lock{ID: id},
			change: func(b *runner.KubernetesBackend) { b.Namespace = "other" },
		},
		"OtherSuffix": {
			reason: "It is in another backend.", workspace: "ws", lock: terraform.Lock{ID: id},
			change: func(b *runner.KubernetesBackend) { b.Suffix = "y" },
		},
		"OtherBackend": {
			reason: "The lock is not in Kubernetes.", workspace: "ws", lock: terraform.Lock{ID: id},
			change: func(b *runner.KubernetesBackend) { *b = runner.KubernetesBackend{} },
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			lease := &coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Namespace: "states", Name: "lock-tfstate-" + tc.workspace + "-x"},
				Spec:       coordinationv1.LeaseSpec{HolderIdentity: new(id)},
			}
			r := newAttempt(t, with(), lease)
			r.runner.unlockErr = errors.New("state is already unlocked")
			r.server, r.runner.backend = "https://here", runner.KubernetesBackend{Server: "https://here", Namespace: "states", Suffix: "x"}

			if tc.change != nil {
				tc.change(&r.runner.backend)
			}

			err := r.planner.locks.unlock(t.Context(), r.ws, tc.lock)

			if e := r.kube.Get(t.Context(), client.ObjectKeyFromObject(lease), lease); e != nil {
				t.Fatal(e)
			}

			if diff := cmp.Diff([]bool{tc.want, tc.want}, []bool{err == nil, lease.Spec.HolderIdentity == nil}); diff != "" {
				t.Errorf("\n%s\nwhether it succeeds and the Lease is released: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLockLease ensures that the Lease of a lock is named only if it is certain that it is the lock.
func TestLockLease(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		server, operation, want string
	}{
		"Here":       {server: "https://here", operation: "OperationTypeApply", want: "states/lock-tfstate-ws-x"},
		"Elsewhere":  {server: "https://there", operation: "OperationTypeApply"},
		"MakesState": {server: "https://here", operation: "init"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with())
			r.server, r.runner.backend = "https://here", runner.KubernetesBackend{Server: tc.server, Namespace: "states", Suffix: "x"}

			if got := r.planner.locks.lockLease(r.ws, terraform.Lock{ID: "1", Operation: tc.operation}); got != tc.want {
				t.Errorf("lockLease(...): want %q, got %q", tc.want, got)
			}
		})
	}
}
