// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// traced reads Workspaces with `crossplane beta trace`: one that is Ready, one with a broken module, and one
// that waits for a Secret. The command shows the last 64 characters of a message, which have to have the cause.
func (s *Story) traced(ctx context.Context) error {
	broken := newWorkspace(teamA, "broken", commonv1beta1.ModuleParameters{Source: commonv1beta1.ModuleSourceInline, Module: "output \"greeting\" {\n  value = local.greeting\n}\n"})

	waiting := newWorkspace(teamA, "waiting", commonv1beta1.ModuleParameters{Source: commonv1beta1.ModuleSourceInline, Module: inHCL})
	if ws, ok := waiting.(*namespacedv1beta1.Workspace); ok {
		ws.Spec.ForProvider.VarFiles = []namespacedv1beta1.VarFile{{
			Source:             commonv1beta1.VarFileSourceSecretKey,
			SecretKeyReference: &namespacedv1beta1.KeyReference{Name: "later", Key: "url"},
		}}
	}

	for _, ws := range []client.Object{broken, waiting} {
		if err := s.Client.Create(ctx, ws); err != nil {
			return err
		}
	}

	return errors.Join(
		s.expectTrace(ctx, s.workspaces["network"], "True", "True", "Available"),
		s.expectTrace(ctx, broken, "False", "False", "ReconcileError: ...", `local value with the name "greeting" has not been declared`),
		s.expectTrace(ctx, waiting, "False", "False", "ReconcileError: ...", `Secret "later" not found`),
		s.remove(ctx, broken, waiting),
	)
}

// expectTrace waits until the trace of a Workspace has the values of its conditions Synced and Ready, and the
// supplied texts after them.
func (s *Story) expectTrace(ctx context.Context, ws workspace.Workspace, synced, ready string, texts ...string) error {
	return errors.Wrapf(wait.Until(ctx, wait.Patience, func() error {
		out, err := s.Crossplane(ctx, "beta", "trace", "workspace.tf.m.upbound.io/"+ws.GetName(), "--namespace="+ws.GetNamespace())
		if err != nil {
			return err
		}

		_, row, _ := strings.Cut(out, "("+ws.GetNamespace()+")")
		if columns := strings.Fields(row); len(columns) < 3 || columns[0] != synced || columns[1] != ready {
			return errors.Errorf("want Synced=%s and Ready=%s:\n%s", synced, ready, out)
		}

		for _, text := range texts {
			if !strings.Contains(out, text) {
				return errors.Errorf("want %q:\n%s", text, out)
			}
		}

		return nil
	}), "trace of Workspace %q", ws.GetName())
}
