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

	xpmeta "github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
)

func workspaceWithUID(uid string) *clusterv1beta1.Workspace {
	return &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid)}}
}

func TestDue(t *testing.T) {
	last := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	cases := map[string]struct {
		reason   string
		jitter   time.Duration
		interval time.Duration
		spread   time.Duration
	}{
		"NoJitter": {
			reason:   "Without jitter the next look is one interval later.",
			interval: time.Minute,
		},
		"Jitter": {
			reason:   "The jitter is added or taken away.",
			jitter:   time.Minute,
			interval: 10 * time.Minute,
			spread:   time.Minute,
		},
		"JitterLargerThanInterval": {
			reason:   "A jitter that would drown the interval is cut to half of it.",
			jitter:   time.Minute,
			interval: 2 * time.Second,
			spread:   time.Second,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := &schedule{jitter: tc.jitter}
			earlier, later := false, false

			for i := range 1000 {
				ws := workspaceWithUID(strconv.Itoa(i))
				due := s.due(ws, last, tc.interval)

				if again := s.due(ws, last, tc.interval); !again.Equal(due) {
					t.Fatalf("\n%s\ndue(...): the same question was answered with %s and %s", tc.reason, due, again)
				}

				off := due.Sub(last) - tc.interval
				if off.Abs() > tc.spread {
					t.Fatalf("\n%s\ndue(...): off by %s, want at most %s", tc.reason, off, tc.spread)
				}

				earlier = earlier || off < -tc.spread/2
				later = later || off > tc.spread/2
			}

			if spread := tc.spread > 0; earlier != spread || later != spread {
				t.Errorf("\n%s\ndue(...): some early: %t, some late: %t, want %t", tc.reason, earlier, later, spread)
			}
		})
	}
}

func TestIsDue(t *testing.T) {
	last := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	cases := map[string]struct {
		reason     string
		annotation string
		after      time.Duration
		want       bool
	}{
		"TooEarly": {
			reason: "Nothing is due before the interval is over.",
			after:  time.Minute - 1,
		},
		"Due": {
			reason: "The next look is due when the interval is over.",
			after:  time.Minute,
			want:   true,
		},
		"OwnInterval": {
			reason:     "A Workspace may ask for an interval of its own.",
			annotation: "10s",
			after:      10 * time.Second,
			want:       true,
		},
		"OwnIntervalTooEarly": {
			reason:     "It may also ask for a longer one.",
			annotation: "1h",
			after:      time.Minute,
		},
		"OwnIntervalTooShort": {
			reason:     "An interval that would keep a worker busy is lengthened.",
			annotation: "1ms",
			after:      minPollInterval - 1,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := workspaceWithUID("a")
			if tc.annotation != "" {
				ws.SetAnnotations(map[string]string{xpmeta.AnnotationKeyPollInterval: tc.annotation})
			}

			s := &schedule{poll: time.Minute, now: func() time.Time { return last.Add(tc.after) }}
			if got := s.isDue(ws, last); got != tc.want {
				t.Errorf("\n%s\nisDue(...) after %s: want %t, got %t", tc.reason, tc.after, tc.want, got)
			}
		})
	}
}

func TestWait(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	cases := map[string]struct {
		reason string
		look   *look
		want   time.Duration
	}{
		"NeverLooked": {
			reason: "Without a look the whole interval is ahead.",
			want:   time.Minute,
		},
		"InTheMiddle": {
			reason: "A reconcile in the middle of the interval does not put off the next look.",
			look:   &look{at: now.Add(-20 * time.Second)},
			want:   40 * time.Second,
		},
		"NotToldYet": {
			reason: "What a look saw but the status does not tell is told at once.",
			look:   &look{at: now, upToDate: true},
			want:   time.Millisecond,
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

			if tc.look != nil {
				s.memory.keep(ws.GetUID(), *tc.look)
			}

			if got := s.wait(ws, time.Minute); got != tc.want {
				t.Errorf("\n%s\nwait(...): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
