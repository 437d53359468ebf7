// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestMissingReference refers to missing objects and keys. They are never read as an empty
// value: the condition names them, and nothing runs.
func TestMissingReference(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useOpenTofu(t)
	elsewhere := c.namespace(t)

	// The missing object exists in another namespace, where it must not be found.
	absent := &keyReference{Namespace: ns, Name: "absent", Key: "key"}
	c.createSecret(t, &keyReference{Namespace: elsewhere, Name: absent.Name, Key: absent.Key}, "a = 1")
	c.create(t, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: elsewhere, Name: absent.Name},
		Data:       map[string]string{absent.Key: "a = 1"},
	})

	keyless := func(ref *keyReference) *keyReference {
		return &keyReference{Namespace: ref.Namespace, Name: ref.Name, Key: "no-such-key"}
	}
	configMap, secret := keyless(c.configMapKey(t, ns, "a = 1")), keyless(c.secretKey(t, ns, "a = 1"))

	binary := &keyReference{Namespace: ns, Name: unique("binary"), Key: "no-such-key"}
	c.create(t, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: binary.Namespace, Name: binary.Name},
		BinaryData: map[string][]byte{binary.Key: []byte("a = 1")},
	})

	env := func(e commonv1beta1.EnvVar) references {
		e.Name = "NEEDED"

		return references{env: []commonv1beta1.EnvVar{{Name: "OTHER", Value: "value"}, e}}
	}
	file := func(f commonv1beta1.VarFile) references {
		return references{varFiles: []commonv1beta1.VarFile{configMapVars(c.configMapKey(t, ns, ""), nil), f}}
	}
	noCredentials := func(source xpv2.CredentialsSource) *commonv1beta1.ProviderCredentials {
		return &commonv1beta1.ProviderCredentials{Filename: "needed.txt", Source: source}
	}
	credentials := func(ref *keyReference) *commonv1beta1.ProviderCredentials {
		cr := secretCredentials("needed.txt", ref)

		return &cr
	}
	noFile := noCredentials(xpv2.CredentialsSourceFilesystem)
	noFile.Fs = &xpv2.FsSelector{Path: "/no/such/file"}

	cases := map[string]struct {
		references

		credentials *commonv1beta1.ProviderCredentials
		want        []string
	}{
		"EnvSecret":            {references: env(commonv1beta1.EnvVar{SecretKeyReference: absent}), want: []string{"spec.forProvider.env NEEDED: ", "Secret", `"absent"`, "not found"}},
		"FileConfigMapKey":     {references: file(configMapVars(configMap, nil)), want: []string{"varFiles[1]", "couldn't find key no-such-key in ConfigMap " + ns + "/" + configMap.Name}},
		"FileConfigMapBinary":  {references: file(configMapVars(binary, nil)), want: []string{"varFiles[1]", "cannot use key no-such-key in ConfigMap " + ns + "/" + binary.Name + ": it is in binaryData"}},
		"CredentialsSecretKey": {credentials: credentials(secret), want: []string{`"needed.txt"`, "couldn't find key no-such-key in Secret " + ns + "/" + secret.Name}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			spec := withoutBackend()
			if tc.credentials != nil {
				spec.Credentials = append(spec.Credentials, *tc.credentials)
			}

			cfg := c.createConfig(t, namespacedScope, ns, spec)
			ws := c.createReferring(t, namespacedScope, ns, tc.references, inShard(shard), withConfig(cfg), withModule(moduleFile(t, "outputs.tf")))
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, tc.want...)
			expectRuns(t, i, ws, []string{}...)
		})
	}
}

// TestReferenceAppears creates the object of a reference after it was reported as missing more often than
// other failures may be. The Workspace has waited and was not stalled: a Stalled that ends stays as False.
func TestReferenceAppears(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	late := &keyReference{Namespace: ns, Name: unique("late"), Key: "key"}
	cfg := c.createConfig(t, clusterScope, ns, withoutBackend())
	ws := c.createReferring(t, clusterScope, ns, references{varFiles: []commonv1beta1.VarFile{secretVars(late, nil)}},
		inShard(shard), withConfig(cfg), withModule(echo("late")))
	expectKstatus(t, ws, status.InProgressStatus, "Nothing was written since its creation.")
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, late.Name)

	eventually(t, func() error {
		if n := countEvents(t, c, ws, "CannotObserveExternalResource"); n < 6 {
			return errors.Errorf("want 6 tries, got %d", n)
		}

		return nil
	})

	c.get(t, ws)

	expectKstatus(t, ws, status.InProgressStatus, "The Workspace waits.")

	c.createSecret(t, late, `late = "but here"`)
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"late": `"but here"`})
	expectKstatus(t, ws, status.CurrentStatus, "The infrastructure is as specified.")

	if stalled := ws.GetCondition("Stalled"); stalled.Status != corev1.ConditionUnknown {
		t.Errorf("want a Workspace that was never stalled, got %s", describe(stalled))
	}
}

// expectKstatus of a Workspace as it was read last.
func expectKstatus(t *testing.T, ws client.Object, want status.Status, reason string) {
	t.Helper()

	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(ws)
	if err != nil {
		t.Fatal(err)
	}

	if got, err := status.Compute(&unstructured.Unstructured{Object: content}); err != nil || got.Status != want {
		t.Errorf("%s kstatus: want %s, got %v, %v", reason, want, got, err)
	}
}
