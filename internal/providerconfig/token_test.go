// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"bytes"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// TestTokens requests tokens from a real API server.
func TestTokens(t *testing.T) {
	t.Parallel()

	config := apiserver.Start(t)
	kube := apiserver.Client(t, config)

	create := func(objects ...client.Object) {
		t.Helper()

		for _, o := range objects {
			if err := kube.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	account := func(namespace, name, audiences string) client.Object {
		return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{TokenAudiencesAnnotationKey: audiences}}}
	}

	for _, ns := range []string{"one", "two"} {
		create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, account(ns, "terraform", "sts.example.org, vault"))
	}

	create(account("one", "silent", ""), account("one", "careless", apiAudience(t, kube)))

	now := time.Now()
	tokens := NewTokens(kube, kube, 5*time.Minute)
	tokens.now = func() time.Time { return now }

	get := func(s commonv1beta1.ServiceAccountTokenSelector, namespace string) []byte {
		t.Helper()

		token, err := tokens.Get(t.Context(), s, namespace)
		if err != nil {
			t.Fatal(err)
		}

		return token
	}
	vault := commonv1beta1.ServiceAccountTokenSelector{Name: "terraform", Audience: "vault"}
	first := get(vault, "one")

	// A service that accepts tokens for its audience, as Vault does, knows who it is.
	for token, want := range map[string]string{
		string(first):             "system:serviceaccount:one:terraform",
		string(get(vault, "two")): "system:serviceaccount:two:terraform",
		string(get(commonv1beta1.ServiceAccountTokenSelector{Name: "terraform", Namespace: "two", Audience: "vault"}, "one")): "system:serviceaccount:two:terraform",
	} {
		expectLogin(t, kube, token, want)
	}

	// An hour is longer than two runs, and a token is used for half of that.
	if now = now.Add(29 * time.Minute); !bytes.Equal(get(vault, "one"), first) {
		t.Error("want the same token for half of its life")
	}

	if now = now.Add(2 * time.Minute); bytes.Equal(get(vault, "one"), first) {
		t.Error("want another token after that")
	}

	if n := len(tokens.tokens); n != 1 {
		t.Errorf("want no old token to be kept, got %d tokens", n)
	}

	cases := map[string]struct {
		reason    string
		selector  commonv1beta1.ServiceAccountTokenSelector
		namespace string
		err       string
	}{
		"NoNamespace": {reason: "A cluster-scoped Workspace has none.", selector: vault, err: "serviceAccountToken.namespace is not set"},
		"Missing":     {reason: "The ServiceAccount does not exist.", selector: commonv1beta1.ServiceAccountTokenSelector{Name: "other", Audience: "vault"}, namespace: "one", err: `cannot get ServiceAccount one/other`},
		"NoConsent":   {reason: "It allows nothing.", selector: commonv1beta1.ServiceAccountTokenSelector{Name: "silent", Audience: "vault"}, namespace: "one", err: `does not allow its tokens for the audience "vault": add the audience to its annotation terraform.crossplane.io/token-audiences`},
		"Other":       {reason: "It allows another audience.", selector: commonv1beta1.ServiceAccountTokenSelector{Name: "terraform", Audience: "other"}, namespace: "one", err: `does not allow its tokens for the audience "other"`},
		"Login":       {reason: "No user gets a login for this cluster.", selector: commonv1beta1.ServiceAccountTokenSelector{Name: "careless", Audience: apiAudience(t, kube)}, namespace: "one", err: "such a token is a login for this cluster"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := tokens.Get(t.Context(), tc.selector, tc.namespace); err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("\n%s\nGet(...): want an error with %q, got %v", tc.reason, tc.err, err)
			}
		})
	}

	t.Run("Rights", func(t *testing.T) { testTokenRights(t, config, kube, vault) })
}

// expectLogin fails the test unless a service with the audience "vault" takes the token, and the API server does not.
func expectLogin(t *testing.T, kube client.Client, token, want string) {
	t.Helper()

	r := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: []string{"vault"}}}
	if err := kube.Create(t.Context(), r); err != nil || !r.Status.Authenticated || r.Status.User.Username != want {
		t.Errorf("want a token of %s, got %+v, %v", want, r.Status, err)
	}

	r = &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	if err := kube.Create(t.Context(), r); err != nil || r.Status.Authenticated {
		t.Errorf("want no login for the API server, got %+v, %v", r.Status, err)
	}
}

// testTokenRights ensures that a missing right is named.
func testTokenRights(t *testing.T, config *rest.Config, kube client.Client, vault commonv1beta1.ServiceAccountTokenSelector) {
	t.Helper()

	config = rest.CopyConfig(config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "provider"}

	limited, err := controlplane.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}

	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "provider"}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: role.ObjectMeta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "provider"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "provider"}},
	}

	for _, o := range []client.Object{role, binding} {
		if err := kube.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}

	expect := func(want string) {
		t.Helper()

		// The API server notices a change of a role after a while.
		if err := wait.Until(t.Context(), wait.Soon, func() error {
			_, err := NewTokens(limited, limited, time.Minute).Get(t.Context(), vault, "one")
			if (err == nil) == (want == "") && (err == nil || strings.Contains(err.Error(), want)) {
				return nil
			}

			return errors.Errorf("want an error with %q, got %v", want, err)
		}); err != nil {
			t.Fatal(err)
		}
	}
	grant := func(rule rbacv1.PolicyRule) {
		t.Helper()

		rule.APIGroups, rule.ResourceNames = []string{""}, []string{"terraform"}
		role.Rules = append(role.Rules, rule)

		if err := kube.Update(t.Context(), role); err != nil {
			t.Fatal(err)
		}
	}

	expect(`Grant the provider the right to get serviceaccounts, for the name "terraform", in a Role in the namespace "one"`)
	grant(rbacv1.PolicyRule{Resources: []string{"serviceaccounts"}, Verbs: []string{"get"}})
	expect(`Grant the provider the right to create serviceaccounts/token, for the name "terraform", in a Role in the namespace "one"`)
	grant(rbacv1.PolicyRule{Resources: []string{"serviceaccounts/token"}, Verbs: []string{"create"}})
	expect("")
}

// apiAudience returns an audience of the API server.
func apiAudience(t *testing.T, kube client.Client) string {
	t.Helper()

	r := &authenticationv1.TokenRequest{}
	if err := kube.SubResource("token").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "terraform"}}, r); err != nil {
		t.Fatal(err)
	}

	return r.Spec.Audiences[0]
}
