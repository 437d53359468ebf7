// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package statelock decides whether a dead process has left a lock on a Terraform state.
package statelock

import (
	"context"
	"fmt"
	"os/user"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// Predecessors are the instances that worked on a Workspace before this one, and died or released
// it. They may have left a lock on its state. Instances of other clusters may have the same hosts.
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

	// LongestRun is longer than any run takes.
	LongestRun time.Duration

	// IsServed says whether another instance, on the supplied host, may work on a Workspace now.
	IsServed func(ctx context.Context, o client.Object, host string) bool
}

// Who returns how the runs of this instance name themselves in a lock.
func (d Detector) Who() string {
	name := ""
	// Like the CLI, which takes locks without a user.
	if u, err := user.Current(); err == nil {
		name = u.Username
	}

	return name + "@" + d.Host
}

// WhyKept returns why a lock on the state of a Workspace is not to be removed now, or nothing if no
// live process holds it. If only the age of the lock is missing, removal is when it may be removed.
//
// A recorded run proves that: of this instance, or of one that died in it. The host of a dead
// predecessor does not, because an instance of another cluster that uses the state may have the same
// host. Without a record, as after the loss of a disk, the age of the lock has to prove it.
func (d Detector) WhyKept(ws client.Object, l terraform.Lock, now time.Time) (why string, removal time.Time) {
	const stranger = "its holder may be alive: no dead instance of this provider has made it"

	p, host := d.Predecessors(ws), l.Host()

	since, err := l.Since()
	if err != nil || host == "" {
		return stranger, time.Time{}
	}

	if slices.ContainsFunc(d.FailedRuns.Of(ws.GetUID()), func(r Run) bool { return d.left(r, l, since, p) }) {
		return "", time.Time{}
	}

	// A later lock on this host belongs to this instance or to a person.
	if !slices.Contains(p.Hosts, host) || host == d.Host && !since.Before(p.Until) {
		return stranger, time.Time{}
	}

	removal = since.Add(d.LongestRun)
	if !now.Before(removal) {
		return "", time.Time{}
	}

	return fmt.Sprintf("an instance of this provider on a host of that name is dead, but it has left no record of a run that made the lock, and an instance of another cluster may have the same host name. "+
		"The provider removes it after %s, when no run can hold it any more", removal.UTC().Format(time.RFC3339)), removal
}

// left says whether a run may have left the supplied lock behind, which was made at the supplied time.
func (d Detector) left(r Run, l terraform.Lock, since time.Time, p Predecessors) bool {
	return r.Who == l.Who && !since.Before(r.Start) && !since.After(r.until(p, d.LongestRun)) && (!r.PlanWithoutLock || l.ForPlan())
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
	Err  error          // of the CLI
	Lock terraform.Lock // Empty if the backend does not say anything about it.
	Why  string         // it is not removed

	// Removal is when it will be removed, or zero.
	Removal time.Time

	// Lease is the namespace and name of the Lease that is the lock. It is empty if that is not certain.
	Lease string
}

// Error names the lock and its holder.
func (e LockedError) Error() string {
	if e.Lock == (terraform.Lock{}) {
		// What follows is the lock that the run wanted.
		said, _, _ := strings.Cut(e.Err.Error(), "Lock Info:")

		said = strings.TrimSpace(said)
		// The request for the lock may have failed, which pg reports in the same way.
		if !strings.Contains(strings.ToLower(said), "already locked") {
			return said
		}

		return said + ": the backend does not say who holds it"
	}

	remedy := "remove it with the command force-unlock of the CLI and the same backend"

	switch {
	case e.Lease != "":
		remedy = "delete the Lease " + e.Lease
	case e.Lock.MakesState():
		remedy += ". If the state was never made, which the command needs, remove the lock itself: with the backend kubernetes the holder in the Lease with that ID, with s3 the object whose name ends in .tflock"
	}

	// All that Terraform shows of the lock in an http backend is its ID.
	if e.Lock == (terraform.Lock{ID: e.Lock.ID}) {
		return fmt.Sprintf("the state is locked (lock ID %s): it is left alone, because %s. If nothing holds it any more, %s", e.Lock.ID, e.Why, remedy)
	}

	created := e.Lock.Created
	if since, err := e.Lock.Since(); err == nil {
		created = since.UTC().Format(time.RFC3339)
	}

	operation := strings.ToLower(strings.TrimPrefix(e.Lock.Operation, "OperationType"))
	if operation == "apply" {
		remedy += ". What a killed run has created may be missing in the state: look for it first"
	}

	return fmt.Sprintf("the state is locked by %s since %s, for %s (lock ID %s): it is left alone, because %s. If nothing holds it any more, %s",
		e.Lock.Who, created, operation, e.Lock.ID, e.Why, remedy)
}

// Unwrap returns the error of the CLI.
func (e LockedError) Unwrap() error { return e.Err }
