// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"slices"
	"strings"
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
	"github.com/crossplane-contrib/provider-terraform/internal/shard/incarnation"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
)

// leaseRightInterval is the interval of checks whether an instance without a session may have one now.
const leaseRightInterval = 10 * time.Second

// identify decides whether this process has a session, and names it. Without a flag that needs one, an
// instance runs without a session if it has no right to write Leases, or no namespace for them.
func (i *instance) identify(ctx context.Context) (err error) {
	if i.identity, err = session.NewIdentity(); err != nil {
		return err
	}

	if i.hasSession = i.o.LeaseNamespace != ""; !i.hasSession {
		i.log.Info("Starting without a session, because there is no namespace for Leases: make sure that no other instance runs at the same time", "remedy", "set --lease-namespace")

		return nil
	}

	if !i.o.needsLease() {
		allowed, err := i.mayHoldLease(ctx)
		if err != nil {
			return err
		}

		if i.lacksLeaseRight = !allowed; i.lacksLeaseRight {
			i.hasSession = false
			i.log.Info("Starting without a Lease, because Leases may not be written: make sure that no other instance runs at the same time", "namespace", i.o.LeaseNamespace)

			return nil
		}
	}

	return i.succeed(ctx)
}

// succeed ends the sessions of earlier processes of this pod that are proven to be dead. This process takes
// the identity of one: then leader election need not wait until the Lease expires.
func (i *instance) succeed(ctx context.Context) (err error) {
	// Other pods of the node may share the memory. A lock on a state names the host.
	scope := session.HostOf(i.identity) + "/" + i.o.LeaseNamespace + "/" + i.o.Shard.LeaseName()

	dead := incarnation.Dead(incarnation.Dir, scope)
	// One that has opened a session was elected. One that has not may have been, just before its death.
	slices.SortFunc(dead, func(a, b *incarnation.ProcessFile) int { return strings.Compare(b.Session, a.Session) })

	for _, p := range dead {
		found, err := p.Session == "", error(nil)
		if !found {
			found, err = session.EndProven(ctx, i.unlimited, client.ObjectKey{Namespace: i.o.LeaseNamespace, Name: p.Session}, p.Identity)
		}

		switch {
		case err != nil:
			return err
		case !found: // It may be a process of another cluster.
			p.Close()
		case i.process == nil && p.Keep() == nil:
			i.log.Info("Succeeding an earlier process of this pod: it and all children of it have ended", "identity", p.Identity, "session", p.Session)
			i.process, i.identity = p, p.Identity
		default:
			p.Remove()
		}
	}

	if i.process == nil {
		if i.process, err = incarnation.Create(incarnation.Dir, i.identity, scope); err != nil {
			i.log.Info("If this process is killed, the next one in this pod will wait until the session has expired", "error", err)
		}
	}

	return nil
}

func (i *instance) mayHoldLease(ctx context.Context) (bool, error) {
	missing, err := missingRight(ctx, i.unlimited, authorizationv1.ResourceAttributes{Group: "coordination.k8s.io", Resource: "leases", Namespace: i.o.LeaseNamespace}, "get", "create", "update")

	return missing == "" && err == nil, errors.Wrap(err, "cannot find out whether Leases may be written")
}

// leaseRight ends this instance, which lacks the right to hold a Lease, when it has that right. Its
// Role may have been bound after its start. Without a session it would work beside the next instance.
func (i *instance) leaseRight() periodic.Task {
	return periodic.Task{Interval: leaseRightInterval, Do: func(ctx context.Context) error {
		allowed, err := i.mayHoldLease(ctx)
		if allowed {
			i.fail(errors.Errorf("Leases in namespace %q may be written now: this instance ends, so that it holds a Lease after its restart", i.o.LeaseNamespace))
		}

		return err
	}}
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
