// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	gocmp "cmp"
	"context"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// leases is a namespace with at most one Lease of an instance.
type leases struct {
	namespace string

	mu    sync.Mutex
	lease *coordinationv1.Lease
	err   error
	gets  int

	// onGet is called before a read is answered. It may be nil.
	onGet func()

	// hangs says that the next list has no answer.
	hangs bool
}

func (l *leases) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.gets++

	if l.onGet != nil {
		l.onGet()
	}

	to, ok := o.(*coordinationv1.Lease)

	switch {
	case l.err != nil:
		return l.err
	case !ok || l.lease == nil || key != (client.ObjectKey{Namespace: gocmp.Or(l.namespace, namespace), Name: l.lease.GetName()}):
		return kerrors.NewNotFound(schema.GroupResource{Resource: "leases"}, key.Name)
	}

	l.lease.DeepCopyInto(to)

	return nil
}

func (l *leases) List(ctx context.Context, o client.ObjectList, opts ...client.ListOption) error {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.hangs {
		l.hangs = false

		<-ctx.Done()

		return ctx.Err()
	}

	options := (&client.ListOptions{}).ApplyOptions(opts)

	to, ok := o.(*coordinationv1.LeaseList)
	if !ok || options.Namespace != namespace || options.LabelSelector == nil || options.LabelSelector.Matches(labels.Set{"tfstate": "true"}) {
		return errors.Errorf("asked for %T in %q with %q", o, options.Namespace, options.LabelSelector)
	}

	if l.err != nil {
		return l.err
	}

	// The Lease of another program is ignored.
	to.Items = []coordinationv1.Lease{*newLease(named("kube-scheduler"))}
	if l.lease != nil {
		to.Items = append(to.Items, *l.lease)
	}

	return nil
}
