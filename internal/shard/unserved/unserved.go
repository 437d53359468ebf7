// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package unserved finds Workspaces that no running instance serves, and reports them. No
// other part would: each instance sees only the Workspaces that it serves.
package unserved

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
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

// Reasons why no instance serves a Workspace: values of a metric's label.
const (
	// ReasonNoLiveShard is that no instance serves the shard that the label names.
	ReasonNoLiveShard = "no_live_shard"

	// ReasonNoCatchAll is that there is no label, and no instance for those without.
	ReasonNoCatchAll = "no_catch_all"
)

// Leases lists the live instances.
type Leases interface {
	// Serving returns the IDs of all instances that hold their Lease, and false if
	// that is not known yet.
	Serving() ([]shard.ID, bool)
}

// Metrics counts Workspaces that no instance serves.
type Metrics interface {
	Unserved(reason string, workspaces int)
}

// A Watcher scans for Workspaces that no instance serves. Only one instance does it: the
// one whose Lease has the first name of those that are held.
type Watcher struct {
	id       shard.ID
	leases   Leases
	live     client.Reader
	kinds    []schema.GroupVersionKind
	interval time.Duration
	metrics  Metrics
	record   event.Recorder
	log      logging.Logger

	// seen are the unserved Workspaces of the last scan, and whether each was reported.
	seen map[types.UID]*finding
}

// A finding is a Workspace that no instance serves.
type finding struct {
	reason   string
	reported bool
}

// An Option configures a Watcher.
type Option func(*Watcher)

// WithLogger sets where to log.
func WithLogger(l logging.Logger) Option { return func(w *Watcher) { w.log = l } }

// WithRecorder sets where events go.
func WithRecorder(r event.Recorder) Option { return func(w *Watcher) { w.record = r } }

// New returns a Watcher that scans every interval, for the instance that serves id and
// holds its Lease. Live reads from the API server.
func New(id shard.ID, leases Leases, live client.Reader, kinds []schema.GroupVersionKind, interval time.Duration, m Metrics, o ...Option) *Watcher {
	w := &Watcher{
		id:       id,
		leases:   leases,
		live:     live,
		kinds:    kinds,
		interval: interval,
		metrics:  m,
		record:   event.NewNopRecorder(),
		log:      logging.NewNopLogger(),
		seen:     map[types.UID]*finding{},
	}
	for _, fn := range o {
		fn(w)
	}

	return w
}

// Start scans every interval until ctx is done, but not at once: when all instances are
// started together the others may not have their Leases yet, and their Workspaces would
// count as unserved.
func (w *Watcher) Start(ctx context.Context) error {
	return periodic.Task{
		Interval: w.interval,
		Do:       w.Scan,
		Failed:   func(err error) { w.log.Info("Cannot look for Workspaces that nobody serves", "error", err) },
	}.Start(ctx)
}

// NeedLeaderElection returns true: only an instance with a Lease may have to scan.
func (w *Watcher) NeedLeaderElection() bool { return true }

// Scan once. A Workspace is reported after two consecutive scans: while an instance is
// replaced by its next version, its Workspaces are not served for some seconds.
func (w *Watcher) Scan(ctx context.Context) error {
	serving, ok := w.leases.Serving()
	if !ok {
		return nil
	}

	now := map[types.UID]*finding{}

	if !slices.ContainsFunc(serving, func(id shard.ID) bool { return !id.Sharded() }) && w.isFirst(serving) {
		if err := w.find(ctx, serving, now); err != nil {
			return err
		}
	}

	counts := map[string]int{ReasonNoLiveShard: 0, ReasonNoCatchAll: 0}

	for uid, f := range now {
		if before, ok := w.seen[uid]; ok && before.reason == f.reason {
			counts[f.reason]++
		}
	}

	w.seen = now

	for reason, n := range counts {
		w.metrics.Unserved(reason, n)
	}

	return nil
}

// isFirst says whether this instance is the one that scans.
func (w *Watcher) isFirst(serving []shard.ID) bool {
	return !slices.ContainsFunc(serving, func(id shard.ID) bool { return id.LeaseName() < w.id.LeaseName() })
}

// find the Workspaces that none of the supplied instances serves. The API server
// selects them, so that it costs next to nothing when there are none.
func (w *Watcher) find(ctx context.Context, serving []shard.ID, found map[types.UID]*finding) error {
	var names []string

	catchAll := slices.Contains(serving, shard.CatchAll())

	for _, id := range serving {
		if id.Name() != "" {
			names = append(names, id.Name())
		}
	}

	labelled := []labels.Requirement{}

	r, err := labels.NewRequirement(shard.LabelKey, selection.Exists, nil)
	if err != nil {
		return errors.Wrap(err, "cannot select Workspaces")
	}

	labelled = append(labelled, *r)

	if len(names) > 0 {
		if r, err = labels.NewRequirement(shard.LabelKey, selection.NotIn, names); err != nil {
			return errors.Wrap(err, "cannot select Workspaces")
		}

		labelled = append(labelled, *r)
	}

	for _, kind := range w.kinds {
		if err := w.list(ctx, kind, labels.NewSelector().Add(labelled...), ReasonNoLiveShard, found); err != nil {
			return err
		}

		if catchAll {
			continue
		}

		if err := w.list(ctx, kind, shard.CatchAll().Selector(), ReasonNoCatchAll, found); err != nil {
			return err
		}
	}

	return nil
}

func (w *Watcher) list(ctx context.Context, kind schema.GroupVersionKind, s labels.Selector, reason string, found map[types.UID]*finding) error {
	_, err := listing.Each(ctx, w.live, kind, listing.PageSize, func(o *metav1.PartialObjectMetadata) error {
		f := &finding{reason: reason}
		found[o.GetUID()] = f

		before, ok := w.seen[o.GetUID()]
		if !ok || before.reason != reason {
			return nil
		}

		if f.reported = true; !before.reported {
			w.record.Event(o, event.Warning(reasonUnserved, describe(reason, o)))
		}

		return nil
	}, client.MatchingLabelsSelector{Selector: s})

	return errors.Wrapf(err, "cannot list objects of %s", kind.GroupKind())
}

func describe(reason string, o *metav1.PartialObjectMetadata) error {
	if reason == ReasonNoCatchAll {
		return errors.Errorf("nobody works on this Workspace: it has no label %s, and there is neither an unsharded instance nor one with --shard-catch-all", shard.LabelKey)
	}

	name := o.GetLabels()[shard.LabelKey]

	return errors.Errorf("nobody works on this Workspace: no instance with --shard-name=%s is running. Start one, or change the label %s", name, shard.LabelKey)
}
