// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/listing"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// movedAfter is how long ago the last run has to be of a Workspace that moved away.
// On a disk that shards share it is the new owner's otherwise, who would have to
// initialize the directory again and again.
const movedAfter = time.Hour

// Leftovers removes what instances that were killed have left in working directories:
// plans and secrets. Of a Workspace that has moved away it removes everything that
// may have credentials in it. Nobody else does that for a Workspace that has moved to
// a shard with another disk. A directory that a session of any instance uses is left
// alone.
type Leftovers struct {
	root     *workdir.Root
	live     client.Reader
	served   labels.Selector
	interval time.Duration
	log      logging.Logger
}

// NewLeftovers returns Leftovers that looks at the start and every interval, only at
// the start if that is not positive. The Workspaces that served selects have not
// moved away. Live has to read from the API server, because a cache may not be there
// yet.
func NewLeftovers(root *workdir.Root, live client.Reader, served labels.Selector, interval time.Duration, log logging.Logger) *Leftovers {
	return &Leftovers{root: root, live: live, served: served, interval: interval, log: log}
}

// NeedLeaderElection says that secrets do not wait for a Lease.
func (l *Leftovers) NeedLeaderElection() bool { return false }

// Start removes until ctx is done. What another machine may still be using is looked at
// again when that cannot be any more, however long the interval is.
func (l *Leftovers) Start(ctx context.Context) error {
	for {
		wait, err := l.remove(ctx)
		if err != nil && ctx.Err() == nil {
			l.log.Info("Cannot remove what was left in working directories", "error", err)
		}

		if l.interval > 0 && (wait <= 0 || l.interval < wait) {
			wait = l.interval
		}

		if !pause(ctx, wait) {
			return nil
		}
	}
}

// pause for that long, for ever if it is not positive, and say whether to go on.
func pause(ctx context.Context, d time.Duration) bool {
	var over <-chan time.Time

	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()

		over = t.C
	}

	select {
	case <-ctx.Done():
		return false
	case <-over:
		return true
	}
}

// remove what is left in all directories that nobody uses, and return how long it is
// until it can be removed from all others. Secrets do not wait for the API server, which
// may be away.
func (l *Leftovers) remove(ctx context.Context) (time.Duration, error) {
	wait, err := l.root.Sweep(removeSecrets)

	return wait, errors.Join(err, l.forget(ctx))
}

// forget the Workspaces that have moved away. One that comes back at the same time
// has to be initialized again, and that is all.
func (l *Leftovers) forget(ctx context.Context) error {
	here, err := l.here(ctx)
	if err != nil {
		return errors.Wrap(err, "cannot find out which Workspaces have moved away")
	}

	_, err = l.root.Sweep(func(dir *workdir.Dir) error {
		last, err := dir.LastRun()
		if err != nil || here[filepath.Base(dir.Path())] || time.Since(last) < movedAfter {
			return err
		}

		return errors.Wrap(dir.Forget(), "cannot remove what may have credentials in it")
	})

	return err
}

// here returns the UIDs of the Workspaces that have not moved away.
func (l *Leftovers) here(ctx context.Context) (map[string]bool, error) {
	uids := map[string]bool{}

	for _, kind := range workspace.GroupVersionKinds() {
		_, err := listing.Each(ctx, l.live, kind, listing.PageSize, func(o *metav1.PartialObjectMetadata) error {
			uids[string(o.GetUID())] = true

			return nil
		}, client.MatchingLabelsSelector{Selector: l.served})
		if err != nil {
			return nil, err
		}
	}

	return uids, nil
}

// removeSecrets removes the plan, which has secrets in it, and all secret inputs.
func removeSecrets(dir *workdir.Dir) error {
	if err := os.Remove(filepath.Join(dir.Path(), planFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Wrap(err, "cannot remove plan")
	}

	// The CLI keeps the configuration of a backend with what init leaves.
	if err := os.RemoveAll(filepath.Join(dir.Path(), apartDir)); err != nil {
		return errors.Wrap(err, "cannot remove directory without module")
	}

	return errors.Wrap(dir.RemoveSecrets(), "cannot remove secrets")
}
