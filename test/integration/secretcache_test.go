// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// TestNoSecretCache runs an instance that may read Secrets, but neither list nor
// watch them: it needs no cache of them.
func TestNoSecretCache(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	startInstance(t, c, withShard(shard), withArgs("--no-enable-secret-cache"), withKubeconfig(c.user(t,
		rbacv1.PolicyRule{APIGroups: []string{"tf.upbound.io", "tf.m.upbound.io"}, Resources: []string{"*"}, Verbs: []string{"*"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "create", "update", "patch"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"*"}},
		rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"*"}},
	)))

	cfg := c.createConfig(t, namespacedScope, ns, configSpec{
		Credentials: []commonv1beta1.ProviderCredentials{secretCredentials("credentials.txt", c.secretKey(t, ns, "open sesame"))},
	})
	connection := unique("connection")
	ws := c.createReferring(t, namespacedScope, ns, references{
		varFiles: []commonv1beta1.VarFile{secretVars(c.secretKey(t, ns, `file = "file"`), nil)},
	}, inShard(shard), withConfig(cfg), withSecret(connection), withModule(echo("file")))
	expectReady(t, c, ws)
	expectSecret(t, c, ns, connection, map[string]string{"file": "file"})
}
