// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// Leftovers removes what instances that were killed have left in working directories:
// plans and secrets. Nobody else does it for a Workspace that has moved to a shard
// with another disk. A directory that a session of any instance uses is left alone.
type Leftovers struct {
	root     *workdir.Root
	interval time.Duration
	log      logging.Logger
}

// NewLeftovers returns Leftovers that looks at the start and every interval, only at
// the start if that is not positive.
func NewLeftovers(root *workdir.Root, interval time.Duration, log logging.Logger) *Leftovers {
	return &Leftovers{root: root, interval: interval, log: log}
}

// NeedLeaderElection says that secrets do not wait for a Lease.
func (l *Leftovers) NeedLeaderElection() bool { return false }

// Start removes until ctx is done.
func (l *Leftovers) Start(ctx context.Context) error {
	var tick <-chan time.Time

	if l.interval > 0 {
		t := time.NewTicker(l.interval)
		defer t.Stop()

		tick = t.C
	}

	for {
		if err := l.root.Sweep(removeSecrets); err != nil {
			l.log.Info("Cannot remove what was left in working directories", "error", err)
		}

		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}
	}
}

// removeSecrets removes the plan, which has secrets in it, and all secret inputs.
func removeSecrets(dir *workdir.Dir) error {
	if err := os.Remove(filepath.Join(dir.Path(), planFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Wrap(err, "cannot remove plan")
	}

	return errors.Wrap(dir.RemoveSecrets(), "cannot remove secrets")
}
