// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/keyref"
	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
	"github.com/crossplane-contrib/provider-terraform/internal/remedy"
)

// fluxGroup is the API group of Flux sources.
const fluxGroup = "source.toolkit.fluxcd.io"

// reference matches the syntax of a module of source Flux.
var reference = regexp.MustCompile(`^([A-Za-z]+)::([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)$`)

// A fluxReference refers to a Flux source.
type fluxReference struct {
	types.NamespacedName

	kind string
}

// parseFluxReference returns the reference to a Flux source in a module of source Flux.
func parseFluxReference(module string) (fluxReference, error) {
	if m := reference.FindStringSubmatch(module); m != nil {
		for _, kind := range []string{"GitRepository", "OCIRepository", "Bucket"} {
			if strings.EqualFold(kind, m[1]) {
				return fluxReference{types.NamespacedName{Namespace: m[2], Name: m[3]}, kind}, nil
			}
		}
	}

	return fluxReference{}, errors.Errorf("module %q does not refer to a Flux source: it must be GitRepository::NAMESPACE/NAME, OCIRepository::NAMESPACE/NAME or Bucket::NAMESPACE/NAME", remedy.Address(module))
}

// flux returns the artifact of a Flux source.
func (f *Fetcher) flux(ctx context.Context, module, namespace string) (source, error) {
	ref, err := parseFluxReference(module)
	if err != nil {
		return source{}, err
	}

	if f.options.SameNamespace && namespace != "" && namespace != ref.Namespace {
		return source{}, errors.Errorf("module %q is in another namespace than the Workspace, which is in %q: --no-cross-namespace-refs forbids that", module, namespace)
	}

	o, err := f.read(ctx, ref)
	if err != nil {
		return source{}, errors.Wrapf(err, "cannot get %s '%s'", ref.kind, ref.NamespacedName)
	}

	return ref.source(o)
}

// read returns the referenced object, in a version that the cluster serves.
func (f *Fetcher) read(ctx context.Context, ref fluxReference) (*unstructured.Unstructured, error) {
	plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: fluxGroup, Kind: ref.kind})
	definition := plural.GroupResource().String()

	// The versions are tried one by one: a client that knows an old version must not hide a newer
	// one, when the old one was removed.
	for _, version := range []string{"v1", "v1beta2", "v1beta1"} {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(schema.GroupVersionKind{Group: fluxGroup, Version: version, Kind: ref.kind})

		err := f.live.Get(ctx, ref.NamespacedName, o)

		switch {
		case kerrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) && kerrors.IsNotFound(err), meta.IsNoMatchError(err):
			// The version was not found, not the object.
			continue
		case kerrors.IsForbidden(err):
			return nil, errors.Wrapf(err, "the provider needs the right to get %s in namespace %q", definition, ref.Namespace)
		}

		return o, err
	}

	return nil, errors.Errorf("the cluster does not have this kind: Flux, or its CustomResourceDefinition %s, must be installed", definition)
}

// maxReason is the length of a reason of Flux in a message, in characters.
const maxReason = 300

// whyNotReady returns what o says about its missing artifact, as the end of a message.
func whyNotReady(o *unstructured.Unstructured) string {
	if suspended, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend"); suspended {
		return ": it is suspended, see its spec.suspend"
	}

	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c, _ := c.(map[string]any); c["type"] == "Ready" && c["status"] == "False" {
			return fmt.Sprintf(": %.*s", maxReason, strings.Join(strings.Fields(fmt.Sprint(c["message"])), " "))
		}
	}

	return ""
}

// source returns the artifact of o.
func (ref fluxReference) source(o *unstructured.Unstructured) (source, error) {
	artifact, _, _ := unstructured.NestedMap(o.Object, "status", "artifact")
	field := func(name string) string {
		s, _, _ := unstructured.NestedString(artifact, name)

		return s
	}

	url, digest := field("url"), field("digest")
	if url == "" {
		return source{}, keyref.NotFound(fmt.Sprintf("artifact for '%s' %s is not ready%s", ref.NamespacedName, ref.kind, whyNotReady(o)))
	}

	// Older versions have this field instead of a digest, with one algorithm.
	if sum := field("checksum"); digest == "" && sum != "" {
		digest = "sha256:" + sum
	}

	return source{
		address:  url,
		revision: field("revision") + "@" + digest,
		request:  fetch.Request{Artifact: &fetch.Artifact{URL: url, Digest: digest}},
	}, nil
}
