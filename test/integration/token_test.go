// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// tokenModule shows who the token in the file "token" is for, and leaves the token in the directory of the evidence.
const tokenModule = `
variable "dir" {
  type = string
}

locals {
  part   = replace(replace(split(".", file("token"))[1], "-", "+"), "_", "/")
  claims = jsondecode(base64decode("${local.part}${substr("===", 0, (4 - length(local.part) % 4) % 4)}"))
}

resource "terraform_data" "login" {
  input = var.dir

  provisioner "local-exec" {
    command = "cp token '${self.input}/token'"
  }
}

output "sub" {
  value = local.claims.sub
}

output "aud" {
  value = local.claims.aud[0]
}
`

// createServiceAccount makes the ServiceAccount "terraform", which allows the audience "vault".
func (c *cluster) createServiceAccount(t *testing.T, namespace string) {
	t.Helper()
	c.create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "terraform", Annotations: map[string]string{"terraform.crossplane.io/token-audiences": "vault"},
	}})
}

// withToken adds a file with a token of the ServiceAccount "terraform".
func withToken(spec configSpec, namespace, audience string) configSpec {
	spec.Credentials = append(spec.Credentials, commonv1beta1.ProviderCredentials{
		Filename: "token", Source: "ServiceAccountToken",
		ServiceAccountToken: &commonv1beta1.ServiceAccountTokenSelector{Namespace: namespace, Name: "terraform", Audience: audience},
	})

	return spec
}

// TestServiceAccountToken has two tenants who share a ClusterProviderConfig, each with an identity of its own.
func TestServiceAccountToken(t *testing.T) {
	t.Parallel()

	const suffix = "token"

	c, one, shard, i := useOpenTofu(t)
	two := c.namespace(t)
	cfg := newClusterConfig(withToken(withBackend(one, suffix), "", "vault"))
	c.create(t, cfg)

	for n, ns := range []string{one, two} {
		c.createServiceAccount(t, ns)

		e := newEvidence(t)
		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(tokenModule), withVar("dir", string(e)))
		expectReady(t, c, ws)

		subject := fmt.Sprintf("system:serviceaccount:%s:terraform", ns)
		expectOutputs(t, c, ws, map[string]string{"sub": `"` + subject + `"`, "aud": `"vault"`})

		token, err := os.ReadFile(filepath.Join(string(e), "token"))
		if err != nil {
			t.Fatal(err)
		}

		// The service that the token is for asks the API server.
		r := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: string(token), Audiences: []string{"vault"}}}
		if err := c.kube.Create(t.Context(), r); err != nil || !r.Status.Authenticated || r.Status.User.Username != subject {
			t.Errorf("want a login as %s, got %+v, %v", subject, r.Status, err)
		}

		if _, err := os.Stat(filepath.Join(i.workdir(string(ws.GetUID())), "token")); !os.IsNotExist(err) {
			t.Errorf("want no token on the disk after a run, got %v", err)
		}

		if text := eventsAbout(t, c, ws); strings.Contains(text, string(token)) {
			t.Error("want the token in no Event")
		}

		// Another Workspace of the tenant shares the result of init, also with another token.
		if n == 0 {
			second := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(tokenModule), withVar("dir", string(newEvidence(t))))
			expectReady(t, c, second)
		}

		c.remove(t, ws)
		expectGone(t, c, ws)
	}
}

// TestRefusedToken has ProviderConfigs that ask for a token that they do not get.
func TestRefusedToken(t *testing.T) {
	t.Parallel()

	const suffix = "refused-token"

	c, ns, shard, _ := useOpenTofu(t)
	other := c.namespace(t)
	c.createServiceAccount(t, other)

	expectRefused := func(ws workspace.Workspace, text string) {
		t.Helper()
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, `cannot read credentials "token" in spec.credentials of the ProviderConfig: `, text)
	}

	// A tenant does not name a ServiceAccount of another namespace.
	theirs := c.createConfig(t, namespacedScope, ns, withToken(withBackend(ns, suffix), other, "vault"))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(theirs), withModule(tokenModule), withVar("dir", "/"))
	expectRefused(ws, "cannot get ServiceAccount "+ns+"/terraform")

	shared := newClusterConfig(withToken(withBackend(ns, suffix), other, "sts"))
	c.create(t, shared)
	expectRefused(c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(shared), withModule(tokenModule), withVar("dir", "/")), `ServiceAccount `+other+`/terraform does not allow its tokens for the audience "sts"`)

	all := c.createConfig(t, clusterScope, ns, withToken(withBackend(ns, suffix), "", "vault"))
	expectRefused(c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(all), withModule(tokenModule), withVar("dir", "/")), "serviceAccountToken.namespace is not set")

	// It waits for what is missing.
	c.createServiceAccount(t, ns)
	c.changeVars(t, ws, commonv1beta1.Var{Key: "dir", Value: string(newEvidence(t))})
	expectReady(t, c, ws)
}
