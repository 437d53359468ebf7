// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
)

// TestAddFinalizer ensures that the finalizer is written at once, unless the write that begins a
// creation follows: without a finalizer, a deleted Workspace leaves its infrastructure behind.
func TestAddFinalizer(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		ws      *clusterv1beta1.Workspace
		seen    *schedule.Observation
		written bool
	}{
		"Creation":   {reason: "A creation follows.", ws: with(), seen: &schedule.Observation{At: time.Now()}},
		"Exists":     {reason: "There is something to delete.", ws: with(), seen: &schedule.Observation{At: time.Now(), Exists: true}, written: true},
		"Unobserved": {reason: "There may be something to delete.", ws: with(), written: true},
		"NoCreation": {reason: "The management policies allow no creation.", ws: with(policies(xpv2.ManagementActionObserve, xpv2.ManagementActionDelete)), seen: &schedule.Observation{At: time.Now()}, written: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)
			if tc.seen != nil {
				r.records.Observe(r.ws, *tc.seen)
			}

			if err := newFinalizer(r.kube, r.records).AddFinalizer(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			if !meta.FinalizerExists(r.ws, managed.FinalizerName) {
				t.Errorf("\n%s\nwant a finalizer for the next write", tc.reason)
			}

			if got := meta.FinalizerExists(r.recorded(t), managed.FinalizerName); got != tc.written {
				t.Errorf("\n%s\nwritten: want %t, got %t", tc.reason, tc.written, got)
			}
		})
	}
}

// TestInitialize ensures that the external name of a Workspace without one is written at once,
// unless the write with the finalizer follows.
func TestInitialize(t *testing.T) {
	t.Parallel()

	finalized := func(ws *clusterv1beta1.Workspace) { meta.AddFinalizer(ws, managed.FinalizerName) }

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		// external name in the object, and in the API server.
		want, written string
	}{
		"New":       {reason: "The finalizer is yet to be written.", ws: with(), want: "ws"},
		"Finalized": {reason: "No other write has to follow.", ws: with(finalized), want: "ws", written: "ws"},
		"Deleted":   {reason: "No finalizer is added.", ws: with(deleted), want: "ws", written: "ws"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, tc.ws)

			meta.RemoveAnnotations(r.ws, meta.AnnotationKeyExternalName)

			if err := r.kube.Update(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			if err := (initializer{r.kube}).Initialize(t.Context(), r.ws); err != nil {
				t.Fatal(err)
			}

			if got := meta.GetExternalName(r.ws); got != tc.want {
				t.Errorf("\n%s\nexternal name: want %q, got %q", tc.reason, tc.want, got)
			}

			if got := meta.GetExternalName(r.recorded(t)); got != tc.written {
				t.Errorf("\n%s\nwritten external name: want %q, got %q", tc.reason, tc.written, got)
			}
		})
	}

	t.Run("Named", func(t *testing.T) {
		t.Parallel()

		r := newAttempt(t, with())
		meta.SetExternalName(r.ws, "other")

		if err := (initializer{r.kube}).Initialize(t.Context(), r.ws); err != nil || meta.GetExternalName(r.ws) != "other" {
			t.Errorf("want another external name to stay, got %q, %v", meta.GetExternalName(r.ws), err)
		}
	})
}
