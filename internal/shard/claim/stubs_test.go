// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"context"
	"sync"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// An oldReader is the cache: it holds the Workspace as of the last read, if any.
type oldReader struct{ f *fixture }

func (r oldReader) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if r.f.ws == nil {
		return kerrors.NewNotFound(schema.GroupResource{Resource: "workspaces"}, key.Name)
	}

	switch to := o.(type) {
	case *clusterv1beta1.Workspace:
		return copyInto(r.f.ws, to)
	case *namespacedv1beta1.Workspace:
		return copyInto(r.f.ws, to)
	default:
		return errors.Errorf("asked for %T", o)
	}
}

// copyInto copies one object into another one of its type.
func copyInto[T interface{ DeepCopyInto(to T) }](from Object, to T) error {
	o, ok := from.(T)
	if !ok {
		return errors.Errorf("there is a %T, not a %T", from, to)
	}

	o.DeepCopyInto(to)

	return nil
}

func (r oldReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("unexpected list")
}

type counter struct{ f *fixture }

func (c counter) Event(_ runtime.Object, e event.Event) {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()

	c.f.events++

	if e.Type == event.TypeWarning {
		c.f.warnings++
	}
}

func (c counter) WithAnnotations(...string) event.Recorder { return c }

// stubSessions has the state of every session.
type stubSessions struct{ state session.State }

func (s *stubSessions) State(context.Context, Claim) session.State { return s.state }

func (s *stubSessions) OnEnd(func(client.ObjectKey)) {}

// An inner reconciler calls a function for each Workspace, unless it has nothing to do.
type inner struct {
	work func(o client.Object)
	idle bool

	// forgot is how often it was told to forget what it knows.
	forgot int
}

func (i *inner) Waits(client.Object) (time.Duration, bool) { return time.Minute, i.idle }

func (i *inner) Reconcile(_ context.Context, o client.Object, _ bool) (reconcile.Result, error) {
	i.work(o)

	return reconcile.Result{}, nil
}

func (i *inner) Forget(client.Object) { i.forgot++ }

func (i *inner) Add(reconcile.Request) {}

// stubFailedRuns are those of the Workspaces on whose state a lock may be left.
type stubFailedRuns struct{ left sync.Map }

func (r *stubFailedRuns) Any(uid types.UID) bool {
	_, ok := r.left.Load(uid)

	return ok
}

func (r *stubFailedRuns) Forget(uid types.UID) { r.left.Delete(uid) }

func mustParse(name string) shard.ID {
	id, _ := shard.Parse(name)

	return id
}

// theObject is a Workspace whose content does not matter.
func theObject() Object { return &clusterv1beta1.Workspace{} }
