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

	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// lockedBy is the refusal of a CLI because of a lock.
func lockedBy(who string, at time.Time) error {
	return &terraform.Error{Diagnostics: []terraform.Diagnostic{{
		Summary: "Error acquiring the state lock",
		Detail:  "Lock Info:\n  ID: 1\n  Operation: OperationTypeApply\n  Who: " + who + "\n  Created: " + at.UTC().String() + "\n",
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

				if err := e.withLock(t.Context(), with(), func() error { return errBoom }); !errors.Is(err, errBoom) {
					t.Errorf("want the error of the run, got %v", err)
				}
			},
			want: true,
		},
		"Planned": {
			reason: "A plan without a lock that succeeds does not prove that there is no lock.",
			do: func(t *testing.T, e *external) {
				t.Helper()

				_ = e.withLock(t.Context(), with(), func() error { return errBoom })
				if err := e.withoutLock(t.Context(), with(), func() error { return nil }); err != nil {
					t.Error(err)
				}
			},
			want: true,
		},
		"Locked": {
			reason: "A run that held the lock has released it.",
			do: func(t *testing.T, e *external) {
				t.Helper()

				_ = e.withLock(t.Context(), with(), func() error { return errBoom })
				if err := e.withLock(t.Context(), with(), func() error { return nil }); err != nil {
					t.Error(err)
				}
			},
		},
		"Refused": {
			reason: "A run that was refused the lock does not hold it.",
			do: func(t *testing.T, e *external) {
				t.Helper()

				before := time.Now()

				err := e.withLock(t.Context(), with(), func() error { return lockedBy("alice@"+host, before) })
				if err == nil || !strings.Contains(err.Error(), "left alone") || !terraform.IsLocked(err) {
					t.Errorf("want an error that names the holder of the lock, got %v", err)
				}
			},
		},
		"RefusedByUnknown": {
			reason: "The CLI reports the lock that it wanted: the holder of the existing lock is unknown.",
			do: func(t *testing.T, e *external) {
				t.Helper()

				err := e.withLock(t.Context(), with(), func() error { return lockedBy("root@"+host, time.Now()) })
				if e := (statelock.LockedError{}); errors.As(err, &e) || !terraform.IsLocked(err) {
					t.Errorf("want the words of the CLI, got %v", err)
				}
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			e := &external{shared: shared{recorder: event.NewNopRecorder(), metrics: &counts{}, locks: statelock.Detector{
				Host:         host,
				Predecessors: func(client.Object) statelock.Predecessors { return statelock.Predecessors{} },
				FailedRuns:   statelock.NewFailedRuns(),
			}}}
			tc.do(t, e)

			if got := e.locks.FailedRuns.Any("a"); got != tc.want {
				t.Errorf("\n%s\nwant a failure that counts: %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestWhyLocked(t *testing.T) {
	t.Parallel()

	const host, name = "host-0", "tw"

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
			want:   "it was not left behind by a dead instance of this provider",
		},
		"Shared": {
			reason: "Another Workspace works with the state and may hold the lock.",
			users:  []string{name, name},
			who:    "root@dead",
			want:   "it may be held for another Workspace with the same external name, which this instance works on now",
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

			e := &external{shared: shared{locks: statelock.Detector{
				Host:         host,
				Predecessors: func(client.Object) statelock.Predecessors { return statelock.Predecessors{Hosts: []string{"dead"}} },
				Users:        statelock.NewStateUsers(),
			}}}

			for _, user := range tc.users {
				e.locks.Users.Use(user)
			}

			ws := with()
			meta.SetExternalName(ws, "tw")
			ws.SetManagementPolicies(tc.policies)

			if diff := cmp.Diff(tc.want, e.whyLocked(ws, terraform.Lock{Who: tc.who})); diff != "" {
				t.Errorf("\n%s\nwhyLocked(...): -want, +got:\n%s", tc.reason, diff)
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

	err := statelock.NewLockedError(inner, l, "it was not left behind by a dead instance of this provider")

	const want = "the state is locked by alice@laptop since 2026-01-02 03:04:05 +0000 UTC, for OperationTypeApply (lock ID 1): it is left alone, because it was not left behind by a dead instance of this provider. If nobody holds it any more, remove it with force-unlock"

	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("Error(): -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(inner, error(err), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("the error of the CLI is lost: -want, +got:\n%s", diff)
	}

	l.Operation = statelock.MakesState
	if got := statelock.NewLockedError(inner, l, "").Error(); !strings.HasSuffix(got, "remove it with force-unlock, or, if the backend is kubernetes and the state was never made, remove the holder from the Lease with that ID with kubectl") {
		t.Errorf("Error() of the lock on a state that is being made: got %q", got)
	}
}
