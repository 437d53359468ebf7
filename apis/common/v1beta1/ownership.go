// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// An Ownership says which instance may work on a Workspace, and what belongs to the
// Workspace. Only the provider writes it.
//
// It is in the status because annotations cannot be trusted: `kubectl replace`, GitOps
// tools, restored backups and copies of manifests write annotations that belong to
// another time or to another object. None of them writes the status.
type Ownership struct {
	// UID of the Workspace that this was written for. An ownership with another UID
	// was copied from another Workspace, and is ignored.
	// +optional
	UID types.UID `json:"uid,omitempty"`

	// Claim names the session of the instance that may run the CLI for the Workspace. The
	// claim of a session that has ended stays until the Workspace is claimed again.
	// +optional
	Claim *Claim `json:"claim,omitempty"`

	// ClaimedAt is when the instance of the claim took the Workspace.
	// +optional
	ClaimedAt *metav1.Time `json:"claimedAt,omitempty"`

	// PreviousHosts are the hosts of the last instances that ended without releasing
	// the Workspace, or that may have left a lock on its state. No process holds a lock
	// on the state that one of them made. If the instance that serves the Workspace now
	// is on the same host, this is true of locks from before it took over.
	// +optional
	PreviousHosts []string `json:"previousHosts,omitempty"`

	// Lineage of the Terraform state that belongs to the Workspace. A state belongs to
	// one Workspace only.
	// +optional
	Lineage string `json:"lineage,omitempty"`

	// CreationStarted is when the Workspace last began to create infrastructure where it
	// had none, or to take over infrastructure that was there.
	// +optional
	CreationStarted *metav1.Time `json:"creationStarted,omitempty"`

	// CreationSucceeded is when all of that infrastructure first existed.
	// +optional
	CreationSucceeded *metav1.Time `json:"creationSucceeded,omitempty"`

	// TakenOverAt is when the Workspace took over resources that it had not created.
	// Until it has applied a plan of its own, it destroys nothing without the annotation
	// terraform.crossplane.io/accept-taken-over-state. Then the field is removed.
	// +optional
	TakenOverAt *metav1.Time `json:"takenOverAt,omitempty"`
}

// Of returns a copy of this ownership if it was written for the Workspace with the
// supplied UID, and the zero value otherwise.
func (o *Ownership) Of(uid types.UID) Ownership {
	if o == nil || o.UID != uid {
		return Ownership{}
	}

	return *o.DeepCopy()
}

// For returns a copy of this ownership that is written for the Workspace with the
// supplied UID. It is nil if the ownership is empty.
func (o *Ownership) For(uid types.UID) *Ownership {
	out := o.DeepCopy()
	out.UID = uid

	if out.Claim == nil && len(out.PreviousHosts) == 0 && out.Lineage == "" && out.CreationStarted == nil && out.CreationSucceeded == nil && out.TakenOverAt == nil {
		return nil
	}

	return out
}

// TakenBy says whether now, which was read later than this ownership, has the claim of
// another instance: this one must not write the status any more.
func (o *Ownership) TakenBy(now Ownership) bool {
	return now.Claim != nil && (o.Claim == nil || !now.Claim.Same(*o.Claim))
}

// A Claim names the session of one process of the provider.
type Claim struct { //nolint:recvcheck // The generated methods have pointers.
	// Namespace of the Lease of the session.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Lease is the name of the Lease of the session. No other session has the same.
	// +optional
	Lease string `json:"lease,omitempty"`

	// Holder is the identity of the process: the name of its host, and a random part.
	// +optional
	Holder string `json:"holder,omitempty"`

	// Instance is what the process serves: the name of its shard, its range or its mode.
	// +optional
	Instance string `json:"instance,omitempty"`

	// LongestSeconds is the longest time for which the session may live without a
	// renewal. It counts if the Lease is gone.
	// +optional
	LongestSeconds int64 `json:"longestSeconds,omitempty"`
}

// Same says whether both claims name the same session. The other fields may be missing:
// older CustomResourceDefinitions do not keep them.
func (c Claim) Same(o Claim) bool {
	return c.Namespace == o.Namespace && c.Lease == o.Lease && c.Holder == o.Holder
}
