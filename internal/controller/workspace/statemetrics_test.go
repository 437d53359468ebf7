// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"

	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A cacheOf Workspaces makes no deep copies, and refuses those who do not ask for that.
type cacheOf struct {
	client.Reader

	items []namespacedv1beta1.Workspace
	reads int
}

func (c *cacheOf) List(_ context.Context, l client.ObjectList, opts ...client.ListOption) error {
	c.reads++

	o := (&client.ListOptions{}).ApplyOptions(opts)
	if o.UnsafeDisableDeepCopy == nil || !*o.UnsafeDisableDeepCopy {
		return errors.New("asked for a deep copy of everything")
	}

	list, ok := l.(*namespacedv1beta1.WorkspaceList)
	if !ok {
		return errors.Errorf("asked for %T", l)
	}

	list.Items = c.items

	return nil
}

func TestStateRecorder(t *testing.T) {
	t.Parallel()

	newItem := func(c ...xpv2.Condition) namespacedv1beta1.Workspace {
		ws := namespacedv1beta1.Workspace{}
		ws.SetConditions(c...)

		return ws
	}

	cases := map[string]struct {
		reason string
		before []namespacedv1beta1.Workspace
		now    []namespacedv1beta1.Workspace
		want   map[string]float64
	}{
		"None": {
			reason: "Nothing is a number as well.",
			want:   map[string]float64{"crossplane_managed_resource_exists": 0, "crossplane_managed_resource_ready": 0, "crossplane_managed_resource_synced": 0},
		},
		"Some": {
			reason: "Only what is True counts.",
			now: []namespacedv1beta1.Workspace{
				newItem(),
				newItem(xpv2.Available(), xpv2.ReconcileSuccess()),
				newItem(xpv2.Creating(), xpv2.ReconcileSuccess()),
				newItem(xpv2.Unavailable(), xpv2.ReconcileError(errors.New("boom"))),
			},
			want: map[string]float64{"crossplane_managed_resource_exists": 4, "crossplane_managed_resource_ready": 1, "crossplane_managed_resource_synced": 2},
		},
		"Fewer": {
			reason: "What is gone does not count any more.",
			before: []namespacedv1beta1.Workspace{newItem(xpv2.Available()), newItem(xpv2.Available())},
			now:    []namespacedv1beta1.Workspace{newItem(xpv2.Available())},
			want:   map[string]float64{"crossplane_managed_resource_exists": 1, "crossplane_managed_resource_ready": 1, "crossplane_managed_resource_synced": 0},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := &stateRecorder{kind: workspace.Kinds()[1], metrics: statemetrics.NewMRStateMetrics(), log: logging.NewNopLogger()}

			for _, items := range [][]namespacedv1beta1.Workspace{tc.before, tc.now} {
				r.cache = &cacheOf{items: items}
				if err := r.record(t.Context()); err != nil {
					t.Fatal(err)
				}
			}

			registry := prometheus.NewRegistry()
			registry.MustRegister(r.metrics)

			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}

			have := map[string]float64{}

			for _, f := range families {
				for _, m := range f.GetMetric() {
					have[f.GetName()] = m.GetGauge().GetValue()

					if diff := cmp.Diff("tf.m.upbound.io/v1beta1, Kind=Workspace", m.GetLabel()[0].GetValue()); diff != "" {
						t.Errorf("label gvk: -want, +got:\n%s", diff)
					}
				}
			}

			if diff := cmp.Diff(tc.want, have); diff != "" {
				t.Errorf("\n%s\nrecord(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestStateRecorderStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &cacheOf{}
		r := &stateRecorder{cache: c, kind: workspace.Kinds()[1], interval: 7 * time.Second, metrics: statemetrics.NewMRStateMetrics(), log: logging.NewNopLogger()}

		ctx, cancel := context.WithTimeout(t.Context(), 3*r.interval+time.Second)
		defer cancel()

		if err := r.Start(ctx); err != nil {
			t.Error(err)
		}

		if c.reads != 3 {
			t.Errorf("want Workspaces to be counted once per interval, 3 times, got %d", c.reads)
		}
	})
}
