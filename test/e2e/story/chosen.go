// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// chosen has two Workspaces that run with other CLIs than the rest, and moves one of them with one field.
func (s *Story) chosen(ctx context.Context) error {
	for name, cli := range map[string]commonv1beta1.CLI{"tariffs": s.CLIs[0], "bookings": s.CLIs[1]} {
		if err := s.create(ctx, "", name, func(base string) commonv1beta1.ModuleParameters {
			m := inlineHCL(base)
			m.CLI = &cli

			return m
		}); err != nil {
			return err
		}

		if err := s.expectReady(ctx, name); err != nil {
			return err
		}

		if err := s.expectWrittenBy(ctx, name, cli); err != nil {
			return err
		}
	}

	return s.moveToCLI(ctx, "tariffs", s.CLIs[1])
}

// moveToCLI makes a Workspace run with another CLI, and waits until that has made a plan. There is nothing to apply.
func (s *Story) moveToCLI(ctx context.Context, name string, cli commonv1beta1.CLI) error {
	ws := s.workspaces[name]

	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"forProvider": map[string]any{"cli": cli}}})
	if err != nil {
		return err
	}

	if err := s.Client.Patch(ctx, ws.Workspace, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return err
	}

	return wait.Until(ctx, wait.Patience, func() error {
		if err := s.read(ctx, ws.Workspace); err != nil {
			return err
		}

		if c := ws.GetCondition(xpv2.TypeReady); c.ObservedGeneration != ws.GetGeneration() {
			return errors.Errorf("Workspace %q: Ready is about generation %d, want %d", name, c.ObservedGeneration, ws.GetGeneration())
		}

		return ready(ws)
	})
}

// expectWrittenBy waits until a CLI has written the state of a Workspace.
func (s *Story) expectWrittenBy(ctx context.Context, name string, cli commonv1beta1.CLI) error {
	return wait.Until(ctx, wait.Patience, func() error {
		secret := &corev1.Secret{}
		if err := s.Client.Get(ctx, types.NamespacedName{Namespace: system, Name: fmt.Sprintf("tfstate-%s-cluster", workspace.TerraformWorkspace(s.workspaces[name]))}, secret); err != nil {
			return err
		}

		z, err := gzip.NewReader(bytes.NewReader(secret.Data["tfstate"]))
		if err != nil {
			return err
		}

		var state struct {
			Version string `json:"terraform_version"`
		}
		if err := json.NewDecoder(z).Decode(&state); err != nil {
			return err
		}

		if strings.TrimPrefix(state.Version, "v") != cli.Version {
			return errors.Errorf("the state of Workspace %q was written by version %s, want %s %s", name, state.Version, cli.Product, cli.Version)
		}

		return nil
	})
}
