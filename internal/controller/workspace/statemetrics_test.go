// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"

	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A cacheOf Workspaces makes no deep copies. It returns an error to a caller that does not
// ask for that.
type cacheOf struct {
	client.Client

	mu    sync.Mutex
	items []namespacedv1beta1.Workspace
	err   error
}

func (c *cacheOf) set(items []namespacedv1beta1.Workspace, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.items, c.err = items, err
}

func (c *cacheOf) Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	_ = namespacedv1beta1.AddToScheme(s)

	return s
}

func (c *cacheOf) List(_ context.Context, l client.ObjectList, opts ...client.ListOption) error {
	o := (&client.ListOptions{}).ApplyOptions(opts)
	if o.UnsafeDisableDeepCopy == nil || !*o.UnsafeDisableDeepCopy {
		return errors.New("asked for a deep copy of everything")
	}

	list, ok := l.(*namespacedv1beta1.WorkspaceList)
	if !ok {
		return errors.Errorf("asked for %T", l)
	}

	c.mu.Lock()
	defer c.mu.Unlock()

	list.Items = c.items

	return c.err
}

func TestRecordStates(t *testing.T) {
	t.Parallel()

	newItem := func(c ...xpv2.Condition) namespacedv1beta1.Workspace {
		ws := namespacedv1beta1.Workspace{}
		ws.SetConditions(c...)

		return ws
	}

	type counts struct{ Exists, Ready, Synced, Drifted, Stalled float64 }

	is := func(t xpv2.ConditionType, s corev1.ConditionStatus) xpv2.Condition {
		return xpv2.Condition{Type: t, Status: s}
	}

	const interval = 7 * time.Second

	steps := []struct {
		reason string
		items  []namespacedv1beta1.Workspace
		err    error
		want   counts
	}{
		{reason: "The first count is at the start. Only True counts.", want: counts{Exists: 4, Ready: 1, Synced: 2, Drifted: 1, Stalled: 2}, items: []namespacedv1beta1.Workspace{
			newItem(is(workspace.TypeStalled, corev1.ConditionFalse)),
			newItem(xpv2.Available(), xpv2.ReconcileSuccess(), is(workspace.TypeDrifted, corev1.ConditionTrue)),
			newItem(xpv2.Creating(), xpv2.ReconcileSuccess(), is(workspace.TypeStalled, corev1.ConditionTrue)),
			newItem(xpv2.Unavailable(), xpv2.ReconcileError(errors.New("boom")), is(workspace.TypeStalled, corev1.ConditionTrue)),
		}},
		{reason: "An error changes nothing.", err: errors.New("boom"), want: counts{Exists: 4, Ready: 1, Synced: 2, Drifted: 1, Stalled: 2}},
		{reason: "Counting goes on after an error. A deleted Workspace does not count.", items: []namespacedv1beta1.Workspace{newItem(xpv2.Available())}, want: counts{Exists: 1, Ready: 1}},
		{reason: "The last Workspace was deleted."},
	}

	synctest.Test(t, func(t *testing.T) {
		c := &cacheOf{}
		m := statemetrics.NewMRStateMetrics()
		ours := &tally{}
		o := controller.Options{Logger: logging.NewNopLogger(), MetricOptions: &controller.MetricOptions{PollStateMetricInterval: interval, MRStateMetrics: m}}

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)

		for i, step := range steps {
			c.set(step.items, step.err)

			if i == 0 {
				go func() { ended <- recordStates(c, c, workspace.Kinds()[1], o, ours)(ctx) }()
			} else {
				<-time.After(interval)
			}

			synctest.Wait()

			const gvk = "tf.m.upbound.io/v1beta1, Kind=Workspace"

			got := counts{
				Exists: testutil.ToFloat64(m.Exists.WithLabelValues(gvk)),
				Ready:  testutil.ToFloat64(m.Ready.WithLabelValues(gvk)),
				Synced: testutil.ToFloat64(m.Synced.WithLabelValues(gvk)),

				Drifted: ours.of(gvk, "Drifted"),
				Stalled: ours.of(gvk, "Stalled"),
			}
			if diff := cmp.Diff(step.want, got); diff != "" {
				t.Errorf("\n%s\nrecordStates(...): -want, +got:\n%s", step.reason, diff)
			}
		}

		cancel()

		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A tally has the number of Workspaces by kind and condition.
type tally struct {
	mu sync.Mutex
	n  map[[2]string]int
}

func (c *tally) Workspaces(gvk, condition string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.n == nil {
		c.n = map[[2]string]int{}
	}

	c.n[[2]string{gvk, condition}] = n
}

func (c *tally) of(gvk, condition string) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()

	return float64(c.n[[2]string{gvk, condition}])
}
