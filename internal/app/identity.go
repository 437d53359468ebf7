// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"os"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/periodic"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/fence"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/incarnation"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
)

// leaseRightInterval is the interval of checks whether an instance without a Lease may hold one now.
const leaseRightInterval = 10 * time.Second

// identify sets the name of this instance and decides whether it holds a Lease: without
// --leader-election, an instance runs without a Lease if it has no right to one.
func (i *instance) identify(ctx context.Context) (err error) {
	if i.identity, err = lease.NewIdentity(); err != nil {
		return err
	}

	if !i.o.HoldsLease || i.o.LeaderElection != nil || i.o.Shard.Sharded() {
		return nil
	}

	allowed, err := i.mayHoldLease(ctx)
	if i.lacksLeaseRight = err == nil && !allowed; i.lacksLeaseRight {
		i.log.Info("Starting without a Lease, because Leases may not be written: make sure that no other instance runs at the same time", "namespace", i.o.LeaseNamespace)
	}

	return err
}

func (i *instance) mayHoldLease(ctx context.Context) (bool, error) {
	missing, err := missingRight(ctx, i.unlimited, authorizationv1.ResourceAttributes{Group: "coordination.k8s.io", Resource: "leases", Namespace: i.o.LeaseNamespace}, "get", "create", "update")

	return missing == "" && err == nil, errors.Wrap(err, "cannot find out whether Leases may be written")
}

// leaseRight ends this instance, which lacks the right to hold a Lease, when it has that right. Its
// Role may have been bound after its start. Without a Lease it would work beside the next instance,
// which would find a free Lease.
func (i *instance) leaseRight() periodic.Task {
	return periodic.Task{Interval: leaseRightInterval, Do: func(ctx context.Context) error {
		allowed, err := i.mayHoldLease(ctx)
		if allowed {
			i.fail(errors.Errorf("Leases in namespace %q may be written now: this instance ends, so that it holds a Lease after its restart", i.o.LeaseNamespace))
		}

		return err
	}}
}

func (i *instance) newLock(context.Context) error {
	if !i.o.HoldsLease || i.lacksLeaseRight {
		return nil
	}

	if err := checkInit(os.Getpid(), i.o, i.log); err != nil {
		return err
	}

	f, err := fence.New()
	if err != nil {
		return errors.Wrap(err, "cannot make fence")
	}

	lost := func(err error) {
		i.log.Info("Stopping, and interrupting what is in progress, because other instances may take over", "error", err)
		i.abort(err)
	}

	lo := lease.LockOptions{Applying: i.cli.Changing, Files: incarnation.New(incarnation.Dir), Assignable: i.o.AssignShards, Log: i.log}
	if i.o.pauses() {
		lo.Pause, lo.Resume = i.drain.Pause, i.drain.Resume
	}

	i.lock, err = lease.NewLock(i.config, i.o.LeaseNamespace, i.o.Shard.LeaseName(), i.identity, i.o.Lease, f, lost, lo)

	return err
}

// checkInit refuses to hold a Lease as the init process of a container, which the fence cannot
// kill because of a rule of the kernel. An instance without the flag starts anyway, as it did
// before there were Leases.
func checkInit(pid int, o *Options, log logging.Logger) error {
	const remedy = "an instance that cannot renew its Lease could not be killed before another one takes over. Put a minimal init in front of it, as the image of this project does with tini, or set shareProcessNamespace: true in the Pod"

	switch {
	case pid != 1:
		return nil
	case o.Shard.Sharded() || ptr.Deref(o.LeaderElection, false):
		return errors.Errorf("this process has the ID 1, the init process of its container: %s", remedy)
	default:
		log.Info("WARNING: this process has the ID 1, the init process of its container", "consequence", remedy)

		return nil
	}
}

// bindRoot ensures that no other cluster uses the root: each of the two would delete the
// directories of the other's Workspaces as garbage.
func (i *instance) bindRoot(ctx context.Context) error {
	cluster := &metav1.PartialObjectMetadata{}
	cluster.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))

	// Every API server makes this ConfigMap at its first start. Unlike the namespace kube-system, a
	// provider that Crossplane has installed may read it.
	err := i.unlimited.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "extension-apiserver-authentication"}, cluster)
	if kerrors.IsForbidden(err) || kerrors.IsNotFound(err) {
		i.log.Info("Cannot find out which cluster this is: make sure that no other cluster uses the same directory", "root", i.root.Path(), "error", err)

		return nil
	}

	if err != nil {
		return errors.Wrap(err, "cannot find out which cluster this is")
	}

	return errors.Wrap(i.root.Bind(string(cluster.GetUID())), "XP_TF_DIR")
}
