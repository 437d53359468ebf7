// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/manifest"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// foreign is a CRD in a version of the package that another owner in the cluster controls. Crossplane
// keeps the CRDs of ProviderConfigs as they are.
const foreign = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: providerconfigs.other.example.org
spec:
  group: other.example.org
  names:
    kind: ProviderConfig
    listKind: ProviderConfigList
    plural: providerconfigs
    singular: providerconfig
  scope: Cluster
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
`

// unestablished sets a version of the package that Crossplane cannot establish. Crossplane removes the
// instance of the package. The shards keep their rights and continue, also in new pods. Then the
// version before is set again, and its instance serves what has waited.
func (s *Story) unestablished(ctx context.Context) error {
	objects, err := s.occupy(ctx)
	if err != nil {
		return err
	}

	third, err := s.publishForeign(ctx)
	if err != nil {
		return err
	}

	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: providerName}}
	if err := s.read(ctx, account); err != nil {
		return err
	}

	uid := account.GetUID()

	if err := s.setPackage(ctx, third); err != nil {
		return err
	}

	if err := s.expectUnhealthy(ctx, third); err != nil {
		return err
	}

	if err := s.expectInstances(ctx, 2, s.second); err != nil {
		return err
	}

	if err := s.shardsContinue(ctx); err != nil {
		return err
	}

	// No instance serves this one yet.
	if err := s.create(ctx, "", "waiting", inlineHCL); err != nil {
		return err
	}

	if err := s.setPackage(ctx, s.second); err != nil {
		return err
	}

	if err := s.expectPackage(ctx, s.second); err != nil {
		return err
	}

	if err := s.expectInstances(ctx, 3, s.second); err != nil {
		return err
	}

	if err := s.read(ctx, account); err != nil {
		return err
	}

	if account.GetUID() != uid {
		return errors.New("the ServiceAccount of the instances is another one than before")
	}

	return s.remove(ctx, objects...)
}

// shardsContinue creates a Workspace for a shard that runs, and one for a shard whose pod was
// replaced.
func (s *Story) shardsContinue(ctx context.Context) error {
	p, err := s.only(ctx, shard1)
	if err != nil {
		return err
	}

	if err := s.remove(ctx, p); err != nil {
		return err
	}

	if err := errors.Join(
		s.create(ctx, "", "meanwhile", inlineHCL, inShard(shard0)),
		s.create(ctx, teamA, "meanwhile-replaced", inlineJSON, inShard(shard1)),
	); err != nil {
		return err
	}

	return s.expectReady(ctx, "meanwhile", "meanwhile-replaced")
}

// occupy creates the foreign CRD with another owner, and returns both.
func (s *Story) occupy(ctx context.Context) ([]client.Object, error) {
	owner := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "other-owner"}}
	if err := s.Client.Create(ctx, owner); err != nil {
		return nil, err
	}

	crds, err := manifest.Parse([]byte(foreign))
	if err != nil {
		return nil, err
	}

	objects := []client.Object{owner}

	for _, crd := range crds {
		crd.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, rbacv1.SchemeGroupVersion.WithKind("ClusterRole"))})

		if err := s.Client.Create(ctx, crd); err != nil {
			return nil, err
		}

		objects = append(objects, crd)
	}

	return objects, nil
}

// packageDir is the directory of the package.
func (s *Story) packageDir() string { return filepath.Join(s.Root, "package") }

// publishForeign publishes the package with the foreign CRD.
func (s *Story) publishForeign(ctx context.Context) (string, error) {
	dir := filepath.Join(s.Dir, "package")
	if err := os.CopyFS(dir, os.DirFS(s.packageDir())); err != nil {
		return "", err
	}

	if err := os.WriteFile(filepath.Join(dir, "crds", "foreign.yaml"), []byte(foreign), 0o600); err != nil {
		return "", err
	}

	return s.Publish(ctx, "v0.3.0", dir)
}

// setPackage sets the version of the package, and nothing else.
func (s *Story) setPackage(ctx context.Context, ref string) error {
	p := &unstructured.Unstructured{}
	p.SetGroupVersionKind(pkgv1.ProviderGroupVersionKind)
	p.SetName(providerName)

	return s.Client.Patch(ctx, p, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"package":"`+ref+`"}}`)))
}

// expectUnhealthy waits until Crossplane says that it cannot establish a version of the package.
func (s *Story) expectUnhealthy(ctx context.Context, ref string) error {
	const want = "is already controlled by"

	p := &pkgv1.Provider{}

	return wait.Until(ctx, wait.Patience, func() error {
		if err := s.Client.Get(ctx, client.ObjectKey{Name: providerName}, p); err != nil {
			return err
		}

		if c := p.GetCondition(pkgv1.TypeHealthy); p.Status.CurrentIdentifier != ref || c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, want) {
			return errors.Errorf("want Provider with %q to be unhealthy with %q, got %q: %s: %s", ref, want, p.Status.CurrentIdentifier, c.Status, c.Message)
		}

		return nil
	})
}
