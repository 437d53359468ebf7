// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package claim makes sure that at most one instance works on a Workspace.
//
// Labels say which instance is to serve a Workspace. They change at any time, in
// the middle of a run for example, and every instance learns of it at another
// moment. A claim says which instance may work on it now: it names one incarnation
// of one instance, in an annotation that only changes hands when its holder gives
// it back or is dead. [Decide] holds the rules, and nothing else; the test of this
// package explores what they lead to.
package claim

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
)

// A Claim names one incarnation of one instance. The zero value names nobody.
type Claim struct {
	// Namespace and name of the Lease of the instance.
	Namespace, Lease string

	// Holder is the identity under which that incarnation holds the Lease. No other
	// one ever has the same.
	Holder string
}

// Of returns the claim on a Workspace. One that was copied from another Workspace,
// with the rest of its metadata, is nobody's: whom it names has never heard of this
// Workspace, and would never release it.
func Of(o metav1.Object) Claim {
	c, uid := parse(o.GetAnnotations()[shard.ClaimAnnotationKey])
	if uid != o.GetUID() {
		return Claim{}
	}

	return c
}

// parse the value of the annotation. A value that names no instance is nobody's claim.
func parse(s string) (Claim, types.UID) {
	f := strings.Split(s, "/")
	if len(f) != 4 || slices.Contains(f, "") {
		return Claim{}, ""
	}

	return Claim{Namespace: f[0], Lease: f[1], Holder: f[2]}, types.UID(f[3])
}

// On returns the value of the annotation that says that the named instance has claimed
// the Workspace with the supplied UID, empty if the claim names nobody.
func (c Claim) On(uid types.UID) string {
	if c == (Claim{}) {
		return ""
	}

	return strings.Join([]string{c.Namespace, c.Lease, c.Holder, string(uid)}, "/")
}

// Host on which the named instance runs.
func (c Claim) Host() string { return lease.HostOf(c.Holder) }
