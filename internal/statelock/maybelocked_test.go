// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statelock

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestMayBeLocked ensures that only a Workspace that an earlier instance may have worked on costs
// a plan with a lock.
func TestMayBeLocked(t *testing.T) {
	t.Parallel()

	took := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

	cases := map[string]struct {
		reason       string
		created      time.Time
		predecessors Predecessors
		observed     bool
		want         bool
	}{
		"Before":   {reason: "A predecessor may have worked on it.", created: took.Add(-time.Hour), predecessors: Predecessors{Hosts: []string{"a"}, Until: took}, want: true},
		"After":    {reason: "It did not exist then.", created: took.Add(time.Second), predecessors: Predecessors{Hosts: []string{"a"}, Until: took}},
		"Unknown":  {reason: "It is not known when this instance took over.", created: took, predecessors: Predecessors{Hosts: []string{"a"}}, want: true},
		"First":    {reason: "There was no predecessor.", created: took.Add(-time.Hour), predecessors: Predecessors{Until: took}},
		"Observed": {reason: "This instance has looked.", created: took.Add(-time.Hour), predecessors: Predecessors{Hosts: []string{"a"}, Until: took}, observed: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := Detector{FailedRuns: NewFailedRuns(), Predecessors: func(client.Object) Predecessors { return tc.predecessors }}
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: "a", CreationTimestamp: metav1.NewTime(tc.created)}}

			if got := d.MayBeLocked(o, tc.observed); got != tc.want {
				t.Errorf("\n%s\nMayBeLocked(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
