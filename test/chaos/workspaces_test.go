// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// shardLabel is the label that gives a Workspace to a shard. It is written out here
// because people write it: it must never change.
const shardLabel = "terraform.crossplane.io/shard"

// secretSuffix ends the names of all states.
const secretSuffix = "chaos"

// module writes every step of its one thing into the ledger, and takes its time.
const module = `
variable "ledger" { type = string }
variable "name" { type = string }
variable "takes" { type = string }
variable "replacement" { type = string }
variable "revision" { type = string }

resource "terraform_data" "` + thing + `" {
  input            = { ledger = var.ledger, name = var.name }
  triggers_replace = var.replacement

  provisioner "local-exec" {
    command = "echo $(date +%s%N) creating ${self.input.name} ${self.id} $PPID >>'${self.input.ledger}'; sleep ${var.takes}; echo $(date +%s%N) created ${self.input.name} ${self.id} $PPID >>'${self.input.ledger}'"
  }

  provisioner "local-exec" {
    when    = destroy
    command = "echo $(date +%s%N) destroying ${self.input.name} ${self.id} $PPID >>'${self.input.ledger}'"
  }
}

resource "terraform_data" "revision" {
  input = var.revision
}

output "revision" {
  value = terraform_data.revision.output
}
`

// Workspaces are all that the test has ever made.
type workspaces struct {
	kube      client.Client
	namespace string
	ledger    string
	journal   *journal

	mu  sync.Mutex
	all map[string]*wanted
}

// A wanted is what one Workspace should be.
type wanted struct {
	workspace.Workspace

	takes                 time.Duration
	revision, replacement int

	// removed is when its deletion was asked for, 0 if it was not.
	removed int64
}

// configure makes the ProviderConfigs that Workspaces use by default. State is in
// Secrets: that is what roots of their own have in common.
func (w *workspaces) configure(ctx context.Context) error {
	configuration := fmt.Sprintf("terraform {\n  backend \"kubernetes\" {\n    namespace     = %q\n    secret_suffix = %q\n  }\n}\n", w.namespace, secretSuffix)
	spec := commonv1beta1.ProviderConfigSpec{Configuration: &configuration}
	meta := metav1.ObjectMeta{Name: "default"}

	return errors.Join(
		w.kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}),
		w.kube.Create(ctx, &clusterv1beta1.ProviderConfig{ObjectMeta: meta, Spec: spec}),
		w.kube.Create(ctx, &namespacedv1beta1.ClusterProviderConfig{ObjectMeta: meta, Spec: spec}),
	)
}

// do does what the fault says to its Workspace. It tries until the API server has
// heard it.
func (w *workspaces) do(ctx context.Context, f fault) error {
	w.mu.Lock()
	defer w.mu.Unlock()

	ws := w.all[f.subject]
	if ws == nil && f.kind != create || ws != nil && ws.removed != 0 {
		return nil
	}

	w.journal.add(note{kind: f.kind, subject: f.subject, text: f.String()})

	switch f.kind {
	case create:
		ws = w.make(f)
		w.all[f.subject] = ws
	case remove:
		ws.removed = time.Now().UnixNano()
	case change:
		ws.revision++
	case replace:
		ws.replacement++
	default:
		// A label is no part of what the Workspace is.
	}

	return wait.Until(ctx, wait.Patience, func() error {
		err := w.try(ctx, f, ws)

		// It was heard before its answer was lost.
		if f.kind == create && kerrors.IsAlreadyExists(err) {
			err = w.kube.Get(ctx, client.ObjectKeyFromObject(ws), ws.Workspace)
		}

		return client.IgnoreNotFound(err)
	})
}

func (w *workspaces) try(ctx context.Context, f fault, ws *wanted) error {
	switch f.kind {
	case create:
		return w.kube.Create(ctx, ws.Workspace)
	case remove:
		return w.kube.Delete(ctx, ws.Workspace)
	case change, replace:
		return w.patch(ctx, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{"vars": w.vars(ws)}}})
	case unlabel:
		return w.patch(ctx, ws, map[string]any{"metadata": map[string]any{"labels": map[string]any{shardLabel: nil}}})
	default:
		return w.patch(ctx, ws, map[string]any{"metadata": map[string]any{"labels": map[string]any{shardLabel: f.shard}}})
	}
}

