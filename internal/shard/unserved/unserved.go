// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package unserved finds Workspaces that no running instance serves, and reports them. The
// controllers cannot find them, because each instance watches only the Workspaces that it serves.
package unserved

import (
	"context"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/listing"
	"github.com/crossplane-contrib/provider-terraform/internal/periodic"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

const reasonUnserved event.Reason = "NobodyServes"

// Reasons why no instance serves a Workspace. They are values of a label of a metric.
const (
	// ReasonNoLiveShard means that no instance serves the shard in the label.
	ReasonNoLiveShard = "no_live_shard"

	// ReasonNoCatchAll means that there is no label, and no instance for Workspaces without one.
	ReasonNoCatchAll = "no_catch_all"
)

// Leases is a lease.Observer.
type Leases interface {
	Serving() ([]shard.ID, bool)
}

// Metrics counts Workspaces that no instance serves.
type Metrics interface {
	Unserved(reason string, workspaces int)
}

// A Watcher scans for Workspaces that no instance serves. Only one instance scans: the one whose
// Lease has the first name, in alphabetical order, of all held Leases.
type Watcher struct {
	// ID of the instance, which holds its Lease.
	ID shard.ID

	Leases Leases

	// Live reads from the API server.
	Live client.Reader

	// Kinds of Workspaces.
	Kinds []schema.GroupVersionKind

	// Interval between two scans.
	Interval time.Duration

	Metrics  Metrics
	Recorder event.Recorder
	Log      logging.Logger

	// seen counts the consecutive scans in which each unserved Workspace was found.
	seen map[finding]int
}

// A finding is a Workspace that no instance serves, and the reason.
type finding struct {
	kind   schema.GroupVersionKind
	uid    types.UID
	reason string
}

// reportAt is the number of consecutive scans after which a Workspace is reported. While an
// instance is replaced by its next version, its Workspaces are not served for some seconds.
const reportAt = 2

// Start scans every interval until ctx is done, but not at once: when all instances are started
// together, some may not have their Leases yet, and their Workspaces would count as unserved.
func (w *Watcher) Start(ctx context.Context) error {
	return periodic.Task{
		Interval: w.Interval,
		Do:       w.Scan,
		Failed:   func(err error) { w.Log.Info("Cannot scan for unserved Workspaces", "error", err) },
	}.Start(ctx)
}

// NeedLeaderElection returns true: only an instance with a Lease scans.
func (w *Watcher) NeedLeaderElection() bool { return true }

// Scan scans once, and reports the Workspaces that were found in reportAt consecutive scans. Those
// that could not be listed count as they did before.
func (w *Watcher) Scan(ctx context.Context) error {
	serving, ok := w.Leases.Serving()
	if !ok {
		return nil
	}

	found := map[finding]int{}

	var err error
	// An unsharded instance serves all.
	if !slices.ContainsFunc(serving, func(id shard.ID) bool { return !id.Sharded() || id.LeaseName() < w.ID.LeaseName() }) {
		err = w.find(ctx, serving, found)
	}

	counts := map[string]int{ReasonNoLiveShard: 0, ReasonNoCatchAll: 0}

	for f, scans := range found {
		if scans >= reportAt {
			counts[f.reason]++
		}
	}

	w.seen = found

	for reason, n := range counts {
		w.Metrics.Unserved(reason, n)
	}

	return err
}

// find adds the Workspaces that none of the supplied instances serves. The API server selects
// them, so that a scan without any costs very little.
func (w *Watcher) find(ctx context.Context, serving []shard.ID, found map[finding]int) error {
	labelled := []string{shard.LabelKey}

	for _, id := range serving {
		if id.Name() != "" {
			labelled = append(labelled, shard.LabelKey+"!="+id.Name())
		}
	}

	selector, err := labels.Parse(strings.Join(labelled, ","))
	if err != nil {
		return errors.Wrap(err, "cannot select Workspaces")
	}

	var failed []error

	for _, kind := range w.Kinds {
		failed = append(failed, w.list(ctx, kind, selector, serving, ReasonNoLiveShard, found))

		if !shard.ServeUnlabelled(serving) {
			failed = append(failed, w.list(ctx, kind, shard.CatchAll().Selector(), serving, ReasonNoCatchAll, found))
		}
	}

	return errors.Join(failed...)
}

func (w *Watcher) list(ctx context.Context, kind schema.GroupVersionKind, s labels.Selector, serving []shard.ID, reason string, found map[finding]int) error {
	_, err := listing.Each(ctx, w.Live, kind, func(o *metav1.PartialObjectMetadata) error {
		// No label selects the ranges of hashes.
		if slices.ContainsFunc(serving, func(id shard.ID) bool { return id.Serves(o.GetLabels(), o.GetUID()) }) {
			return nil
		}

		f := finding{kind: kind, uid: o.GetUID(), reason: reason}

		if found[f] = w.seen[f] + 1; found[f] == reportAt {
			w.Recorder.Event(o, event.Warning(reasonUnserved, describe(reason, o)))
		}

		return nil
	}, client.MatchingLabelsSelector{Selector: s})
	if err == nil {
		return nil
	}

	for f, scans := range w.seen {
		if _, ok := found[f]; !ok && f.kind == kind && f.reason == reason {
			found[f] = scans
		}
	}

	return errors.Wrapf(err, "cannot list objects of %s", kind.GroupKind())
}

func describe(reason string, o *metav1.PartialObjectMetadata) error {
	if reason == ReasonNoCatchAll {
		return errors.Errorf("no instance serves this Workspace: it has no label %s, and there is neither an unsharded instance nor one with --shard-catch-all or its --shard-range. With --assign-shards, it waits for the instance that assigns shards to write the label", shard.LabelKey)
	}

	name := o.GetLabels()[shard.LabelKey]
	if o.GetLabels()[shard.AssignedLabelKey] == name {
		return errors.Errorf("no instance serves this Workspace: none with --shard-name=%s is running. If it does not return within --shard-grace-period, another shard with --assign-shards takes over the Workspace. If there is none any more, remove the labels %s and %s", name, shard.LabelKey, shard.AssignedLabelKey)
	}

	return errors.Errorf("no instance serves this Workspace: none with --shard-name=%s is running. Start one, or change the label %s", name, shard.LabelKey)
}
