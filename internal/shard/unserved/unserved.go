// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package unserved finds Workspaces that no running instance serves, and reports them. The
// controllers cannot find them, because each instance watches only the Workspaces that it serves.
package unserved

import (
	"context"
	"fmt"
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
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/listing"
	"github.com/crossplane-contrib/provider-terraform/internal/periodic"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

const reasonUnserved event.Reason = "NobodyServes"

// maxNamed is the largest number of shards in a message.
const maxNamed = 10

// Reasons why no instance serves a Workspace. They are values of a label of a metric.
const (
	// ReasonNoLiveShard means that no instance serves the shard in the label.
	ReasonNoLiveShard = "no_live_shard"

	// ReasonNoCatchAll means that there is no label, and no instance for Workspaces without one.
	ReasonNoCatchAll = "no_catch_all"
)

// Leases is a session.Observer.
type Leases interface {
	Serving() ([]shard.ID, bool)
}

// Metrics counts Workspaces that no instance serves.
type Metrics interface {
	Unserved(reason string, workspaces int)
}

// A Watcher scans for Workspaces that no instance serves. Only one instance scans: the first one, in
// alphabetical order of the names of their Leases, of all that have a session.
type Watcher struct {
	ID shard.ID // of the instance.

	Leases Leases

	// Live reads from the API server, and Statuses writes the status of Workspaces.
	Live     client.Reader
	Statuses client.SubResourceWriter

	// MayLive says whether the instance that has a claim may be running.
	MayLive func(ctx context.Context, c commonv1beta1.Claim) bool

	// Kinds of Workspaces.
	Kinds []schema.GroupVersionKind

	// Interval between two scans.
	Interval time.Duration

	Metrics  Metrics
	Recorder event.Recorder
	Log      logging.Logger

	// seen has the unserved Workspaces that the last scan found, and marked the number of those that
	// it has tried to mark.
	seen   map[finding]sighting
	marked int
}

// A finding is a Workspace that no instance serves, and the reason.
type finding struct {
	kind   schema.GroupVersionKind
	uid    types.UID
	reason string
}

// A sighting is what is known of a finding.
type sighting struct {
	// scans is the number of consecutive scans that found it.
	scans int

	// label, generation and paused are those with which its condition was set, or need not be.
	label      string
	generation int64
	paused     bool
}

// reportAt is the number of consecutive scans after which a Workspace is reported. While an
// instance is replaced by its next version, its Workspaces are not served for some seconds.
const reportAt = 2

// Start scans every interval until ctx is done, but not at once: when all instances are started
// together, some may not have their sessions yet, and their Workspaces would count as unserved.
func (w *Watcher) Start(ctx context.Context) error {
	return periodic.Task{
		Interval: w.Interval,
		Do:       w.Scan,
		Failed:   func(err error) { w.Log.Info("Cannot scan for unserved Workspaces", "error", err) },
	}.Start(ctx)
}

// Scan scans once, and reports the Workspaces that were found in reportAt consecutive scans. Those
// that could not be listed count as they did before.
func (w *Watcher) Scan(ctx context.Context) error {
	serving, ok := w.Leases.Serving()
	if !ok {
		return nil
	}

	found := map[finding]sighting{}
	w.marked = 0

	var err error
	// An unsharded instance serves all.
	if !slices.ContainsFunc(serving, func(id shard.ID) bool { return !id.Sharded() || id.LeaseName() < w.ID.LeaseName() }) {
		err = w.find(ctx, serving, found)
	}

	counts := map[string]int{ReasonNoLiveShard: 0, ReasonNoCatchAll: 0}

	for f, s := range found {
		if s.scans >= reportAt {
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
func (w *Watcher) find(ctx context.Context, serving []shard.ID, found map[finding]sighting) error {
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

func (w *Watcher) list(ctx context.Context, kind schema.GroupVersionKind, s labels.Selector, serving []shard.ID, reason string, found map[finding]sighting) error {
	_, err := listing.Each(ctx, w.Live, kind, func(o *metav1.PartialObjectMetadata) error {
		// No label selects the ranges of hashes.
		if slices.ContainsFunc(serving, func(id shard.ID) bool { return id.Serves(o.GetLabels(), o.GetUID()) }) {
			return nil
		}

		f := finding{kind: kind, uid: o.GetUID(), reason: reason}
		found[f] = w.report(ctx, o, w.seen[f], describe(reason, o, serving))

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

// report reports a Workspace that was found once more, if that is due: by an Event, and by a condition, which
// stays until an instance serves it.
func (w *Watcher) report(ctx context.Context, o *metav1.PartialObjectMetadata, s sighting, why error) sighting {
	if s.scans++; s.scans == reportAt {
		w.Recorder.Event(o, event.Warning(reasonUnserved, why))
	}

	label := o.GetLabels()[shard.LabelKey]
	if s.scans < reportAt || s.label == label && s.generation == o.GetGeneration() && s.paused == meta.IsPaused(o) || w.marked == maxMarked {
		return s
	}

	w.marked++

	ok, err := w.mark(ctx, o, why.Error())
	if err != nil {
		w.Log.Info("Cannot report that no instance serves a Workspace", "error", err, "uid", o.GetUID(), "namespace", o.GetNamespace(), "name", o.GetName())
	}

	if ok {
		s.label, s.generation, s.paused = label, o.GetGeneration(), meta.IsPaused(o)
	}

	return s
}

func describe(reason string, o *metav1.PartialObjectMetadata, serving []shard.ID) error {
	if reason == ReasonNoCatchAll {
		return errors.Errorf("no instance serves this Workspace: it has no label %s, and there is neither an unsharded instance nor one with --shard-catch-all or its --shard-range. With --assign-shards, it waits for the instance that assigns shards to write the label", shard.LabelKey)
	}

	name := o.GetLabels()[shard.LabelKey]
	if _, err := shard.Parse(name); err != nil || name == "" {
		return errors.Errorf("no instance serves this Workspace: %q is not a possible shard name; %s. Change the label %s", name, running(serving), shard.LabelKey)
	}

	if o.GetLabels()[shard.AssignedLabelKey] == name {
		return errors.Errorf("no instance serves this Workspace: none with --shard-name=%s is running. If it does not return within --shard-grace-period, another shard with --assign-shards takes over the Workspace. If there is none any more, remove the labels %s and %s", name, shard.LabelKey, shard.AssignedLabelKey)
	}

	return errors.Errorf("no instance serves this Workspace: none with --shard-name=%s is running; %s. Start one, or change the label %s", name, running(serving), shard.LabelKey)
}

// running describes the shards among the supplied instances.
func running(serving []shard.ID) string {
	var names []string

	for _, id := range serving {
		if id.Name() != "" {
			names = append(names, id.Name())
		}
	}

	slices.Sort(names)

	switch n := len(names); {
	case n == 0:
		return "no shard is running"
	case n > maxNamed:
		names = append(names[:maxNamed], fmt.Sprintf("and %d more", n-maxNamed))
	}

	return "running shards: " + strings.Join(names, ", ")
}
