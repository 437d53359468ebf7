// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"context"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// minMovedAfter is the minimum time since the last run of a Workspace that moved away.
const minMovedAfter = time.Hour

// Served selects the Workspaces that an instance serves: those whose labels the selector selects
// and that Serves accepts.
type Served interface {
	Selector() labels.Selector
	Serves(l map[string]string, uid types.UID) bool
}

// A SecretCleaner removes files that killed instances have left in working directories: plans and
// secrets. For a Workspace that has moved away it removes all files that may contain credentials:
// the shard that serves the Workspace now may have another disk. It does not touch a directory
// that any instance uses. All fields are required.
type SecretCleaner struct {
	Root *workdir.Root

	// Live reads from the API server. A cache may not be ready yet.
	Live client.Reader

	// Served selects the Workspaces that have not moved away.
	Served Served

	// Interval between two rounds. If it is not positive, the only round is at the start.
	Interval time.Duration

	// PollInterval of the Workspaces: see movedAfter.
	PollInterval time.Duration

	// Remove is called with each directory that is not in use.
	Remove func(dir *workdir.Dir) error

	Log logging.Logger
}

// movedAfter returns how long after its last run a Workspace of another instance counts as moved
// away from this disk. On a disk that shards share, the other instance uses the directory at each
// poll. If the directory was cleaned between two polls, each poll would have to initialize it
// again. Two intervals are the longest time between two polls, jitter included. The time is the same
// for all Workspaces: their annotations would have to be read from the API server.
func (c *SecretCleaner) movedAfter() time.Duration { return max(minMovedAfter, 2*c.PollInterval) }

// NeedLeaderElection returns false: secrets must be removed without waiting for a Lease.
func (c *SecretCleaner) NeedLeaderElection() bool { return false }

// Start removes until ctx is done. Directories that another machine may still be using are
// cleaned as soon as that is over, regardless of the interval.
func (c *SecretCleaner) Start(ctx context.Context) error {
	for {
		wait, err := c.clean(ctx)
		if err != nil && ctx.Err() == nil {
			c.Log.Info("Cannot remove what was left in working directories", "error", err)
		}

		if c.Interval > 0 && (wait <= 0 || c.Interval < wait) {
			wait = c.Interval
		}

		// Without an interval, the next round never begins.
		var due <-chan time.Time
		if wait > 0 {
			due = time.After(wait)
		}

		select {
		case <-ctx.Done():
			return nil
		case <-due:
		}
	}
}

// clean cleans all directories that are not in use, and returns the time until all others can be
// cleaned. Secrets do not wait for the API server, which may be unavailable.
func (c *SecretCleaner) clean(ctx context.Context) (time.Duration, error) {
	wait, err := c.Root.Sweep(ctx, c.Remove)

	return wait, errors.Join(err, c.forget(ctx))
}

// forget removes the credentials of Workspaces that have moved away. A Workspace that comes back
// at the same time only has to be initialized again.
func (c *SecretCleaner) forget(ctx context.Context) error {
	here, _, err := list(ctx, c.Live, workspace.GroupVersionKinds(), func(o *metav1.PartialObjectMetadata) bool {
		return c.Served.Serves(o.GetLabels(), o.GetUID())
	}, client.MatchingLabelsSelector{Selector: c.Served.Selector()})
	if err != nil {
		return errors.Wrap(err, "cannot find out which Workspaces have moved away")
	}

	_, err = c.Root.Sweep(ctx, func(dir *workdir.Dir) error {
		last, err := dir.LastRun()
		if err != nil || here[filepath.Base(dir.Path())] || time.Since(last) < c.movedAfter() {
			return err
		}

		return errors.Wrap(dir.Forget(), "cannot remove what may have credentials in it")
	})

	return err
}
