// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// teamA keeps a part of its state in its own namespace, and teamB only in that of Crossplane.
	teamA = "team-a"
	teamB = "team-b"
)

// single installs one instance as docs/install.md says, and creates Workspaces of both kinds, with
// modules from all sources that need no other controller.
func (s *Story) single(ctx context.Context) error {
	var err error
	if s.before, err = s.objects(ctx); err != nil {
		return err
	}

	if s.first, err = s.Publish(ctx, "v0.1.0", s.packageDir()); err != nil {
		return err
	}

	if err := s.deploy(ctx, "single-package", s.first); err != nil {
		return err
	}

	if err := s.expectPackage(ctx, s.first); err != nil {
		return err
	}

	if err := s.expectInstances(ctx, 1, s.first); err != nil {
		return err
	}

	if err := s.configure(ctx); err != nil {
		return err
	}

	return errors.Join(
		s.create(ctx, "", "orders", inlineHCL),
		s.create(ctx, "", "refunds", inlineJSON),
		s.create(ctx, "", "audit", remote),
		s.create(ctx, teamA, "network", inlineHCL, inTeamA),
		s.create(ctx, teamA, "cache", inlineJSON),
		s.create(ctx, teamA, "mail", remote, inTeamA),
		s.create(ctx, teamB, "search", inlineHCL),
		s.create(ctx, teamB, "index", remote),
	)
}

// configFiles have the namespace, the ProviderConfigs and the rights that the examples use.
func configFiles() []string {
	return []string{
		"cluster/providerconfig.yaml",
		"namespaced/namespace.yaml",
		"namespaced/clusterproviderconfig.yaml",
		"namespaced/providerconfig.yaml",
		"namespaced/rbac.yaml",
	}
}

// configure creates what the Workspaces refer to.
func (s *Story) configure(ctx context.Context) error {
	objects, err := s.examples(configFiles()...)
	if err != nil {
		return err
	}

	if err := s.apply(ctx, objects...); err != nil {
		return err
	}

	if err := s.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: teamB}}); err != nil {
		return err
	}

	for _, name := range []string{"network", "mail"} {
		if err := s.Client.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: teamA, Name: name},
			Data:       map[string]string{"thing.tfvars": `url = "` + urlOf(s.base, name) + `"`},
		}); err != nil {
			return err
		}
	}

	return nil
}
