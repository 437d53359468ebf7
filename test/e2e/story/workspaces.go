// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// A subject is a Workspace of the story.
type subject struct {
	workspace.Workspace

	// repeated says that the story has interrupted its creation, so that the next apply is an
	// update of a state that exists.
	repeated bool
}

// An option changes a Workspace before it is created.
type option func(workspace.Workspace)

// inShard labels a Workspace.
func inShard(name string) option {
	return func(ws workspace.Workspace) { ws.SetLabels(map[string]string{shard.LabelKey: name}) }
}

// inTeamA makes a namespaced Workspace keep its state in its own namespace, and read its variable
// from a ConfigMap there.
func inTeamA(ws workspace.Workspace) {
	n, ok := ws.(*namespacedv1beta1.Workspace)
	if !ok {
		return
	}

	n.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: teamA}
	n.Spec.ForProvider.Vars = nil
	n.Spec.ForProvider.VarFiles = []namespacedv1beta1.VarFile{{
		Source:                commonv1beta1.VarFileSourceConfigMapKey,
		ConfigMapKeyReference: &namespacedv1beta1.KeyReference{Name: n.GetName(), Key: "thing.tfvars"},
	}}
}

// create creates a Workspace, which is cluster-scoped if the namespace is empty.
func (s *Story) create(ctx context.Context, namespace, name string, from source, options ...option) error {
	module := from(s.base)
	module.Vars = []commonv1beta1.Var{{Key: "url", Value: urlOf(s.base, name)}}

	ws := newWorkspace(namespace, name, module)
	for _, o := range options {
		o(ws)
	}

	// The CRDs may be some moments younger than the package is healthy.
	if err := wait.Until(ctx, wait.Soon, func() error { return s.Client.Create(ctx, ws) }); err != nil {
		return errors.Wrapf(err, "cannot create Workspace %q", name)
	}

	s.workspaces[name] = subject{Workspace: ws}

	return nil
}

func newWorkspace(namespace, name string, module commonv1beta1.ModuleParameters) workspace.Workspace {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}

	if namespace == "" {
		ws := &clusterv1beta1.Workspace{ObjectMeta: meta}
		ws.Spec.ForProvider.ModuleParameters = module
		ws.Spec.WriteConnectionSecretToReference = &xpv2.SecretReference{Namespace: system, Name: name}

		return ws
	}

	ws := &namespacedv1beta1.Workspace{ObjectMeta: meta}
	ws.Spec.ForProvider.ModuleParameters = module
	ws.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: name}

	return ws
}

// each calls fn with the latest version of every Workspace of the story, in the order of their
// names.
func (s *Story) each(ctx context.Context, fn func(subject) error) error {
	for _, name := range slices.Sorted(maps.Keys(s.workspaces)) {
		ws := s.workspaces[name]

		if err := s.read(ctx, ws.Workspace); err != nil {
			return err
		}

		if err := fn(ws); err != nil {
			return errors.Wrapf(err, "Workspace %q", name)
		}
	}

	return nil
}

func (s *Story) read(ctx context.Context, ws client.Object) error {
	return s.Client.Get(ctx, client.ObjectKeyFromObject(ws), ws)
}

// relabel moves a Workspace to another shard. An empty name removes all labels of shards.
func (s *Story) relabel(ctx context.Context, name, to string) error {
	values := map[string]any{shard.LabelKey: to}
	if to == "" {
		values = map[string]any{shard.LabelKey: nil, shard.AssignedLabelKey: nil}
	}

	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": values}})
	if err != nil {
		return err
	}

	return errors.Wrapf(s.Client.Patch(ctx, s.workspaces[name].Workspace, client.RawPatch(types.MergePatchType, patch)), "cannot label Workspace %q", name)
}

// expectReady waits until the supplied Workspaces are Ready and Synced.
func (s *Story) expectReady(ctx context.Context, names ...string) error {
	for _, name := range names {
		ws := s.workspaces[name]

		if err := wait.Until(ctx, wait.Patience, func() error {
			if err := s.read(ctx, ws.Workspace); err != nil {
				return err
			}

			return ready(ws)
		}); err != nil {
			return errors.Wrapf(err, "Workspace %q", name)
		}
	}

	return nil
}

// ready returns an error unless the Workspace is Ready and Synced, and has its output.
func ready(ws workspace.Workspace) error {
	for _, t := range []xpv2.ConditionType{xpv2.TypeSynced, xpv2.TypeReady} {
		if c := ws.GetCondition(t); c.Status != corev1.ConditionTrue {
			return errors.Errorf("%s is %s: %s: %s", t, c.Status, c.Reason, cmp.Or(c.Message, "no message"))
		}
	}

	if len(ws.GetObservation().Outputs) != 1 {
		return errors.Errorf("want one output, got %v", ws.GetObservation().Outputs)
	}

	return nil
}

// expectEvent waits for an Event of a Workspace.
func (s *Story) expectEvent(ctx context.Context, name, reason, text string) error {
	return errors.Wrapf(wait.UntilTrue(ctx, "there is an Event "+reason+": "+text, func() bool {
		return s.witness.count(s.workspaces[name].GetUID(), reason, text) > 0
	}), "Workspace %q", name)
}

// expectWorking waits until exactly the supplied number of runs creates or destroys the thing of a
// Workspace, and returns the names of their pods.
func (s *Story) expectWorking(ctx context.Context, name string, want int) ([]string, error) {
	var got []string

	err := wait.Until(ctx, wait.Patience, func() error {
		if got = s.things.Working(name); len(got) != want {
			return errors.Errorf("want %d runs in progress, got %q", want, got)
		}

		return nil
	})

	return got, errors.Wrapf(err, "Workspace %q", name)
}

// applying begins an apply of a new Workspace that stays in progress until it is released. It returns
// the name of the pod with the run.
func (s *Story) applying(ctx context.Context, namespace, name string, options ...option) (pod string, release func(), err error) {
	release = s.things.Hold(name)

	if err := s.create(ctx, namespace, name, inlineHCL, options...); err != nil {
		return "", release, err
	}

	working, err := s.expectWorking(ctx, name, 1)
	if err != nil {
		return "", release, err
	}

	return working[0], release, nil
}

// expectCreatedBy returns an error unless the thing of a Workspace was created once, by the
// supplied pod.
func (s *Story) expectCreatedBy(name, pod string) error {
	if got := s.things.History(name).Created; len(got) != 1 || got[0] != pod {
		return errors.Errorf("thing of Workspace %q: want it to be created by %q, got %q", name, pod, got)
	}

	return nil
}
