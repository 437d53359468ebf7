// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// arm sets the fence and the timer of the renew deadline.
func (l *Lock) arm(fenced time.Duration, deadline time.Time) error {
	l.fenced = fenced

	l.mu.Lock()
	defer l.mu.Unlock()

	l.deadline = deadline

	if l.timer == nil {
		l.timer = time.AfterFunc(time.Until(deadline), l.expire)
	} else {
		l.timer.Reset(time.Until(deadline))
	}

	if err := l.fence.Arm(fenced); err != nil {
		return err
	}

	if l.paused {
		l.options.Log.Info("Going on: this instance has its Lease again")

		l.paused = false
		l.options.Resume()
	}

	return nil
}

// expire is called at the renew deadline. It waits for no request.
func (l *Lock) expire() {
	// A renewal may have moved the deadline while the timer fired.
	if expired := l.pauseOrExpire(); expired {
		l.lose(errors.Errorf("the Lease %s could not be renewed for so long that others will soon take it", l.Describe()))
	}
}

// pauseOrExpire pauses this instance if the renew deadline is over and the instance may pause: it then
// does not hold the Lease any more and needs no fence. It returns true if the deadline is over and
// the instance has to end instead.
func (l *Lock) pauseOrExpire() bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	switch {
	case !l.held || time.Now().Before(l.deadline):
		return false
	case l.options.Pause == nil || !l.options.Pause():
		return true
	}

	l.options.Log.Info("Pausing until this instance can renew its Lease: nothing is in progress")

	l.held, l.paused = false, true

	return l.fence.Disarm() != nil
}

func (l *Lock) lose(err error) {
	l.once.Do(func() {
		l.mu.Lock()
		l.reason = err
		l.mu.Unlock()

		l.lost(err)
	})
}

// Lost returns why the Lease was lost, or nil if it was not.
func (l *Lock) Lost() error {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.reason
}
