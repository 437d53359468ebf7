// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"os"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/periodic"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/fence"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/incarnation"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
)

// leaseRightInterval is the time between two checks whether an instance without a Lease may hold
// one now.
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

	if i.o.HoldsLease, err = mayHoldLease(ctx, i.kube, i.o.LeaseNamespace); err == nil && !i.o.HoldsLease {
		i.lacksLeaseRight = true
		i.log.Info("Starting without a Lease, because Leases may not be written: make sure that no other instance runs at the same time", "namespace", i.o.LeaseNamespace)
	}

	return err
}

// mayHoldLease says whether this instance has the right to create and update Leases
// in the supplied namespace.
func mayHoldLease(ctx context.Context, kube client.Client, namespace string) (bool, error) {
	for _, verb := range []string{"get", "create", "update"} {
		allowed, err := may(ctx, kube, authorizationv1.ResourceAttributes{Verb: verb, Group: "coordination.k8s.io", Resource: "leases", Namespace: namespace})
		if err != nil || !allowed {
			return false, errors.Wrap(err, "cannot find out whether Leases may be written")
		}
	}

	return true, nil
}

// leaseRight ends this instance, which lacks the right to hold a Lease, when it has that right. Its
// Role may have been bound after its start. Without a Lease it would work beside the next instance,
// which would find a free Lease.
func (i *instance) leaseRight() periodic.Task {
	return periodic.Task{Interval: leaseRightInterval, Do: func(ctx context.Context) error {
		allowed, err := mayHoldLease(ctx, i.kube, i.o.LeaseNamespace)
		if allowed {
			i.fail(errors.Errorf("Leases in namespace %q may be written now: this instance ends, so that it holds a Lease after its restart", i.o.LeaseNamespace))
		}

		return err
	}}
}

// may says whether this instance has a right.
func may(ctx context.Context, kube client.Client, a authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &a}}
	err := kube.Create(ctx, review)

	return review.Status.Allowed, err
}

// newLock makes the Lease of an instance that holds one.
func (i *instance) newLock(context.Context) error {
	if !i.o.HoldsLease {
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
