// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	xpmeta "github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
)

func workspaceWithUID(uid string) *clusterv1beta1.Workspace {
	return &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid)}}
}

func TestDue(t *testing.T) {
	t.Parallel()

	const tenths = 10

	last := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	cases := map[string]struct {
		reason   string
		jitter   time.Duration
		interval time.Duration
		off      time.Duration
	}{
		"NoJitter": {
			reason:   "Without jitter looks are one interval apart.",
			interval: time.Minute,
		},
		"Jitter": {
			reason:   "The jitter is added or taken away, at both ends of the interval.",
			jitter:   time.Minute,
			interval: 10 * time.Minute,
			off:      2 * time.Minute,
		},
		"JitterLargerThanInterval": {
			reason:   "A jitter that would drown the interval is cut to a quarter of it.",
			jitter:   time.Minute,
			interval: 2 * time.Second,
			off:      time.Second,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := &schedule{jitter: tc.jitter}
			parts := [tenths]int{}
			earlier, later := false, false

			for i := range 1000 {
				ws := workspaceWithUID(strconv.Itoa(i))
				due := s.due(ws, last, tc.interval)

				if again := s.due(ws, last, tc.interval); !again.Equal(due) {
					t.Fatalf("\n%s\ndue(...): the same question was answered with %s and %s", tc.reason, due, again)
				}

				if early := due.Sub(last) - tc.interval/2; early <= 0 || early > tc.interval+tc.off {
					t.Fatalf("\n%s\ndue(...): %s after the last look, want more than half of %s and no more than one and a half, give or take %s", tc.reason, due.Sub(last), tc.interval, tc.off)
				}

				parts[due.UnixNano()%int64(tc.interval)*tenths/int64(tc.interval)]++

				off := s.due(ws, due, tc.interval).Sub(due) - tc.interval
				if off.Abs() > tc.off {
					t.Fatalf("\n%s\ndue(...): the next but one is off by %s, want at most %s", tc.reason, off, tc.off)
				}

				earlier = earlier || off < -tc.off/4
				later = later || off > tc.off/4
			}

			if spread := tc.off > 0; earlier != spread || later != spread {
				t.Errorf("\n%s\ndue(...): some early: %t, some late: %t, want %t", tc.reason, earlier, later, spread)
			}

			for _, n := range parts {
				if n < 40 || n > 160 {
					t.Errorf("\n%s\ndue(...): of 1000 Workspaces looked at at once %v are due in each tenth of the interval: want about 100 in each", tc.reason, parts)
				}
			}
		})
	}
}

func TestIsDue(t *testing.T) {
	t.Parallel()

	last := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	cases := map[string]struct {
		reason     string
		annotation string
		interval   time.Duration
	}{
		"Default": {
			reason:   "The interval is that of the instance.",
			interval: time.Minute,
		},
		"Shorter": {
			reason:     "A Workspace may ask for an interval of its own.",
			annotation: "10s",
			interval:   10 * time.Second,
		},
		"Longer": {
			reason:     "It may also ask for a longer one.",
			annotation: "1h",
			interval:   time.Hour,
		},
		"TooShort": {
			reason:     "An interval that would keep a worker busy is lengthened.",
			annotation: "1ms",
			interval:   minPollInterval,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := workspaceWithUID("a")
			if tc.annotation != "" {
				ws.SetAnnotations(map[string]string{xpmeta.AnnotationKeyPollInterval: tc.annotation})
			}

			s := &schedule{poll: time.Minute}
			due := s.due(ws, last, tc.interval)

			for at, want := range map[time.Time]bool{due.Add(-1): false, due: true, due.Add(time.Hour): true} {
				s.now = func() time.Time { return at }
				if got := s.isDue(ws, last); got != want {
					t.Errorf("\n%s\nisDue(...) %s after it is due: want %t, got %t", tc.reason, at.Sub(due), want, got)
				}
			}
		})
	}
}

// TestBefore restarts an instance: a Workspace is looked at when it is its turn, as
// if nothing had happened.
func TestBefore(t *testing.T) {
	t.Parallel()

	s := &schedule{poll: 10 * time.Minute, jitter: time.Minute}
	last := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	for i := range 1000 {
		ws := workspaceWithUID(strconv.Itoa(i))
		due := s.due(ws, last, s.poll)
		s.now = func() time.Time { return due.Add(-time.Second) }

		if got := s.due(ws, s.before(ws), s.poll); !got.Equal(due) {
			t.Fatalf("a Workspace that was due at %s is due at %s after a restart", due, got)
		}
	}
}

func TestWait(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	cases := map[string]struct {
		reason   string
		look     *look
		policies xpv2.ManagementPolicies
		ready    bool
		want     time.Duration
	}{
		"NeverLooked": {
			reason: "Without a look the whole interval is ahead.",
			want:   time.Minute,
		},
		"InTheMiddle": {
			reason: "A reconcile in the middle of the interval does not put off the next look.",
			look:   &look{at: now.Add(-20 * time.Second), upToDate: true},
			ready:  true,
			want:   (&schedule{}).due(workspaceWithUID("a"), now.Add(-20*time.Second), time.Minute).Sub(now),
		},
		"WaitsForLane": {
			reason: "Who waits for a lane does not rely on being called.",
			look:   &look{at: now},
			want:   min(laneTimeout, (&schedule{}).due(workspaceWithUID("a"), now, time.Minute).Sub(now)),
		},
		"NotToldYet": {
			reason: "What a look saw but the status does not tell is told at once.",
			look:   &look{at: now, upToDate: true},
			want:   time.Millisecond,
		},
		"ObserveNothing": {
			reason:   "Where there is nothing to look at, the next look is that of a poll.",
			look:     &look{at: now},
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve},
			want:     (&schedule{}).due(workspaceWithUID("a"), now, time.Minute).Sub(now),
		},
		"Overdue": {
			reason: "A look that is overdue is taken at once, and not never.",
			look:   &look{at: now.Add(-time.Hour)},
			want:   time.Millisecond,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := &schedule{memory: newMemory(), now: func() time.Time { return now }}
			ws := workspaceWithUID("a")
			ws.SetManagementPolicies(tc.policies)

			if tc.ready {
				ws.SetConditions(xpv2.Available())
			}

			if tc.look != nil {
				s.memory.keep(ws.GetUID(), *tc.look)
			}

			if got := s.wait(ws, time.Minute); got != tc.want {
				t.Errorf("\n%s\nwait(...): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
