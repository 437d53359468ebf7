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

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// chosen has a Workspace that runs with another CLI than the others, and moves to a third one with one field.
func (s *Story) chosen(ctx context.Context) error {
	const name = "ledger"

	older, newer := s.CLIs[0], s.CLIs[1]

	if err := s.create(ctx, "", name, func(base string) commonv1beta1.ModuleParameters {
		m := inlineHCL(base)
		m.CLI = &older

		return m
	}); err != nil {
		return err
	}

	if err := s.expectReady(ctx, name); err != nil {
		return err
	}

	if err := s.expectWrittenBy(ctx, name, older); err != nil {
		return err
	}

	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"forProvider": map[string]any{
		"cli": newer, "module": inHCL + "\nresource \"terraform_data\" \"more\" {}\n",
	}}})
	if err != nil {
		return err
	}

	if err := s.Client.Patch(ctx, s.workspaces[name].Workspace, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return err
	}

	if err := s.expectWrittenBy(ctx, name, newer); err != nil {
		return err
	}

	return s.expectReady(ctx, name)
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
