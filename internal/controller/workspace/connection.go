// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const orPublishNothing = "or remove spec.writeConnectionSecretToRef"

// checkSecretReference returns an error if no Secret can have the name or the namespace that the
// supplied Workspace wants its outputs in. The API server would only quote a regular expression.
func checkSecretReference(ws workspace.Workspace) error {
	key, ok := ws.GetConnectionSecretKey()

	switch {
	case !ok:
		return nil
	case len(validation.IsDNS1123Subdomain(key.Name)) > 0:
		return errors.Errorf("cannot use spec.writeConnectionSecretToRef.name %.100q: the name of a Secret has at most %d lowercase letters, digits, \"-\" and \".\", and a letter or a digit at both ends and on both sides of each \".\"",
			key.Name, validation.DNS1123SubdomainMaxLength)
	case len(validation.IsDNS1123Label(key.Namespace)) > 0:
		return errors.Errorf("cannot use spec.writeConnectionSecretToRef.namespace %.100q: the name of a namespace has at most %d lowercase letters, digits and \"-\", and a letter or a digit at both ends",
			key.Namespace, validation.DNS1123LabelMaxLength)
	default:
		return nil
	}
}

// toPublish returns the connection details to publish: those of all outputs, and nil for each key to remove.
func (ps *pass) toPublish(ctx context.Context, ws workspace.Workspace, details managed.ConnectionDetails, upToDate bool) (managed.ConnectionDetails, error) {
	secret, err := connectionSecret(ctx, ps.kube, ws)
	if err != nil {
		return nil, err
	}

	// The managed reconciler publishes before it updates. If outputs that cannot be published failed
	// here, they would block the update that corrects them.
	if !upToDate && workspace.MayUpdate(ws) {
		if details, _ = publishable(details); details == nil || isImmutable(secret) {
			return managed.ConnectionDetails{}, nil
		}
	}

	isOutput := func(key string) bool {
		_, ok := details[key]

		return ok
	}

	if !slices.ContainsFunc(slices.Collect(maps.Keys(secret.Data)), func(k string) bool { return !isOutput(k) }) {
		return details, nil
	}

	// The cache does not have the managed fields.
	if err := ps.live.Get(ctx, client.ObjectKeyFromObject(secret), secret); client.IgnoreNotFound(err) != nil {
		return nil, errors.Wrap(err, "cannot get connection Secret")
	}

	// Details are published with a merge patch: it keeps keys that it does not name, and removes keys
	// that are null. A key that something else has added was never an output.
	for _, k := range publishedKeys(secret) {
		if _, exists := secret.Data[k]; exists && !isOutput(k) {
			details[k] = nil
		}
	}

	return details, nil
}

// publishedKeys returns the keys of a Secret that this program wrote last, as the API server recorded it. The
// existing provider has a program of the same name.
func publishedKeys(s *corev1.Secret) []string {
	program, _, _ := strings.Cut(rest.DefaultKubernetesUserAgent(), "/")

	var keys []string

	for _, m := range s.GetManagedFields() {
		fields := struct {
			Data map[string]any `json:"f:data"`
		}{}

		if m.Manager != program || m.FieldsV1 == nil || json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}

		for k := range fields.Data {
			keys = append(keys, strings.TrimPrefix(k, "f:"))
		}
	}

	return keys
}

// connectionSecret returns the connection Secret that a Workspace controls. The Secret is empty if there
// is none: nothing is published to a Secret that something else controls.
func connectionSecret(ctx context.Context, kube client.Reader, ws workspace.Workspace) (*corev1.Secret, error) {
	s := &corev1.Secret{}

	key, ok := ws.GetConnectionSecretKey()
	if !ok {
		return s, nil
	}

	if err := kube.Get(ctx, key, s); err != nil {
		return s, errors.Wrap(resource.IgnoreNotFound(err), "cannot get connection Secret")
	}

	if !metav1.IsControlledBy(s, ws) {
		return &corev1.Secret{}, nil
	}

	return s, nil
}

func isImmutable(s *corev1.Secret) bool { return ptr.Deref(s.Immutable, false) }

// publishable returns the outputs that a Secret can hold, and an error that names the others. It
// returns no outputs if a Secret cannot hold all that have a valid name. The error has no values.
func publishable(outputs map[string][]byte) (map[string][]byte, error) {
	valid, refused := map[string][]byte{}, []string{}
	sizes, total := map[string]int{}, 0

	for name, value := range outputs {
		if len(validation.IsConfigMapKey(name)) > 0 { // The rules for a key of a Secret are the same.
			refused = append(refused, name)

			continue
		}

		valid[name], sizes[name] = value, len(value)
		total += len(value)
	}

	switch {
	case total > corev1.MaxSecretSize:
		return nil, errors.Errorf("the outputs have %s, a Secret can hold %s: %s; make them smaller, "+orPublishNothing,
			regular.Size(int64(total)), regular.Size(corev1.MaxSecretSize), nameSizes(sizes, bySize(sizes)))
	case len(refused) > 0:
		slices.Sort(refused)

		return valid, errors.Errorf("a Secret cannot have keys with the names of these outputs: %s; rename them (at most %d of the letters a to z and A to Z, digits, \"-\", \"_\" and \".\"), "+orPublishNothing,
			nameSizes(nil, refused), validation.DNS1123SubdomainMaxLength)
	default:
		return valid, nil
	}
}
