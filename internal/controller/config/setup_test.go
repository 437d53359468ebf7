// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
)

// TestDelays tests that instances that see an event within one second add a request for it within
// the same quarter of a second, but not at the same time.
func TestDelays(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		second := time.Now().Truncate(settle)
		different := map[time.Time]bool{}

		for range 50 {
			at := time.Now().Add(usersDelay())
			different[at] = true

			if next := second.Add(settle); at.Before(next) || !at.Before(next.Add(spread)) {
				t.Errorf("%s after the second began: want the request %s to %s after it, got %s", time.Since(second), settle, settle+spread, at.Sub(second))
			}

			if d := soon(); d < 0 || d >= spread {
				t.Errorf("want a delay of less than %s, got %s", spread, d)
			}

			time.Sleep(settle / 51)
		}

		if len(different) < 2 {
			t.Error("all requests are added at the same time")
		}
	})
}

// A delays is a queue that records the delays of its requests.
type delays struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	added map[string]time.Duration
}

func (d *delays) AddAfter(r reconcile.Request, after time.Duration) { d.added[r.Name] = after }

// TestDelayed tests that every kind of event leads to a request after the delay.
func TestDelayed(t *testing.T) {
	t.Parallel()

	q := &delays{added: map[string]time.Duration{}}
	h := delayed(&handler.EnqueueRequestForObject{}, func() time.Duration { return time.Minute })
	named := func(name string) client.Object {
		pc := &clusterv1beta1.ProviderConfig{}
		pc.SetName(name)
		pc.SetUID(types.UID(name))

		return pc
	}

	h.Create(t.Context(), kevent.CreateEvent{Object: named("created")}, q)
	h.Update(t.Context(), kevent.UpdateEvent{ObjectOld: named("updated"), ObjectNew: named("updated")}, q)
	h.Delete(t.Context(), kevent.DeleteEvent{Object: named("deleted")}, q)

	want := map[string]time.Duration{"created": time.Minute, "updated": time.Minute, "deleted": time.Minute}
	if diff := cmp.Diff(want, q.added); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
