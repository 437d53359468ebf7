// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

func testOutdated(t *testing.T, f *fixture) {
	t.Helper()

	f.change(t, func(o client.Object) { o.SetLabels(map[string]string{shard.LabelKey: "b"}) })

	if err := f.reconcile(t); err != nil {
		t.Errorf("another instance was faster, which is no error: %v", err)
	}

	f.expectClaim(t, "The Workspace has changed since the decision.", Claim{})
	f.expectHolds(t, "It was not taken.", false)
}

// A user who copies a Workspace copies its status to a manifest, and with rights like the
// provider's also to the status of the copy.
func testTakesCopy(t *testing.T, f *fixture) {
	t.Helper()

	f.sessions.state = session.Alive
	f.claimFor(t, another("host-1_1f33"))

	original := f.ws
	copied := copyOf(t, original)
	copied.SetName("copy-of-" + original.GetName())
	copied.SetUID("")
	copied.SetResourceVersion("")

	if err := f.live.Create(t.Context(), copied); err != nil {
		t.Fatal(err)
	}

	f.ws = copied
	f.expectClaim(t, "A copy begins without a claim.", Claim{})
	f.ownAs(t, original.GetUID(), func(o *commonv1beta1.Ownership) { *o = original.GetOwnership() })
	f.expectReconciled(t)
	f.expectClaim(t, "The copy has no claim.", f.me())
}

// testNotKept has an API server with a CustomResourceDefinition of an earlier version, which
// drops the claim.
func testNotKept(t *testing.T, f *fixture) {
	t.Helper()

	f.once(http.MethodPatch, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		get := r.Clone(r.Context())
		get.Method, get.Body, get.ContentLength = http.MethodGet, nil, 0

		return next.RoundTrip(get)
	})

	if err := f.reconcile(t); !errors.Is(err, errNotKept) {
		t.Errorf("the error must say how to proceed: want %v, got %v", errNotKept, err)
	}

	f.expectHolds(t, "There is no claim.", false)
	f.expectWarnings(t, "Nothing else on the Workspace says why it waits.", 1)
	f.expectReconciled(t)
	f.expectClaim(t, "The definition has been updated.", f.me())
}

// testRefused has an API server that refuses the claim, as a webhook does.
func testRefused(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	now := time.Now()
	f.claims.waits.now = func() time.Time { return now }

	for i, status := range []int{http.StatusForbidden, http.StatusBadRequest, http.StatusUnprocessableEntity} {
		f.once(http.MethodPatch, func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
			return &http.Response{StatusCode: status, Body: http.NoBody, Request: r}, nil
		})

		answer := kerrors.APIStatus(nil)
		if err := f.reconcile(t); !errors.As(err, &answer) || int(answer.Status().Code) != status {
			t.Errorf("want the answer %d of the API server, got %v", status, err)
		}

		if f.knows() {
			t.Errorf("there is no claim to release after the answer %d", status)
		}

		now = now.Add(repeatWarning)

		f.expectWarnings(t, "Nothing else on the Workspace says why it waits.", i+1)
	}

	f.expectReconciled(t)
	f.expectClaim(t, "The right was granted.", f.me())
}

// testRepeated has a proxy that answers with Retry-After to a claim that is written. The client repeats
// the request, which conflicts with the first one.
func testRepeated(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	answer := func(during func()) {
		f.once(http.MethodPatch, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
			resp, err := next.RoundTrip(r)
			if err != nil {
				return nil, err
			}

			during()

			return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"0"}}, Body: http.NoBody, Request: r}, resp.Body.Close()
		})
		f.expectReconciled(t)
	}

	answer(f.leave)
	f.eventuallyClaimed(t, "It has left meanwhile.", Claim{})

	f.refresh(t)
	answer(func() {})
	f.expectHolds(t, "The claim is that of this instance.", true)
	f.expectClaim(t, "It stays.", f.me())
}

// testFailed has an API server that cannot say whether the claim is written, for example because a
// webhook does not answer.
func testFailed(t *testing.T, f *fixture) {
	t.Helper()

	// Every message is due.
	now := time.Now()
	f.claims.waits.now = func() time.Time {
		now = now.Add(repeatWarning)

		return now
	}

	fail := func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusInternalServerError, Body: http.NoBody, Request: r}, nil
	}

	f.once(http.MethodPatch, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		// The write that is to find out whether there is a claim fails, too.
		f.once(http.MethodPatch, fail)

		return fail(r, next)
	})

	if f.reconcile(t) == nil {
		t.Error("want the error of the request")
	}

	f.expectWarnings(t, "Nothing else on the Workspace says why it waits.", 1)
	f.start(t)
	f.eventuallyForgotten(t)
	f.expectWarnings(t, "It still waits, and no reconcile reports that.", 2)
	f.refresh(t)
	f.eventuallyTakes(t)
}

func testTakesFromDead(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	f.sessions.state = session.Dead

	for _, host := range []string{"host-1", "host-2"} {
		f.claimFor(t, another(host+"_1f33"))
		f.expectReconciled(t)
		f.expectClaim(t, "A dead instance does not work.", f.me())
		f.leave()
		f.eventuallyClaimed(t, "It leaves again.", Claim{})
	}

	if diff := cmp.Diff([]string{"host-2", "host-1"}, f.get(t).GetOwnership().PreviousHosts); diff != "" {
		t.Errorf("hosts of dead instances: -want, +got:\n%s", diff)
	}
}

