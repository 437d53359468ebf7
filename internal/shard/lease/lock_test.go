// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// outage is the time at which the API server becomes unavailable: just before a renewal of an
// instance that made its Lease four seconds after its start.
const outage = 5*time.Minute - 1

// TestRenewDeadline takes the API server away from the holder of a Lease. The holder gives up at
// the renew deadline. The fence is armed for a later time, before the Lease expires.
func TestRenewDeadline(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		timing   Timing
		applying bool
		fault    fault

		// All times count from the last renewal.
		lost, fenced time.Duration
	}{
		"Refused": {reason: "The last renewal counts.", timing: standard(), fault: refused, lost: 40 * time.Second, fenced: 58 * time.Second},
		"Hanging": {reason: "It needs no answer of the API server.", timing: standard(), fault: hanging, lost: 40 * time.Second, fenced: 58 * time.Second},
		"Applying": {
			reason: "The time is longer during an apply.",
			timing: patient(), applying: true, fault: hanging, lost: 280 * time.Second, fenced: 298 * time.Second,
		},
		"Idle": {reason: "Without an apply in progress, the time does not change.", timing: patient(), fault: hanging, lost: 40 * time.Second, fenced: 58 * time.Second},
		"ApplyingShort": {
			reason: "The time is not longer during an apply if no flag sets it.",
			timing: standard(), applying: true, fault: refused, lost: 40 * time.Second, fenced: 58 * time.Second,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &apiServer{}
				c := newCandidate(s, me, tc.timing).start(t)
				c.apply(tc.applying)
				until(outage)
				c.client.become(tc.fault)

				last := s.get().Spec.RenewTime.Sub(epoch())

				until(outage + tc.lost + 3*time.Second)

				_, lost, err := c.events()
				if diff := cmp.Diff([]time.Duration{tc.lost, tc.fenced}, []time.Duration{lost - last, c.fence.at() - last}); diff != "" {
					t.Errorf("%s\nlost and fenced after: -want, +got:\n%s", tc.reason, diff)
				}

				if err == nil || !strings.Contains(err.Error(), namespace+"/lease") {
					t.Errorf("%s\nwant an error that names the Lease, got %v", tc.reason, err)
				}

				c.end()
			})
		})
	}
}

// TestOutage makes the API server unavailable for a time in which the holder does not give up.
func TestOutage(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		timing   Timing
		applying bool
		fault    fault
		lasts    time.Duration
	}{
		"Refused":  {reason: "It keeps trying.", timing: standard(), fault: refused, lasts: 30 * time.Second},
		"Hanging":  {reason: "One hanging request does not end it.", timing: standard(), fault: hanging, lasts: 10 * time.Second},
		"Applying": {reason: "Leader election does not give up either.", timing: patient(), applying: true, fault: refused, lasts: 4 * time.Minute},
		"Hung":     {reason: "Many hanging requests do not end it.", timing: patient(), applying: true, fault: hanging, lasts: 3 * time.Minute},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &apiServer{}
				c := newCandidate(s, me, tc.timing).start(t)
				c.apply(tc.applying)
				until(outage)
				c.client.become(tc.fault)
				until(outage + tc.lasts)
				c.client.become(0)
				until(outage + tc.lasts + 5*time.Minute)

				if _, lost, err := c.events(); lost != 0 {
					t.Errorf("%s\nthe Lease was lost at %s: %v", tc.reason, lost, err)
				}

				if at := s.get().Spec.RenewTime.Sub(epoch()); at < outage+tc.lasts+5*time.Minute-5*time.Second {
					t.Errorf("%s\nthe Lease was not renewed since %s", tc.reason, at)
				}

				c.end()
			})
		})
	}
}

