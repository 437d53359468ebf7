// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// maxInterruptGrace limits the time in which an interrupted run may save its state and release
// its lock, if the timing of the Lease leaves as much.
const maxInterruptGrace = 10 * time.Second

// Timing of a Lease.
type Timing struct {
	// Duration after which others take a Lease that was not renewed.
	Duration time.Duration

	// RenewDeadline is the time for which the holder tries to renew it before it gives up.
	RenewDeadline time.Duration

	// RetryPeriod is the time between two attempts.
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
		return errors.Errorf("--lease-renew-deadline is %s: it must be 1s or more, and three quarters of --lease-duration (%s) or less. The rest is for runs of the CLI to be interrupted and to save their state before the Lease expires: set it to %s, or set a longer --lease-duration", t.RenewDeadline, t.Duration, latest)
	case t.RetryPeriod <= 0 || t.RetryPeriod > t.RenewDeadline/2:
		return errors.Errorf("--lease-retry-period is %s: it must be greater than 0, and half of --lease-renew-deadline (%s) or shorter", t.RetryPeriod, t.RenewDeadline)
	case t.ApplyDuration < 0 || t.ApplyDuration%time.Second != 0:
		return errors.Errorf("--lease-apply-duration is %s: it must be 0 or more, in whole seconds", t.ApplyDuration)
	default:
		return nil
	}
}

// After the renew deadline, a holder that could not renew its Lease has the rest of the
// duration to end. It is divided like this, so that one step ends before the next begins:
//
//	0 to 1/2    runs are interrupted, and may take at most 10 s before they are killed;
//	1/2 to 3/4  reconciles record the results of their runs, if the API server answers;
//	3/4 to 9/10 reconciles are canceled, and the process ends;
//	9/10        the fence kills the process, and the kernel kills its CLI processes;
//	1           others take the Lease.
func (t Timing) rest() time.Duration { return t.Duration - t.RenewDeadline }

// InterruptGrace is the time that an interrupted run may take before it is killed.
func (t Timing) InterruptGrace() time.Duration { return min(t.rest()/2, maxInterruptGrace) }

// AbortLimit is the time from the renew deadline until reconciles are canceled.
func (t Timing) AbortLimit() time.Duration { return t.rest() * 3 / 4 }

// Longest duration that is written to the Lease.
func (t Timing) Longest() time.Duration { return max(t.Duration, t.ApplyDuration) }

// LongestDeadline is the renew deadline for the longest duration.
func (t Timing) LongestDeadline() time.Duration { return t.deadline(t.Longest()) }

// deadline returns the time from a renewal with the supplied duration until the holder gives up.
func (t Timing) deadline(duration time.Duration) time.Duration { return duration - t.rest() }

// fenced returns the time from a renewal with the supplied duration until the process is killed.
func (t Timing) fenced(duration time.Duration) time.Duration { return duration - t.rest()/10 }

// undisturbed is how long a Lease has to be missing before an instance without knowledge of it
// makes it. A live holder makes it again within one retry period.
func (t Timing) undisturbed() time.Duration { return 2 * t.RetryPeriod }
