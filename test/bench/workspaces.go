// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// writers is how many requests to the API server there are at the same time.
const writers = 16

func newWorkspace(name, shardName, module string, vars ...commonv1beta1.Var) *namespacedv1beta1.Workspace {
	ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	ws.Spec.ForProvider.Source = commonv1beta1.ModuleSourceInline
	ws.Spec.ForProvider.Module = module
	ws.Spec.ForProvider.Vars = vars

	if shardName != "" {
		ws.Labels = map[string]string{shard.LabelKey: shardName}
	}

	return ws
}

func workspacesOf(names []string, module string) []*namespacedv1beta1.Workspace {
	var all []*namespacedv1beta1.Workspace
	for _, name := range names {
		all = append(all, newWorkspace(name, "", module, commonv1beta1.Var{Key: "name", Value: name}))
	}

	return all
}

func namesOf(sort string, n int) []string {
	var names []string
	for n := range n {
		names = append(names, numbered(sort, n))
	}

	return names
}

// untilReady creates Workspaces, and returns how long after that of the first each was Ready.
func (b *bench) untilReady(ctx context.Context, all []*namespacedv1beta1.Workspace) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()

	w, err := b.plane.Kube.Watch(ctx, &namespacedv1beta1.WorkspaceList{}, client.InNamespace(namespace))
	if err != nil {
		return nil, errors.Wrap(err, "cannot watch Workspaces")
	}
	defer w.Stop()

	waiting := map[string]bool{}
	for _, ws := range all {
		waiting[ws.GetName()] = true
	}

	start := time.Now()

	created := make(chan error, 1)

	go func() {
		created <- each(ctx, writers, all, func(ctx context.Context, ws *namespacedv1beta1.Workspace) error {
			return errors.Wrap(b.plane.Kube.Create(ctx, ws), "cannot create Workspace")
		})
	}()

	var took []time.Duration

	for len(waiting) > 0 {
		select {
		case <-ctx.Done():
			return nil, errors.Errorf("%d Workspaces are not Ready", len(waiting))
		case err := <-created:
			if err != nil {
				return nil, err
			}

			// There is nothing more to come.
			created = nil
		case e, ok := <-w.ResultChan():
			if !ok {
				return nil, errors.New("the watch of Workspaces has ended")
			}

			ws, ok := e.Object.(*namespacedv1beta1.Workspace)
			if ok && waiting[ws.GetName()] && ws.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
				delete(waiting, ws.GetName())

				took = append(took, time.Since(start))
			}
		}
	}

	return took, nil
}

// untilGone deletes all Workspaces, and waits until they are gone. It does not watch: the API
// server ends a watch that cannot keep up with so many deletions on a busy machine.
func (b *bench) untilGone(ctx context.Context) error {
	if err := b.plane.Kube.DeleteAllOf(ctx, &namespacedv1beta1.Workspace{}, client.InNamespace(namespace)); err != nil {
		return errors.Wrap(err, "cannot delete Workspaces")
	}

	return wait.Until(ctx, 10*wait.Patience, func() error {
		if err := wait.For(ctx, time.Second/4); err != nil {
			return err
		}

		l := &metav1.PartialObjectMetadataList{}
		l.SetGroupVersionKind(namespacedv1beta1.WorkspaceListGroupVersionKind)

		if err := b.plane.Kube.List(ctx, l, client.InNamespace(namespace)); err != nil {
			return err
		}

		if len(l.Items) > 0 {
			return errors.Errorf("%d Workspaces are not gone", len(l.Items))
		}

		return nil
	})
}

// clear removes all Workspaces, and their usages of ProviderConfigs, while no instance runs, and nothing
// else.
func (b *bench) clear(ctx context.Context) error {
	l := &namespacedv1beta1.WorkspaceList{}
	if err := b.plane.Kube.List(ctx, l); err != nil {
		return err
	}

	usages := &namespacedv1beta1.ProviderConfigUsage{}
	if err := b.plane.Kube.DeleteAllOf(ctx, usages, client.InNamespace(namespace)); err != nil {
		return err
	}

	return each(ctx, writers, l.Items, func(ctx context.Context, ws namespacedv1beta1.Workspace) error {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		if err := b.plane.Kube.Patch(ctx, &ws, patch); err != nil {
			return err
		}

		if err := b.plane.Kube.Delete(ctx, &ws); !kerrors.IsNotFound(err) {
			return err
		}

		return nil
	})
}

func numbered(sort string, n int) string { return fmt.Sprintf("%s-%d", sort, n) }
