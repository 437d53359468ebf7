// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// A gateAction is what a process does that waits until its instance may work.
type gateAction int

const (
	// standBy until this process is elected.
	standBy gateAction = iota

	// awaitEnd of the session whose gate opened last.
	awaitEnd

	// enter writes the own session into the Lease of the leader election, on the version that was read.
	enter

	// proceed: the own session is there.
	proceed
)

// decideGate decides from the Lease of the leader election, or nil if there is none. ended says that the
// session that it names has ended.
func decideGate(l *coordinationv1.Lease, identity, session string, ended func(session string) bool) gateAction {
	if l == nil || ptr.Deref(l.Spec.HolderIdentity, "") != identity {
		return standBy
	}

	switch last := l.GetAnnotations()[shard.SessionAnnotationKey]; {
	case last == session:
		return proceed
	case last != "" && !ended(last):
		return awaitEnd
	default:
		return enter
	}
}
