// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/chaos/record"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// backup returns a manifest of an earlier version of a Workspace, as a person or a backup
// has it and can write it.
func (w *workspaces) backup(ws *wanted, at time.Time) *unstructured.Unstructured {
	old := w.witness.at(ws.kind, ws.namespace, ws.name, at)
	if old == nil {
		return ws.manifest(w.ledger)
	}

	o := ws.object()
	o.SetLabels(old.GetLabels())
	o.SetAnnotations(old.GetAnnotations())
	o.Object["spec"] = old.Object["spec"]
	annotate(o, paused, "")

	return o
}

// annotate sets an annotation, or removes it if the value is empty.
func annotate(o *unstructured.Unstructured, key, value string) {
	all := o.GetAnnotations()
	delete(all, key)

	if value != "" {
		if all == nil {
			all = map[string]string{}
		}

		all[key] = value
	}

	o.SetAnnotations(all)
}

// putBack replaces a Workspace as `kubectl replace` does. The finalizers stay: a manifest
// without them is another fault.
func (w *workspaces) putBack(ctx context.Context, f fault, ws *wanted) error {
	o := w.backup(ws, time.Now().Add(-f.age))

	if f.bare {
		o.SetAnnotations(nil)
		annotate(o, externalName, ws.external)
	}

	// Without a backend there is nothing for another shard.
	if f.shard != "" && ws.flavour != noBackend {
		o.SetLabels(map[string]string{shardLabel: f.shard})
	}

	live := ws.object()
	if err := w.kube.Get(ctx, client.ObjectKeyFromObject(live), live); err != nil {
		return err
	}

	o.SetResourceVersion(live.GetResourceVersion())
	o.SetFinalizers(live.GetFinalizers())

	err := w.kube.Update(ctx, o)
	if err == nil {
		ws.readVars(o)
		ws.shard = o.GetLabels()[shardLabel]
	}

	return err
}

// copied returns the copy of a Workspace: in another namespace or, if it is cluster
// scoped, with another name. Both use the same Terraform workspace.
func (w *wanted) copied(f fault) *wanted {
	c := *w
	c.uid, c.shard, c.of = "", f.shard, f.of
	c.external = cmp.Or(w.external, w.name)

	if w.kind == namespacedKind() {
		c.namespace = namespaceY
	} else {
		c.name = f.subject
	}

	return &c
}

// copy creates a copy of the current Workspace, with all annotations.
func (w *workspaces) copy(ctx context.Context, f fault, ws *wanted) error {
	from := w.backup(w.all[f.of], time.Now())

	o := ws.object()
	o.SetAnnotations(from.GetAnnotations())
	o.Object["spec"] = from.Object["spec"]
	annotate(o, externalName, ws.external)
	o.SetLabels(map[string]string{shardLabel: ws.shard})
	ws.readVars(o)

	return w.create(ctx, ws, f.subject, o)
}

// quiet is how long there must be no run for a Workspace that is to be taken away: an
// instance that is cut off may begin one as long as it holds its Lease.
const quiet = leaseDuration + 2*time.Second

// restore deletes a Workspace and creates it again from a backup. It has no time limit.
// Other faults skip the Workspace until then.
func (w *workspaces) restore(ctx context.Context, f fault) error {
	ws := w.reserve(f)
	if ws == nil {
		return nil
	}

	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()

		ws.busy = false
	}()

	over := w.journal.add(note{kind: f.kind, subject: f.subject, text: f.String()})
	defer over()

	backup := w.backup(ws, time.Now())

	if f.orphan {
		if err := w.orphan(ctx, ws); err != nil {
			return err
		}
	} else {
		// The resource that the backup records as created was destroyed. Two outcomes are
		// right: to refuse to create it again, which believes the annotations, and to
		// create it, which does not.
		w.mark(func() { w.fate.removed[ws.uid], ws.lost = time.Now().UnixNano(), true })
	}

	if err := wait.Until(ctx, wait.Patience/2, func() error {
		o := ws.object()
		if err := w.kube.Delete(ctx, o); err != nil && !kerrors.IsNotFound(err) {
			return err
		}

		err := w.kube.Get(ctx, client.ObjectKeyFromObject(o), o)
		if err == nil {
			return errors.Errorf("is not gone: %s", describeObject(o))
		}

		return client.IgnoreNotFound(err)
	}); err != nil {
		// It is found at the end that it is still there.
		w.mark(func() { ws.removed = time.Now().UnixNano() })

		return nil
	}

	if err := w.forceUnlock(ctx, ws.state()); err != nil {
		return err
	}

	return wait.Until(ctx, wait.Patience, func() error {
		w.mu.Lock()
		defer w.mu.Unlock()

		return w.create(ctx, ws, f.subject, backup.DeepCopy())
	})
}

// reserve a Workspace for a restore. It returns nil if it is not to be had.
func (w *workspaces) reserve(f fault) *wanted {
	w.mu.Lock()
	defer w.mu.Unlock()

	ws := w.all[f.subject]
	if !ws.there() || ws.fails {
		return nil
	}

	ws.busy = true

	return ws
}

func (w *workspaces) mark(fn func()) {
	w.mu.Lock()
	defer w.mu.Unlock()

	fn()
}

// orphan removes the finalizers from a Workspace while no instance works on it, and makes
// sure that none begins.
func (w *workspaces) orphan(ctx context.Context, ws *wanted) error {
	var since time.Time

	if err := wait.Until(ctx, wait.Patience, func() error {
		if since.IsZero() {
			if err := w.patch(ctx, ws, map[string]any{"metadata": map[string]any{"annotations": map[string]any{paused: "true"}}}); err != nil {
				return err
			}

			since = time.Now()
		}

		busy, err := record.Busy(filepath.Join(w.dir, "locks"), ws.uid)
		if err != nil || busy {
			since = time.Now()
		}

		if time.Since(since) < quiet {
			return errors.Errorf("there was a run for %s less than %s ago", ws.name, quiet)
		}

		return nil
	}); err != nil {
		return err
	}

	w.mark(func() { w.fate.orphaned[ws.uid] = true })

	return wait.Until(ctx, wait.Patience, func() error {
		return client.IgnoreNotFound(w.patch(ctx, ws, map[string]any{"metadata": map[string]any{"finalizers": nil}}))
	})
}
