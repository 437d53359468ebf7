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
	"strings"

	"github.com/crossplane-contrib/provider-terraform/internal/shard/lease"
)

// A Claim names one incarnation of one instance. The zero value names nobody.
type Claim struct {
	// Lease is the name of the Lease of the instance.
	Lease string

	// Holder is the identity under which that incarnation holds the Lease. No other
	// one ever has the same.
	Holder string
}

// Parse the value of the annotation. A value that names no instance is nobody's
// claim.
func Parse(s string) Claim {
	name, holder, ok := strings.Cut(s, "/")
	if !ok || name == "" || holder == "" {
		return Claim{}
	}

	return Claim{Lease: name, Holder: holder}
}

// String returns the value of the annotation, empty if the claim names nobody.
func (c Claim) String() string {
	if c == (Claim{}) {
		return ""
	}

	return c.Lease + "/" + c.Holder
}

// Host on which the named instance runs.
func (c Claim) Host() string { return lease.HostOf(c.Holder) }
