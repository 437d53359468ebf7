// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	apiwait "k8s.io/apimachinery/pkg/util/wait"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Release releases the Lease so that others may take it at once, and disarms the fence. It must
// not be called before leader election and all runs of this instance have ended. If it fails, the
// fence stays armed, and others wait until the Lease expires.
func (l *Lock) Release(ctx context.Context) error {
	l.writing.Lock()
	defer l.writing.Unlock()

	if !l.isHeld() {
		return nil
	}

	now, err := l.fence.Now()
	if err != nil {
		return err
	}

	// A process that ends before its fence can report why.
	ctx, cancel := context.WithTimeout(ctx, l.fenced-now-l.timing.rest()/20)
	defer cancel()

	_ = apiwait.PollUntilContextCancel(ctx, l.timing.RetryPeriod/4, true, func(ctx context.Context) (bool, error) {
		err = l.release(ctx)

		return err == nil, nil
	})
	if err != nil {
		return errors.Wrapf(err, "cannot release Lease %s in time", l.Describe())
	}

	l.mu.Lock()
	l.held = false
	l.timer.Stop()
	l.mu.Unlock()

	l.options.Files.Remove(l.Identity())

	return l.fence.Disarm()
}

// release makes one attempt.
func (l *Lock) release(ctx context.Context) error {
	r, _, err := l.Interface.Get(ctx)

	switch {
	case kerrors.IsNotFound(err):
		// There is no Lease to write: others wait until the last Lease expires.
		return nil
	case err != nil:
		return err
	case r.HolderIdentity != l.Identity():
		return nil
	}

	r.HolderIdentity = ""

	return l.Interface.Update(ctx, *r)
}
