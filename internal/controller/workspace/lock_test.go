// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

func TestOrphaned(t *testing.T) {
	t.Parallel()

	const here, there = "host-0", "host-1"

	took := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	before, after := took.Add(-time.Minute), took.Add(time.Minute)

	cases := map[string]struct {
		reason string
		hosts  []string
		failed []span
		who    string
		what   string
		at     time.Time
		when   string
		want   bool
	}{
		"Dead": {
			reason: "The only instance on that host is dead.",
			hosts:  []string{there},
			who:    "root@" + there,
			at:     after,
			want:   true,
		},
		"Stranger": {
			reason: "Nobody knows whether that is alive.",
			hosts:  []string{there},
			who:    "alice@laptop",
			at:     before,
		},
		"Nobody": {
			reason: "A lock without a name may be anybody's.",
			hosts:  []string{""},
			who:    "alice",
			at:     before,
		},
		"DeadHere": {
			reason: "An earlier incarnation was on the host of this one.",
			hosts:  []string{here},
			who:    "root@" + here,
			at:     before,
			want:   true,
		},
		"AliveHere": {
			reason: "That was not an earlier incarnation: it is a person on this host, or this instance itself.",
			hosts:  []string{here},
			who:    "root@" + here,
			at:     after,
		},
		"NoPredecessor": {
			reason: "Nobody was here before.",
			who:    "root@" + here,
			at:     before,
		},
		"OwnFailure": {
			reason: "A run of this instance failed to unlock.",
			failed: []span{{start: before, end: after}},
			who:    "root@" + here,
			at:     took,
			want:   true,
		},
		"OwnPlan": {
			reason: "A plan without a lock does not lock a state to change it: that is somebody else.",
			failed: []span{{start: before, end: after, plan: true}},
			who:    "root@" + here,
			what:   "OperationTypeApply",
			at:     took,
		},
		"OwnFirstPlan": {
			reason: "A plan without a lock may have had to make the state.",
			failed: []span{{start: before, end: after, plan: true}},
			who:    "root@" + here,
			what:   "init",
			at:     took,
			want:   true,
		},
		"OwnFailureElsewhere": {
			reason: "No run of this instance locks on another host.",
			failed: []span{{start: before, end: after}},
			who:    "root@" + there,
			at:     took,
		},
		"OtherTime": {
			reason: "No run of this instance that failed was going on then.",
			failed: []span{{start: after, end: after.Add(time.Minute)}},
			who:    "root@" + here,
			at:     took,
		},
		"OddTime": {
			reason: "On this host the time decides.",
			hosts:  []string{here},
			who:    "root@" + here,
			when:   "yesterday",
		},
		"OddTimeElsewhere": {
			reason: "On another host it does not.",
			hosts:  []string{there},
			who:    "root@" + there,
			when:   "yesterday",
			want:   true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := workspaceWithUID("a")
			o := orphanage{
				host:         here,
				predecessors: func(client.Object) Predecessors { return Predecessors{Hosts: tc.hosts, Until: took} },
				failures:     NewFailures(),
			}

			for _, s := range tc.failed {
				o.failures.add("a", s)
			}

			l := terraform.Lock{Who: tc.who, Operation: tc.what, Created: tc.when}
			if l.Created == "" {
				l.Created = tc.at.String()
			}

			if got := o.orphaned(ws, l); got != tc.want {
				t.Errorf("\n%s\norphaned(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()

	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	end := start.Add(time.Minute)

	cases := map[string]struct {
		reason string
		do     func(f *Failures)
		at     time.Time
		want   bool
	}{
		"None":    {reason: "Nothing failed.", do: func(*Failures) {}, at: start},
		"Start":   {reason: "The first moment counts.", do: func(f *Failures) { f.add("a", span{start: start, end: end}) }, at: start, want: true},
		"End":     {reason: "The last moment counts.", do: func(f *Failures) { f.add("a", span{start: start, end: end}) }, at: end, want: true},
		"Before":  {reason: "It had not begun.", do: func(f *Failures) { f.add("a", span{start: start, end: end}) }, at: start.Add(-1)},
		"After":   {reason: "It was over.", do: func(f *Failures) { f.add("a", span{start: start, end: end}) }, at: end.Add(1)},
		"Another": {reason: "It was another Workspace.", do: func(f *Failures) { f.add("b", span{start: start, end: end}) }, at: start},
		"Earlier": {
			reason: "A failure does not make up for the one before.",
			do: func(f *Failures) {
				f.add("a", span{start: start, end: end})
				f.add("a", span{start: end.Add(1), end: end.Add(2)})
			},
			at:   start,
			want: true,
		},
		"FirstOfMany": {
			reason: "The backend went away during the first one, and none of the others got a lock.",
			do: func(f *Failures) {
				f.add("a", span{start: start, end: end})

				for n := range time.Duration(100) {
					f.add("a", span{start: end.Add(1 + n), end: end.Add(1 + n)})
				}
			},
			at:   start,
			want: true,
		},
		"LastOfMany": {
			reason: "It is the one that counts, if the others were about something else.",
			do: func(f *Failures) {
				for n := range time.Duration(100) {
					f.add("a", span{start: start.Add(n - 101), end: start.Add(n - 101)})
				}

				f.add("a", span{start: start, end: end})
			},
			at:   end,
			want: true,
		},
		"Forgotten": {
			reason: "It turned out that nothing was left.",
			do: func(f *Failures) {
				f.add("a", span{start: start, end: end})
				f.Forget("a")
			},
			at: start,
		},
		"OthersForgotten": {
			reason: "That was about another Workspace.",
			do: func(f *Failures) {
				f.add("a", span{start: start, end: end})
				f.Forget("b")
			},
			at:   start,
			want: true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := NewFailures()
			tc.do(f)

			if got := f.left("a", terraform.Lock{}, tc.at); got != tc.want {
				t.Errorf("\n%s\nleft(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// lockedBy is the refusal of a CLI because of a lock.
func lockedBy(who string, at time.Time) error {
	return &terraform.Error{Diagnostics: []terraform.Diagnostic{{
		Severity: terraform.SeverityError,
		Summary:  "Error acquiring the state lock",
		Detail:   "Lock Info:\n  ID: 1\n  Operation: OperationTypeApply\n  Who: " + who + "\n  Created: " + at.UTC().String() + "\n",
	}}}
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

				if err := e.locking(t.Context(), workspaceWithUID("a"), func() error { return errBoom }); !errors.Is(err, errBoom) {
					t.Errorf("want the error of the run, got %v", err)
				}
			},
			want: true,
		},
		"Planned": {
			reason: "A plan that succeeds does not tell whether there is a lock.",
			do: func(t *testing.T, e *external) {
				t.Helper()

				_ = e.locking(t.Context(), workspaceWithUID("a"), func() error { return errBoom })
				if err := e.unlocked(t.Context(), workspaceWithUID("a"), func() error { return nil }); err != nil {
					t.Error(err)
				}
			},
			want: true,
		},
		"Locked": {
			reason: "Who has got a lock has released it.",
			do: func(t *testing.T, e *external) {
				t.Helper()

				_ = e.locking(t.Context(), workspaceWithUID("a"), func() error { return errBoom })
				if err := e.locking(t.Context(), workspaceWithUID("a"), func() error { return nil }); err != nil {
					t.Error(err)
				}
			},
		},
		"Refused": {
			reason: "A run that was refused a lock has not got one.",
			do: func(t *testing.T, e *external) {
				t.Helper()

				before := time.Now()

				err := e.locking(t.Context(), workspaceWithUID("a"), func() error { return lockedBy("alice@"+host, before) })
				if err == nil || !strings.Contains(err.Error(), "left alone") || !terraform.IsLocked(err) {
					t.Errorf("want to be told who has locked the state, got %v", err)
				}
			},
		},
		"RefusedByUnknown": {
			reason: "The CLI tells of the lock that it wanted: nobody can tell who has the one that is there.",
			do: func(t *testing.T, e *external) {
				t.Helper()

				err := e.locking(t.Context(), workspaceWithUID("a"), func() error { return lockedBy("root@"+host, time.Now()) })
				if e := (lockedError{}); errors.As(err, &e) || !terraform.IsLocked(err) {
					t.Errorf("want the words of the CLI, got %v", err)
				}
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			e := &external{record: event.NewNopRecorder(), orphans: orphanage{
				host:         host,
				predecessors: func(client.Object) Predecessors { return Predecessors{} },
				failures:     NewFailures(),
			}}
			tc.do(t, e)

			_, got := e.orphans.failures.spans["a"]
			if got != tc.want {
				t.Errorf("\n%s\nwant a failure that counts: %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestMayUnlock(t *testing.T) {
	t.Parallel()

	const host, name = "host-0", "tw"

	cases := map[string]struct {
		reason   string
		policies []xpv2.ManagementAction
		users    []string
		want     bool
	}{
		"Alone": {
			reason: "Nobody else works with the state.",
			users:  []string{name, "another"},
			want:   true,
		},
		"Shared": {
			reason: "Another Workspace works with the state: the lock may be its.",
			users:  []string{name, name},
		},
		"OnlyObserves": {
			reason:   "Who may only look leaves the lock to whoever owns the state.",
			policies: []xpv2.ManagementAction{xpv2.ManagementActionObserve},
			users:    []string{name},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			e := &external{orphans: orphanage{
				host:         host,
				predecessors: func(client.Object) Predecessors { return Predecessors{Hosts: []string{"dead"}} },
				states:       NewStates(),
			}}

			for _, user := range tc.users {
				e.orphans.states.use(user)
			}

			ws := workspaceWithUID("a")
			meta.SetExternalName(ws, "tw")
			ws.SetManagementPolicies(tc.policies)

			if got := e.mayUnlock(ws, terraform.Lock{Who: "root@dead"}); got != tc.want {
				t.Errorf("\n%s\nmayUnlock(...): want %t, got %t", tc.reason, tc.want, got)
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

	err := lockedError{error: inner, lock: l}

	const want = "the state is locked by alice@laptop since 2026-01-02 03:04:05 +0000 UTC, for OperationTypeApply (lock ID 1): it is left alone, because it was not left behind by a dead instance of this provider. If nobody holds it any more, remove it with force-unlock"

	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("Error(): -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(inner, error(err), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("the error of the CLI is lost: -want, +got:\n%s", diff)
	}
}
