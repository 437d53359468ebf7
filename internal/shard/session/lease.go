// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package session proves whether a process is alive.
//
// Each process has a session: a Lease under a name that was never used before. Only that process
// renews it. A session is dead when its Lease says that it has ended, or was missing for long and cannot be written. These may
// write that:
//
//  1. its own process, when no run of it is left;
//  2. a later process of the same pod, if the kernel says that the process and all of its children
//     have ended: see the package incarnation;
//  3. any process that has seen the Lease unchanged for its duration. A late renewal then conflicts
//     with the end. Before that, the fence has killed the process if it still had a run.
//
// A Lease that was missing for the longest duration is made as one that has ended. If that is refused, because no process may
// write there, its session counts as dead without it: a process never renews a Lease that was gone once.
//
// So a process may count as alive for too long, but never as dead too early. What its Lease says in
// between is no proof: a person can delete it, empty it, or put back an older copy. The decisions are
// in [renewals], [observation] and [decideGate], without I/O. The tests of the package claim explore
// all states of a model that makes them.
package session

import (
	"crypto/rand"
	"os"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// NamePrefix begins the names of the Leases of sessions.
const NamePrefix = "crossplane-provider-terraform-session-"

// identitySeparator separates the host and the random part of an identity.
const identitySeparator = "_"

// NewIdentity returns a unique name of a process: the name of the host, so that people can find the
// process, and 80 random bits.
func NewIdentity() (string, error) {
	host, err := os.Hostname()

	return host + identitySeparator + random(), errors.Wrap(err, "cannot get name of host")
}

func random() string { return strings.ToLower(rand.Text()[:16]) }

// HostOf returns the name of the host of the process with the supplied identity. It is empty if the
// identity does not have the form of NewIdentity.
func HostOf(identity string) string {
	return identity[:max(strings.LastIndex(identity, identitySeparator), 0)]
}

// hasEnded says whether a session has ended, according to its Lease.
func hasEnded(l *coordinationv1.Lease) bool {
	return ptr.Deref(l.Spec.HolderIdentity, "") == "" && l.GetAnnotations()[shard.ReleasedAnnotationKey] != ""
}

// end writes the end of the session of the supplied holder into its Lease. The time of renewal becomes
// that of the end.
func end(l *coordinationv1.Lease, holder string) {
	metav1.SetMetaDataAnnotation(&l.ObjectMeta, shard.ReleasedAnnotationKey, holder)

	l.Spec.HolderIdentity = new("")
	l.Spec.RenewTime = new(metav1.NowMicro())
}

func durationOf(l *coordinationv1.Lease) time.Duration {
	return time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 0)) * time.Second
}

func seconds(d time.Duration) *int32 { return new(int32(d / time.Second)) } //nolint:gosec // Durations of Leases are short.

// A version identifies one version of a Lease. Every write changes it.
type version struct {
	uid      types.UID
	resource string
}

func versionOf(l *coordinationv1.Lease) version {
	return version{uid: l.GetUID(), resource: l.GetResourceVersion()}
}
