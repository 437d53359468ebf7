// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package providerconfig finds the configuration of a Workspace, records its usage, and reads its
// credentials. Only this package distinguishes Workspaces that refer to a ProviderConfig of the
// cluster scoped group from those that refer to one by kind.
package providerconfig

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/keyref"
)

// A config is a ProviderConfig of any kind.
type config interface {
	client.Object

	GetProviderConfigSpec() commonv1beta1.ProviderConfigSpec
}

// A Ref names a ProviderConfig of one API group.
type Ref struct {
	types.NamespacedName

	Kind string
}

// A Resolver resolves the ProviderConfig of a Workspace. It is safe for concurrent
// use.
type Resolver struct {
	client client.Client
	legacy resource.LegacyTracker
	modern resource.ModernTracker
}

// NewResolver returns a Resolver that reads configurations and records usages with the supplied
// client. A usage in the cache of the client costs no request.
func NewResolver(c client.Client) *Resolver {
	return &Resolver{
		client: c,
		legacy: resource.NewLegacyProviderConfigUsageTracker(c, &clusterv1beta1.ProviderConfigUsage{}),
		modern: resource.NewProviderConfigUsageTracker(c, &namespacedv1beta1.ProviderConfigUsage{}),
	}
}

// Resolve records that the supplied managed resource uses its ProviderConfig, and returns the
// settings of that ProviderConfig. It records the usage first, so that the ProviderConfig cannot
// be deleted during the read.
//
// A managed resource that is being deleted needs no usage if none can be created: it is deleted
// together with its namespace, which waits for it.
func (r *Resolver) Resolve(ctx context.Context, mg resource.Managed) (commonv1beta1.ProviderConfigSpec, error) {
	// No usage of such a reference can be recorded.
	if _, modern := mg.(resource.ModernManaged); modern && RefOf(mg).Name != "" && RefOf(mg).Kind == "" {
		return commonv1beta1.ProviderConfigSpec{}, wrongKind("")
	}

	// The refusal of the API server would name a label of the usage only.
	if name := RefOf(mg).Name; len(name) > validation.LabelValueMaxLength && !meta.WasDeleted(mg) {
		return commonv1beta1.ProviderConfigSpec{}, errors.Errorf("cannot use spec.providerConfigRef.name %q: it has %d characters, and a ProviderConfig that a Workspace uses can have at most %d",
			name, len(name), validation.LabelValueMaxLength)
	}

	if err := r.track(ctx, mg); err != nil && (!meta.WasDeleted(mg) || !cannotExist(err)) {
		return commonv1beta1.ProviderConfigSpec{}, errors.Wrap(err, "cannot track ProviderConfig usage")
	}

	return r.read(ctx, mg)
}

// usageFinalizer is of the usages that later versions of crossplane-runtime make, so that each outlives its managed resource. The managed
// reconciler of this version does not remove it, and the guard of the controller of ProviderConfigs needs none.
const usageFinalizer = "finalizer.providerconfigusage.crossplane.io"

// track records a usage. A deleted usage is recorded again.
func (r *Resolver) track(ctx context.Context, mg resource.Managed) error {
	var (
		usage client.Object
		err   error
	)

	switch mg := mg.(type) {
	case resource.ModernManaged:
		usage, err = &namespacedv1beta1.ProviderConfigUsage{}, r.modern.Track(ctx, mg)
	case resource.LegacyManaged:
		usage, err = &clusterv1beta1.ProviderConfigUsage{}, r.legacy.Track(ctx, mg)
	default:
		err = errors.Errorf("%T does not refer to a ProviderConfig", mg)
	}

	// A usage that was just recorded may not be in the cache yet. Its name is the UID of mg, so it
	// is the same usage.
	if err != nil {
		return resource.Ignore(kerrors.IsAlreadyExists, err)
	}

	return r.release(ctx, mg, usage)
}

// release removes the usageFinalizer from the usage of a managed resource, if the cache has it. usage is an empty one. Without the right
// to do that, the finalizer stays, which only keeps the ProviderConfig.
func (r *Resolver) release(ctx context.Context, mg resource.Managed, usage client.Object) error {
	err := r.client.Get(ctx, types.NamespacedName{Namespace: mg.GetNamespace(), Name: string(mg.GetUID())}, usage)
	if err != nil || !meta.FinalizerExists(usage, usageFinalizer) {
		return resource.IgnoreNotFound(err)
	}

	before, _ := usage.DeepCopyObject().(client.Object)
	meta.RemoveFinalizer(usage, usageFinalizer)

	err = r.client.Patch(ctx, usage, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))

	return resource.IgnoreAny(err, kerrors.IsNotFound, kerrors.IsForbidden)
}

// cannotExist says whether an object was not created because its namespace or its kind is being
// deleted, or its kind is missing.
func cannotExist(err error) bool {
	return kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || kerrors.IsMethodNotSupported(err) || kerrors.IsNotFound(err) || kmeta.IsNoMatchError(err)
}

// read reads the ProviderConfig of the supplied managed resource, which has a reference to one:
// otherwise no usage was recorded.
func (r *Resolver) read(ctx context.Context, mg resource.Managed) (commonv1beta1.ProviderConfigSpec, error) {
	ref := RefOf(mg)
	_, legacy := mg.(resource.LegacyManaged)

	for _, k := range Kinds() {
		if c, ok := k.Object.(config); ok && k.Config.Kind == ref.Kind && k.Legacy() == legacy {
			err := r.client.Get(ctx, ref.NamespacedName, c)
			if kerrors.IsNotFound(err) {
				return commonv1beta1.ProviderConfigSpec{}, keyref.NotFound(r.explainMissing(ctx, k, ref, mg.GetNamespace()))
			}

			return c.GetProviderConfigSpec(), errors.Wrap(err, "cannot get provider config")
		}
	}

	return commonv1beta1.ProviderConfigSpec{}, wrongKind(ref.Kind)
}

func wrongKind(kind string) error {
	return errors.Errorf("spec.providerConfigRef.kind is %q: it must be %s or %s",
		kind, namespacedv1beta1.ProviderConfigKind, namespacedv1beta1.ClusterProviderConfigKind)
}

// RefOf returns the reference of the supplied managed resource to a ProviderConfig. It is empty if
// there is none.
func RefOf(mg resource.Managed) Ref {
	ref := Ref{}

	switch mg := mg.(type) {
	case resource.ModernManaged:
		if r := mg.GetProviderConfigReference(); r != nil {
			ref.Kind, ref.Name = r.Kind, r.Name
			if r.Kind != namespacedv1beta1.ClusterProviderConfigKind {
				ref.Namespace = mg.GetNamespace()
			}
		}
	case resource.LegacyManaged:
		if r := mg.GetProviderConfigReference(); r != nil {
			ref.Kind, ref.Name = clusterv1beta1.ProviderConfigKind, r.Name
		}
	}

	return ref
}