// testPreviousOwner ensures that the instance that takes a Workspace knows its previous owner.
func testPreviousOwner(t *testing.T, f *fixture) {
	t.Helper()
	f.start(t)

	f.sessions.state = session.Dead
	unclaiming := New(shard.ID{}, Claim{}, f.sessions, oldReader{f}, f.live, f.claims.Options)

	for _, tc := range []struct {
		reason           string
		claim            Claim
		previousWasOther bool
		hosts            []string
		forUnclaiming    []string // before this instance takes it
	}{
		{
			reason: "An earlier incarnation of this instance had the same disk.",
			claim:  Claim{Namespace: namespace, Lease: "session-a-0", Holder: "host-1_1f33", Instance: "a"},
			hosts:  []string{"host-1"}, forUnclaiming: []string{"host-1"},
		},
		{
			reason: "Another instance had another disk.",
			claim:  another("host-2_1f33"), previousWasOther: true,
			hosts: []string{"host-2", "host-1"}, forUnclaiming: []string{"host-1", "host-2"},
		},
		{
			reason: "The previous owner is unknown.", previousWasOther: true,
			hosts: []string{"host-2", "host-1"}, forUnclaiming: []string{"host-2", "host-1"},
		},
	} {
		f.claimFor(t, tc.claim)

		hosts, _ := unclaiming.Abandoned(f.ws)
		if diff := cmp.Diff(tc.forUnclaiming, hosts); diff != "" {
			t.Errorf("%s\nAbandoned(...) of a process without a session: -want, +got:\n%s", tc.reason, diff)
		}

		if hosts, since := f.claims.Abandoned(f.ws); !since.IsZero() || f.claims.ServedByOtherBefore(f.ws) {
			t.Errorf("%s\nit is not held, but since %s after %q", tc.reason, since, hosts)
		}

		before := time.Now()

		f.expectReconciled(t)
		f.refresh(t)

		hosts, since := f.claims.Abandoned(f.ws)
		if diff := cmp.Diff(tc.hosts, hosts); diff != "" {
			t.Errorf("%s\nAbandoned(...): -want, +got:\n%s", tc.reason, diff)
		}

		if since.Before(before) || since.After(time.Now()) {
			t.Errorf("%s\nAbandoned(...): since %s, but it was taken after %s", tc.reason, since, before)
		}

		if got := f.claims.ServedByOtherBefore(f.ws); got != tc.previousWasOther {
			t.Errorf("%s\nServedByOtherBefore(...): want %t, got %t", tc.reason, tc.previousWasOther, got)
		}

		f.leave()
		f.eventuallyClaimed(t, "It leaves again.", Claim{})
	}
}

// testWaitsForEver has a person restore an old claim of another instance.
func testWaitsForEver(t *testing.T, f *fixture) {
	t.Helper()

	now := time.Now()
	f.claims.waits.now = func() time.Time { return now }
	f.claims.LongestRun = 20 * time.Minute

	f.sessions.state = session.Alive
	f.claimFor(t, another("host-1_1f33"))
	f.expectReconciled(t)
	f.expectWarnings(t, "It may be working.", 0)

	for i, after := range []time.Duration{f.claims.LongestRun + 1, repeatWarning} {
		now = now.Add(after)

		f.expectReconciled(t)
		f.expectReconciled(t)
		f.expectWarnings(t, "No run takes that long.", i+1)
	}

	f.claimFor(t, another("host-1_2a44"))
	f.expectReconciled(t)
	f.expectWarnings(t, "The instance was restarted, and may be working.", 2)

	f.claimFor(t, f.claims.me)
	f.expectReconciled(t)
	f.expectHolds(t, "A claim of this instance that it does not know of is taken, not waited for.", true)
}

func testWaitsForOwner(t *testing.T, f *fixture) {
	t.Helper()

	f.sessions.state = session.Alive
	f.claimFor(t, another("host-1_1f33"))

	for range 2 {
		f.expectReconciled(t)
	}

	f.expectEvents(t, "There is one Event.", 1)

	f.sessions.state = session.Unknown

	f.expectReconciled(t)
	f.expectEvents(t, "It waits for another reason.", 2)
	f.leave()
	f.expectReconciled(t)
	f.expectEvents(t, "It has left in between: this is another wait.", 3)
	f.expectRuns(t, "It belongs to another instance.", 0)
	f.expectClaim(t, "It belongs to another instance.", another("host-1_1f33"))
}

// testErased removes the claim of a Workspace that is held. Another instance could have worked on it until the
// next claim.
func testErased(t *testing.T, f *fixture) {
	t.Helper()

	f.expectReconciled(t)
	f.refresh(t)
	f.expectReconciled(t)

	if f.inner.forgot != 1 {
		t.Errorf("want no further reason to forget anything while the claim is there, got %d", f.inner.forgot)
	}

	f.claimFor(t, Claim{})
	f.expectReconciled(t)
	f.expectClaim(t, "It is claimed again.", f.me())

	if f.inner.forgot != 2 {
		t.Errorf("want it to be forgotten what was found out before, got %d", f.inner.forgot)
	}
}