// patch merges fields into the Workspace, of which ws stays what it is.
func (w *workspaces) patch(ctx context.Context, ws *wanted, fields map[string]any) error {
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}

	return w.kube.Patch(ctx, ws.DeepCopyObject().(client.Object), client.RawPatch(types.MergePatchType, data)) //nolint:forcetypeassert // A copy has the type of the original.
}

// make returns a Workspace, of another kind each time.
func (w *workspaces) make(f fault) *wanted {
	ws := &wanted{takes: f.takes}
	meta := metav1.ObjectMeta{Name: f.subject}

	if f.shard != "" {
		meta.Labels = map[string]string{shardLabel: f.shard}
	}

	ws.Workspace = &clusterv1beta1.Workspace{ObjectMeta: meta}
	if len(w.all)%2 == 0 {
		meta.Namespace = w.namespace
		ws.Workspace = &namespacedv1beta1.Workspace{ObjectMeta: meta}
	}

	p := commonv1beta1.ModuleParameters{Source: commonv1beta1.ModuleSourceInline, Module: module}

	switch o := ws.Workspace.(type) {
	case *clusterv1beta1.Workspace:
		p.Vars = w.vars(ws)
		o.Spec.ForProvider.ModuleParameters = p
	case *namespacedv1beta1.Workspace:
		p.Vars = w.vars(ws)
		o.Spec.ForProvider.ModuleParameters = p
	}

	return ws
}

func (w *workspaces) vars(ws *wanted) []commonv1beta1.Var {
	return []commonv1beta1.Var{
		{Key: "ledger", Value: w.ledger},
		{Key: "name", Value: ws.GetName()},
		{Key: "takes", Value: strconv.Itoa(int(ws.takes.Seconds()))},
		{Key: "replacement", Value: strconv.Itoa(ws.replacement)},
		{Key: "revision", Value: strconv.Itoa(ws.revision)},
	}
}

// settled returns an error for each Workspace that is not as it should be: Synced and
// Ready with its latest inputs, or gone.
func (w *workspaces) settled(ctx context.Context) []violation {
	w.mu.Lock()
	defer w.mu.Unlock()

	var found []violation

	for _, name := range sorted(w.all) {
		if err := w.check(ctx, w.all[name]); err != nil {
			found = append(found, violation{workspace: name, time: time.Now().UnixNano(), text: err.Error()})
		}
	}

	return found
}

func (w *workspaces) check(ctx context.Context, want *wanted) error {
	ws, ok := want.DeepCopyObject().(workspace.Workspace)
	if !ok {
		return errors.Errorf("%T is not a Workspace", want)
	}

	err := w.kube.Get(ctx, client.ObjectKeyFromObject(want), ws)

	switch {
	case want.removed != 0 && kerrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case want.removed != 0:
		return errors.Errorf("is not gone: %s", conditions(ws))
	}

	for _, t := range []xpv2.ConditionType{xpv2.TypeSynced, xpv2.TypeReady} {
		c := ws.GetCondition(t)
		if c.Status != corev1.ConditionTrue || t == xpv2.TypeSynced && c.ObservedGeneration != ws.GetGeneration() {
			return errors.Errorf("is not %s for generation %d: %s", t, ws.GetGeneration(), conditions(ws))
		}
	}

	if have, want := string(ws.GetObservation().Outputs["revision"].Raw), strconv.Quote(strconv.Itoa(want.revision)); have != want {
		return errors.Errorf("has revision %s, want %s", have, want)
	}

	return nil
}

// conditions says how the Workspace is, in a line.
func conditions(ws workspace.Workspace) string {
	s := &strings.Builder{}
	fmt.Fprintf(s, "shard %q, annotations %v", ws.GetLabels()[shardLabel], ws.GetAnnotations())

	for _, t := range []xpv2.ConditionType{xpv2.TypeSynced, xpv2.TypeReady} {
		c := ws.GetCondition(t)
		fmt.Fprintf(s, ", %s=%s (generation %d) %s %s", t, c.Status, c.ObservedGeneration, c.Reason, c.Message)
	}

	return s.String()
}

// names returns the names of all Workspaces, and removed when deletion was asked for,
// by UID.
func (w *workspaces) names() (names map[string]string, removed map[string]int64) {
	names, removed = map[string]string{}, map[string]int64{}

	for name, ws := range w.all {
		uid := string(ws.GetUID())
		names[uid] = name

		if ws.removed != 0 {
			removed[uid] = ws.removed
		}
	}

	return names, removed
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
