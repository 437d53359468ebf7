// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// maxInterruptGrace limits the time in which an interrupted run may save its state and release
// its lock, if the timing of the Lease leaves as much.
const maxInterruptGrace = 10 * time.Second

// Timing of a session and of leader election.
type Timing struct {
	// Duration after which others may end a session that was not renewed.
	Duration time.Duration

	// RenewDeadline is the time after the last renewal at which the runs of a process are interrupted.
	RenewDeadline time.Duration

	// RetryPeriod is the time between two renewals.
	RetryPeriod time.Duration

	// ApplyDuration replaces Duration while an apply or a destroy is in progress, if it is longer.
	// The renew deadline is later by the difference.
	ApplyDuration time.Duration
}

// Validate returns an error that names the flag, its value and the allowed values.
func (t Timing) Validate() error {
	latest := t.Duration * 3 / 4

	switch {
	case t.Duration < 2*time.Second || t.Duration%time.Second != 0:
		return errors.Errorf("--lease-duration is %s: it must be 2s or more, in whole seconds", t.Duration)
	case t.RenewDeadline < time.Second || t.RenewDeadline > latest:
		return errors.Errorf("--lease-renew-deadline is %s: it must be 1s or more, and three quarters of --lease-duration (%s) or less. The rest is for runs of the CLI to be interrupted and to save their state before others may take over: set it to %s, or set a longer --lease-duration", t.RenewDeadline, t.Duration, latest)
	case t.RetryPeriod <= 0 || t.RetryPeriod > t.RenewDeadline/2:
		return errors.Errorf("--lease-retry-period is %s: it must be greater than 0, and half of --lease-renew-deadline (%s) or shorter", t.RetryPeriod, t.RenewDeadline)
	case t.ApplyDuration < 0 || t.ApplyDuration%time.Second != 0:
		return errors.Errorf("--lease-apply-duration is %s: it must be 0 or more, in whole seconds", t.ApplyDuration)
	default:
		return nil
	}
}

// After the renew deadline, the runs of a process that could not renew its session have the rest of
// the duration to end. It is divided like this, so that one step ends before the next begins:
//
//	0 to 1/2    runs are interrupted, and may take at most 10 s before they are killed;
//	1/2 to 3/4  reconciles of a process whose session is over record the results of their runs;
//	3/4 to 9/10 these reconciles are canceled, and that process ends;
//	9/10        the fence kills a process that still has a run, and the kernel kills its CLI processes;
//	1           others may end the session.
func (t Timing) rest() time.Duration { return t.Duration - t.RenewDeadline }

// InterruptGrace is the time that an interrupted run may take before it is killed.
func (t Timing) InterruptGrace() time.Duration { return min(t.rest()/2, maxInterruptGrace) }

// AbortLimit is the time from the end of a session until the reconciles of its process are canceled.
func (t Timing) AbortLimit() time.Duration { return t.rest() * 3 / 4 }

// Longest duration that a session may have.
func (t Timing) Longest() time.Duration { return max(t.Duration, t.ApplyDuration) }

// deadline returns the time from a renewal with the supplied duration until runs are interrupted.
func (t Timing) deadline(duration time.Duration) time.Duration { return duration - t.rest() }

// fenced returns the time from a renewal with the supplied duration until the process is killed.
func (t Timing) fenced(duration time.Duration) time.Duration { return duration - t.rest()/10 }

// request is the limit of one request about a session: one without an answer must not use up the time for
// renewal.
func (t Timing) request() time.Duration { return max(t.RenewDeadline/2, time.Second) }
