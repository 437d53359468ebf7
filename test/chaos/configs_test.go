// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

// configurations returns the text of each ProviderConfig. State is in Secrets, because
// each instance has its own root.
func configurations() map[string]string {
	backend := func(settings string) string {
		return "terraform {\n  backend \"kubernetes\" {\n" + settings + "  }\n}\n"
	}
	here := fmt.Sprintf("    namespace     = %q\n", namespace)
	suffix := fmt.Sprintf("    secret_suffix = %q\n", secretSuffix)
	all := backend(here + suffix)

	return map[string]string{
		string(plain):     all,
		string(comment):   "# Written by another team.\n" + all,
		string(region):    all + "locals {\n  region = \"north\"\n}\n",
		string(newline):   all + "\n\n",
		"env":             backend(suffix),
		"suffix":          backend(here),
		string(noBackend): "",
		string(leaky):     all,
	}
}

// configure makes everything that Workspaces refer to.
func (w *workspaces) configure(ctx context.Context, secrets map[string]canary) error {
	var all []client.Object

	for _, name := range []string{namespace, namespaceX, namespaceY} {
		all = append(all, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}

	for name, c := range secrets {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "canary-" + name}, Data: map[string][]byte{"text": []byte(c.text)}}
		for _, from := range []string{fromHCL, fromJSON} {
			s.Data[from] = printer{from: from}.file(c)
		}

		all = append(all, s)
	}

	for name, text := range configurations() {
		meta := metav1.ObjectMeta{Name: name}

		spec := commonv1beta1.ProviderConfigSpec{Configuration: &text}
		if name == string(leaky) {
			spec.Credentials = []commonv1beta1.ProviderCredentials{{
				Filename: "canary.json",
				Source:   xpv2.CredentialsSourceSecret,
				CommonCredentialSelectors: xpv2.CommonCredentialSelectors{SecretRef: &xpv2.SecretKeySelector{
					SecretReference: xpv2.SecretReference{Namespace: namespace, Name: "canary-" + credentials},
					Key:             "text",
				}},
			}}
		}

		all = append(all, &clusterv1beta1.ProviderConfig{ObjectMeta: meta, Spec: spec}, &namespacedv1beta1.ClusterProviderConfig{ObjectMeta: meta, Spec: spec})
	}

	for _, o := range all {
		if err := w.kube.Create(ctx, o); err != nil {
			return err
		}
	}

	return nil
}
