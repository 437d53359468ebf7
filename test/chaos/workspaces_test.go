// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// Workspaces are all that the test has ever made. They are unstructured: the test has to
// work with versions of the provider that have other fields.
type workspaces struct {
	kube    client.Client
	dir     string
	ledger  string
	journal *journal
	witness *witness

	mu  sync.Mutex
	all map[string]*wanted

	// approvals of plans and deletions.
	approvals []approval

	// fate of every object, by UID: gone is filled in by the witness.
	fate fate
}

// do applies the fault to its Workspace. It tries until the API server has accepted the
// change.
func (w *workspaces) do(ctx context.Context, f fault) error {
	w.mu.Lock()
	defer w.mu.Unlock()

	ws := w.prepare(f)
	if ws == nil {
		return nil
	}

	w.journal.add(note{kind: f.kind, subject: f.subject, text: f.String()})

	if err := wait.Until(ctx, wait.Patience, func() error { return client.IgnoreNotFound(w.try(ctx, f, ws)) }); err != nil {
		return err
	}

	if f.kind == remove && ws.removed == 0 {
		ws.removed = time.Now().UnixNano()
		w.fate.removed[ws.uid] = ws.removed
	}

	return nil
}

// prepare returns the Workspace of a fault after the change. It is nil if there is none,
// or if it must not be changed.
func (w *workspaces) prepare(f fault) *wanted {
	switch f.kind {
	case create:
		w.all[f.subject] = w.make(f)
	case copying:
		original := w.all[f.of]
		if !original.there() {
			return nil
		}

		ws := original.copied(f)
		if w.exists(ws) {
			return nil
		}

		w.all[f.subject] = ws
	default:
		// It has to be there.
	}

	ws := w.all[f.subject]
	// A lost resource cannot be destroyed.
	if !ws.there() || f.kind == remove && ws.lost {
		return nil
	}

	ws.become(f)

	return ws
}

// there says whether a Workspace exists and may get faults.
func (w *wanted) there() bool { return w != nil && w.removed == 0 && !w.busy }

// become applies a fault to the desired state.
func (w *wanted) become(f fault) {
	switch f.kind {
	case change:
		w.revision++
		w.fails = false
	case replace:
		w.replacement++
	case fail:
		w.replacement++
		w.fails = true
	case relabel, unlabel:
		w.shard = f.shard
	default:
		// The Workspace does not change, or returns to an earlier version.
	}
}

// exists says whether there is another Workspace of the same kind and name.
func (w *workspaces) exists(ws *wanted) bool {
	for _, other := range w.all {
		if other.kind == ws.kind && other.namespace == ws.namespace && other.name == ws.name {
			return true
		}
	}

	return false
}

func (w *workspaces) try(ctx context.Context, f fault, ws *wanted) error {
	switch f.kind {
	case create:
		return w.create(ctx, ws, f.subject, ws.manifest(w.ledger))
	case copying:
		return w.copy(ctx, f, ws)
	case remove:
		return w.kube.Delete(ctx, ws.object())
	case change, replace, fail:
		return w.patch(ctx, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{"vars": ws.vars(w.ledger)}}})
	case unlabel:
		return w.patch(ctx, ws, map[string]any{"metadata": map[string]any{"labels": map[string]any{shardLabel: nil}}})
	case putBack:
		return w.putBack(ctx, f, ws)
	default:
		return w.patch(ctx, ws, map[string]any{"metadata": map[string]any{"labels": map[string]any{shardLabel: f.shard}}})
	}
}

// create the Workspace of the supplied name in the test.
func (w *workspaces) create(ctx context.Context, ws *wanted, subject string, o *unstructured.Unstructured) error {
	err := w.kube.Create(ctx, o)

	// It was heard before its answer was lost.
	if kerrors.IsAlreadyExists(err) {
		err = w.kube.Get(ctx, client.ObjectKeyFromObject(o), o)
	}

	if err == nil {
		ws.uid = string(o.GetUID())
		w.fate.names[ws.uid] = subject
	}

	return err
}

// patch merges fields into the Workspace.
func (w *workspaces) patch(ctx context.Context, ws *wanted, fields map[string]any) error {
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}

	return w.kube.Patch(ctx, ws.object(), client.RawPatch(types.MergePatchType, data))
}

// make returns a Workspace, of another kind each time.
func (w *workspaces) make(f fault) *wanted {
	ws := &wanted{
		traits:      f.traits,
		kind:        clusterKind(),
		name:        f.subject,
		shard:       f.shard,
		takes:       strconv.Itoa(int(f.takes.Seconds())),
		replacement: f.number,
	}

	switch {
	case f.namespace != "":
		ws.kind, ws.namespace = namespacedKind(), f.namespace
		ws.name = f.subject[:len(f.subject)-len("/x")]
	case len(w.all)%2 == 0 || f.flavour == leaky:
		ws.kind, ws.namespace = namespacedKind(), namespace
	default:
		// It is of the cluster-scoped kind.
	}

	return ws
}

// settled returns the Workspaces that are not as expected: see unsettled.
func (w *workspaces) settled(ctx context.Context) (unready, shared []violation) {
	w.mu.Lock()
	defer w.mu.Unlock()

	objects := map[string]*unstructured.Unstructured{}

	for _, name := range sorted(w.all) {
		o := w.all[name].object()

		err := w.kube.Get(ctx, client.ObjectKeyFromObject(o), o)
		if kerrors.IsNotFound(err) {
			continue
		}

		if err != nil {
			return []violation{{time: time.Now().UnixNano(), text: err.Error()}}, nil
		}

		objects[name] = o
	}

	return unsettled(w.all, objects)
}

// mend does what people have to do: it changes every Workspace with failing applies, and
// removes abandoned locks.
func (w *workspaces) mend(ctx context.Context) error {
	for _, name := range sorted(w.all) {
		if w.all[name].fails {
			if err := w.do(ctx, fault{kind: change, subject: name}); err != nil {
				return err
			}
		}
	}

	return w.unlockAbandoned(ctx)
}

// decide does what a person has to: it accepts that a Workspace destroys what it has found in its state, and
// deletes all but one of several Workspaces of which each may have created what is in their state.
func (w *workspaces) decide(ctx context.Context, unready []violation) error {
	for _, v := range unready {
		for name, lineage := range v.refusedToDestroy() {
			patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{acceptTakenOver: lineage}}}
			if err := w.patch(ctx, w.all[name], patch); client.IgnoreNotFound(err) != nil {
				return err
			}
		}

		if !strings.Contains(v.text, undecided) {
			continue
		}

		for _, name := range v.others {
			// That its resource was lost before makes no difference: it is not refused for that. What it has
			// created stays in the state.
			w.mark(func() { w.all[name].lost, w.fate.orphaned[w.all[name].uid] = false, true })

			if err := w.do(ctx, fault{kind: remove, subject: name}); err != nil {
				return err
			}
		}
	}

	return nil
}

// guarded returns the UIDs of all Workspaces that were ever guarded.
func (w *workspaces) guarded() map[string]bool {
	uids := map[string]bool{}

	for uid, name := range w.fate.names {
		if ws := w.all[name]; ws != nil && ws.guarded() {
			uids[uid] = true
		}
	}

	return uids
}
