// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package statelock decides whether a dead process has left a lock on a Terraform state.
package statelock

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// MakesState is the operation in a lock that the kubernetes backend takes to make a state.
const MakesState = "init"

// Predecessors are the instances that worked on a Workspace before this one, and died or released
// it. They may have left a lock on its state.
type Predecessors struct {
	Hosts []string

	// Until is when this instance took over. Later locks on this host belong to this instance or
	// to a person.
	Until time.Time
}

// A Detector finds out which locks were left behind by dead processes.
type Detector struct {
	Host         string // of this instance
	Predecessors func(o client.Object) Predecessors
	FailedRuns   *FailedRuns
	Users        *StateUsers

	// IsServed says whether another instance, on the supplied host, may work on a Workspace now.
	IsServed func(ctx context.Context, o client.Object, host string) bool
}

// IsOrphan says whether a lock on the state of a Workspace was left behind by an instance that no
// longer works on it, or by a run of this instance that has ended. All other holders may be alive.
func (d Detector) IsOrphan(ws client.Object, l terraform.Lock) bool {
	host := l.Host()
	if host == "" {
		return false
	}

	p := d.Predecessors(ws)
	dead := slices.Contains(p.Hosts, host)

	if host != d.Host {
		return dead
	}

	since, err := l.Since()
	if err != nil {
		return false
	}

	return (dead && since.Before(p.Until)) || d.FailedRuns.left(ws.GetUID(), l, since)
}

// IsOwnAttempt says whether a lock is the one that a run of this instance, which began at the
// supplied time, tried to take. With some backends the CLI prints that one, not the existing one.
func (d Detector) IsOwnAttempt(l terraform.Lock, start time.Time) bool {
	since, err := l.Since()

	return err == nil && l.Host() == d.Host && !since.Before(start)
}

// MayBeLocked says whether a lock may have been left on the state of a Workspace: by an instance
// before this one, unless this one has observed the Workspace since, or by a run of this one.
//
// Earlier instances have not worked on a Workspace that was created later. The clocks of the machines
// may differ. If a difference hides a lock, the first apply finds it.
func (d Detector) MayBeLocked(ws client.Object, observed bool) bool {
	p, created := d.Predecessors(ws), ws.GetCreationTimestamp()
	hadPredecessors := len(p.Hosts) > 0 && (p.Until.IsZero() || !created.After(p.Until))

	return (!observed && hadPredecessors) || d.FailedRuns.Any(ws.GetUID())
}

// A LockedError is the refusal to work with a state that is locked, with the remedy.
type LockedError struct {
	Err  error // of the CLI
	Lock terraform.Lock
	Why  string // it is not removed
}

// Error names the lock and its holder.
func (e LockedError) Error() string {
	remedy := "remove it with force-unlock"
	if e.Lock.Operation == MakesState {
		remedy += ", or, if the backend is kubernetes and the state was never made, remove the holder from the Lease with that ID with kubectl"
	}

	return fmt.Sprintf("the state is locked by %s since %s, for %s (lock ID %s): it is left alone, because %s. If nobody holds it any more, %s",
		e.Lock.Who, e.Lock.Created, e.Lock.Operation, e.Lock.ID, e.Why, remedy)
}

// Unwrap returns the error of the CLI.
func (e LockedError) Unwrap() error { return e.Err }
