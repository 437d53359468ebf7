// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// leader returns the replica of an instance that was the last to write their Lease, or
// the instance itself if the fault is not about the leader.
func (f fleet) leader(x fault) *instance {
	i := f[x.subject]
	if !x.leader {
		return i
	}

	for _, name := range sorted(f) {
		if other := f[name]; other.shard == i.shard && other.proxy.renewed.Load() > i.proxy.renewed.Load() {
			i = other
		}
	}

	return i
}

// suffer puts the network of an instance into trouble for a while.
func (i *instance) suffer(ctx context.Context, f fault) {
	over := i.journal.add(note{kind: f.kind, subject: i.name, spareCLI: f.spareCLI, text: f.String() + " = " + i.name})
	defer over()
	defer i.proxy.suffer(f.trouble())()

	// The end of the test is no reason to fail.
	_ = wait.For(ctx, f.takes)
}

func (f fault) trouble() trouble {
	t := trouble{kind: f.kind, drop: f.drop, spareCLI: f.spareCLI}
	if f.kind == outage || f.kind == drain {
		t.kind = hang
	}

	return t
}

// outage puts the network of all instances into trouble for a while.
func (f fleet) outage(ctx context.Context, j *journal, x fault) {
	over := j.add(note{kind: x.kind, spareCLI: x.spareCLI, text: x.String()})
	defer over()

	for _, i := range f {
		defer i.proxy.suffer(x.trouble())()
	}

	// The end of the test is no reason to fail.
	_ = wait.For(ctx, x.takes)
}

// drain sends SIGTERM to the process soon after the beginning of its network trouble.
func (i *instance) drain(ctx context.Context, f fault) error {
	done := make(chan struct{})

	go func() {
		defer close(done)

		i.suffer(ctx, f)
	}()

	i.present.Lock()
	defer i.present.Unlock()

	// The end of the test is no reason to fail.
	_ = wait.For(ctx, f.takes/8)

	i.journal.add(note{subject: i.name, text: i.name + " gets SIGTERM"})
	i.process.Signal(syscall.SIGTERM)

	select {
	case <-i.process.Ended():
	case <-time.After(wait.Patience):
		i.process.Kill()

		return errors.Errorf("%s did not end within %s of SIGTERM", i.name, wait.Patience)
	}

	<-done

	return nil
}

// A leaseKeeper does things to Leases that no instance does.
type leaseKeeper struct {
	kube      client.Client
	namespace string
	journal   *journal
	witness   *witness
}

// do something to the Lease of the shard that the fault names.
func (k *leaseKeeper) do(ctx context.Context, f fault) error {
	l := &coordinationv1.Lease{}
	l.SetNamespace(k.namespace)
	l.SetName(leasePrefix + "-" + f.subject)

	if f.subject == "" {
		l.SetName(leasePrefix + "-catch-all")
	}

	k.journal.add(note{kind: f.kind, text: f.String()})

	return wait.Until(ctx, wait.Patience, func() error {
		err := k.try(ctx, f, l)
		if kerrors.IsNotFound(err) {
			return nil
		}

		return err
	})
}

func (k *leaseKeeper) try(ctx context.Context, f fault, l *coordinationv1.Lease) error {
	switch f.kind {
	case deleteLease:
		return k.kube.Delete(ctx, l)
	case emptyLease:
		return k.kube.Patch(ctx, l, client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"holderIdentity": ""}}`)))
	default:
	}

	old := k.witness.at(schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}, l.GetNamespace(), l.GetName(), time.Now().Add(-f.age))
	if old == nil {
		return nil
	}

	if err := k.kube.Get(ctx, client.ObjectKeyFromObject(l), l); err != nil {
		return err
	}

	old.SetResourceVersion(l.GetResourceVersion())
	old.SetUID(l.GetUID())

	return k.kube.Update(ctx, old)
}