// TestShorterDuration loses the answer to a renewal with a shorter duration, which others may
// have seen.
func TestShorterDuration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{}
		c := newCandidate(s, me, patient()).start(t)
		c.apply(true)
		until(outage)

		if d := ptr.Deref(s.get().Spec.LeaseDurationSeconds, 0); d != 300 {
			t.Errorf("duration during an apply: want 300 seconds, got %d", d)
		}

		c.client.become(unanswered)
		c.apply(false)
		until(outage + 5*time.Minute)

		got := s.get()
		if d := ptr.Deref(got.Spec.LeaseDurationSeconds, 0); d != 60 {
			t.Errorf("duration after an apply: want 60 seconds, got %d", d)
		}

		// Only the first renewal changed the Lease: the others were based on an answer that was
		// lost.
		first := got.Spec.RenewTime.Sub(epoch())

		_, lost, _ := c.events()
		if want := first + 40*time.Second; lost == 0 || lost > want {
			t.Errorf("lost at %s, want %s or earlier", lost, want)
		}

		if want := first + time.Minute; c.fence.at() >= want {
			t.Errorf("fence at %s, want it before %s", c.fence.at(), want)
		}

		c.end()
	})
}

// TestRelease releases a Lease, under all circumstances.
func TestRelease(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		before func(c *candidate, s *apiServer)
		// during is called a second after the release began.
		during   func(c *candidate)
		holder   string
		released string
		armed    bool
		err      error
	}{
		"Held": {reason: "The Lease names the holder that released it.", released: me},
		"NoAnswer": {
			reason: "The Lease is held until it expires, so the fence stays armed.",
			before: func(c *candidate, _ *apiServer) { c.client.become(hanging) }, holder: me, armed: true, err: context.DeadlineExceeded,
		},
		"Back": {
			reason: "It needs more than one attempt.",
			before: func(c *candidate, _ *apiServer) { c.client.become(refused) }, during: func(c *candidate) { c.client.become(0) }, released: me,
		},
		"Changed": {reason: "Changes by others do not matter.", before: func(_ *candidate, s *apiServer) { s.change(edited()) }, released: me},
		"Taken":   {reason: "A Lease with another holder does not change.", before: func(_ *candidate, s *apiServer) { s.change(edited(heldBy(rival))) }, holder: rival},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &apiServer{}
				c := newCandidate(s, me, standard()).start(t)

				until(outage)

				if got := s.get().Annotations[shard.ReleasedAnnotationKey]; got != "" {
					t.Errorf("the Lease was released by %q before", got)
				}

				c.end()

				if tc.before != nil {
					tc.before(c, s)
				}

				if tc.during != nil {
					time.AfterFunc(time.Second, func() { tc.during(c) })
				}

				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()

				err := c.Release(ctx)
				if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
					t.Errorf("%s\nRelease(...): -want error, +got error:\n%s", tc.reason, diff)
				}

				got := s.get()
				if diff := cmp.Diff([]string{tc.holder, tc.released}, []string{ptr.Deref(got.Spec.HolderIdentity, ""), got.Annotations[shard.ReleasedAnnotationKey]}); diff != "" {
					t.Errorf("%s\nholder, and who released it: -want, +got:\n%s", tc.reason, diff)
				}

				if armed := c.fence.at() != 0; armed != tc.armed {
					t.Errorf("%s\nfence is armed: %t", tc.reason, armed)
				}
			})
		})
	}
}

// TestReleaseNotHeld ensures that an instance that never held the Lease releases nothing.
func TestReleaseNotHeld(t *testing.T) {
	t.Parallel()

	s := &apiServer{}
	s.put(newLease(heldBy(rival)))

	if err := newCandidate(s, me, standard()).Release(t.Context()); err != nil {
		t.Error(err)
	}

	if diff := cmp.Diff(rival, ptr.Deref(s.get().Spec.HolderIdentity, "")); diff != "" {
		t.Errorf("holder: -want, +got:\n%s", diff)
	}
}

// TestNoClock ensures that an instance without a clock for the fence does not take the Lease.
func TestNoClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{}
		c := newCandidate(s, me, standard())
		c.fence.err = errAway
		c.start(t)
		until(time.Minute)
		c.end()

		if s.get() != nil {
			t.Errorf("the Lease was made: %v", s.get())
		}
	})
}

func TestNewIdentity(t *testing.T) {
	t.Parallel()

	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}

	seen := map[string]bool{}

	for range 2 {
		id, err := NewIdentity()
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(host, HostOf(id)); diff != "" {
			t.Errorf("HostOf(%q): -want, +got:\n%s", id, diff)
		}

		if seen[id] {
			t.Errorf("NewIdentity(): %q twice", id)
		}

		seen[id] = true
	}
}
