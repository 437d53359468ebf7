// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package gc deletes the working directories of Workspaces that no longer exist, and the secrets
// that killed runs have left in others. It never deletes a directory that may still be in use:
// Collector documents how this is ensured.
package gc

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/listing"
	"github.com/crossplane-contrib/provider-terraform/internal/periodic"
)

var _ manager.LeaderElectionRunnable = &Collector{}

// Directories are the working directories, by UID of their Workspace.
type Directories interface {
	List() ([]string, error)

	// Remove the directory unless it is in use, and say whether it is gone. After an error, a part of
	// it may be left.
	Remove(uid string) (bool, error)

	// RemoveRemains removes what interrupted removals have left. No list contains that.
	RemoveRemains() error

	// Unsaved returns the UIDs of Workspaces that left a state that is nowhere else.
	Unsaved() ([]string, error)
}

// Metrics count the actions of a Collector.
type Metrics interface {
	WorkdirDeleted()
	GCFailed()
	StatesUnsaved(n int)
}

// A Collector deletes a working directory if its UID is missing from a complete list of all
// Workspaces, of all kinds and shards, that began after the directory was seen. A UID is never
// used twice, so such a directory cannot be needed again. Several Collectors may work on one
// volume.
type Collector struct {
	dirs     Directories
	live     client.Reader
	kinds    []schema.GroupVersionKind
	interval time.Duration
	log      logging.Logger
	metrics  Metrics
}

// New returns a Collector that does one round per interval. The reader must read from the API
// server: a cache has the Workspaces of one shard only, and the directories of all others would
// be deleted. kinds are all kinds of Workspaces that may own a directory.
func New(dirs Directories, live client.Reader, kinds []schema.GroupVersionKind, interval time.Duration, log logging.Logger, m Metrics) *Collector {
	return &Collector{dirs: dirs, live: live, kinds: kinds, interval: interval, log: log, metrics: m}
}

// NeedLeaderElection returns true: standby replicas do not collect.
func (c *Collector) NeedLeaderElection() bool { return true }

// Start collects once per interval until ctx is done, or never if the interval is not positive. A
// failed round is logged, and the next one tries again.
func (c *Collector) Start(ctx context.Context) error {
	// Otherwise the alert for these states would stop for one interval after each restart.
	if err := c.tellUnsaved(nil); err != nil {
		c.failed(err)
	}

	return periodic.Task{
		Interval: c.interval,
		Do: func(ctx context.Context) error {
			_, err := c.Collect(ctx)

			return err
		},
		Failed: c.failed,
	}.Start(ctx)
}

func (c *Collector) failed(err error) {
	c.metrics.GCFailed()
	c.log.Info("Cannot collect working directories", "error", err)
}

// Collect does one round and returns the UIDs whose directories it deleted. It deletes no directory
// unless it knows all Workspaces, except for remains of earlier rounds. If it cannot delete one
// directory, it continues with the others.
func (c *Collector) Collect(ctx context.Context) ([]string, error) {
	remains := c.dirs.RemoveRemains()
	deleted, err := c.collect(ctx)

	return deleted, errors.Join(remains, err)
}

func (c *Collector) collect(ctx context.Context) ([]string, error) {
	// The directories are listed first: one that is made later belongs to a Workspace that the
	// list of Workspaces may miss.
	dirs, err := c.dirs.List()
	if err != nil {
		return nil, err
	}

	if len(dirs) == 0 {
		return nil, c.tellUnsaved(nil)
	}

	alive, err := c.workspaces(ctx)
	if err != nil {
		return nil, err
	}

	var (
		deleted []string
		errs    []error
	)

	for _, uid := range dirs {
		if alive[uid] {
			continue
		}

		gone, err := c.dirs.Remove(uid)
		errs = append(errs, err)

		switch {
		case gone:
			c.metrics.WorkdirDeleted()
			c.log.Info("Deleted working directory of a Workspace that is gone", "uid", uid)

			deleted = append(deleted, uid)
		case err == nil:
			c.log.Info("Keeping working directory of a Workspace that is gone: a run in it has not ended", "uid", uid)
		}
	}

	return deleted, errors.Join(append(errs, c.tellUnsaved(deleted))...)
}

// tellUnsaved reports the number of deleted Workspaces that left a state that is nowhere else,
// and logs those whose directories were just deleted.
func (c *Collector) tellUnsaved(deleted []string) error {
	uids, err := c.dirs.Unsaved()
	if err != nil {
		return err
	}

	c.metrics.StatesUnsaved(len(uids))

	for _, uid := range uids {
		if slices.Contains(deleted, uid) {
			c.log.Info("Kept the only state of a Workspace that is gone: remove it from .unsaved-states in XP_TF_DIR when it is saved elsewhere, or nothing of what it lists is left", "uid", uid)
		}
	}

	return nil
}

// workspaces returns the UIDs of all Workspaces, or an error. It never returns only some of them.
func (c *Collector) workspaces(ctx context.Context) (map[string]bool, error) {
	uids, known, err := list(ctx, c.live, c.kinds, func(*metav1.PartialObjectMetadata) bool { return true })

	// Without any kind, it is unknown which directories are in use: the CustomResourceDefinitions
	// may be about to be installed again.
	if err == nil && !known {
		err = errors.New("no kind of Workspace is known to the API server")
	}

	return uids, err
}

// list returns the UIDs of the objects of all kinds that keep accepts, and whether the API
// server has at least one of the kinds. After an error it returns no UIDs.
func list(ctx context.Context, live client.Reader, kinds []schema.GroupVersionKind, keep func(*metav1.PartialObjectMetadata) bool, opts ...client.ListOption) (map[string]bool, bool, error) {
	uids := map[string]bool{}
	known := false

	for _, gvk := range kinds {
		ok, err := listing.Each(ctx, live, gvk, func(o *metav1.PartialObjectMetadata) error {
			if keep(o) {
				uids[string(o.GetUID())] = true
			}

			return nil
		}, opts...)
		if err != nil {
			return nil, false, errors.Wrapf(err, "cannot list all objects of %s", gvk.GroupKind())
		}

		known = known || ok
	}

	return uids, known, nil
}
