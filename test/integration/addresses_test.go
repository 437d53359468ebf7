// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestSecretsInAddresses has modules with values of a Secret in the addresses of their
// resources. Conditions and events show the addresses without these values.
func TestSecretsInAddresses(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	expectHidden := func(t *testing.T, ws workspace.Workspace) {
		t.Helper()
		c.get(t, ws)

		all, err := json.MarshalIndent(ws, "", " ")
		if err != nil {
			t.Fatalf("cannot marshal Workspace: %v", err)
		}

		for place, have := range map[string]string{"the Workspace": string(all), "its events": eventsAbout(t, c, ws)} {
			if strings.Contains(have, "sesame") {
				t.Errorf("want no secret in %s, got %s", place, linesWith(have, "sesame"))
			}
		}
	}

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "addresses"))
	secret := references{env: []commonv1beta1.EnvVar{{Name: "TF_VAR_token", SecretKeyReference: c.secretKey(t, ns, "open sesame")}}}

	t.Run("Drift", func(t *testing.T) {
		t.Parallel()

		ws := newReferring(namespacedScope, ns, secret, inShard(shard), polledOften, withConfig(cfg), withModule(`
variable "token" {}

resource "time_rotating" "vanishing" {
  for_each      = toset([var.token])
  rfc3339       = "2020-02-12T06:36:13Z"
  rotation_days = 1
}

resource "terraform_data" "lasting" {}
`))
		ws.SetManagementPolicies(policyNoUpdate())
		c.create(t, ws)
		expectCondition(t, c, ws, "Drifted", corev1.ConditionTrue, `time_rotating.vanishing["(sensitive)"]`)
		expectHidden(t, ws)
	})

	t.Run("Progress", func(t *testing.T) {
		t.Parallel()

		e := newEvidence(t)
		ws := c.createReferring(t, namespacedScope, ns, secret, inShard(shard), withConfig(cfg), withVar("dir", string(e)), withModule(`
variable "token" {}
variable "dir" {}

resource "terraform_data" "slow" {
  for_each = toset([var.token])

  provisioner "local-exec" {
    command = "until [ -e '${var.dir}/gate' ] || [ ! -d '${var.dir}' ]; do sleep 0.1; done"
  }
}
`))
		expectEvent(t, c, ws, "ApplyProgress", "Applying for 30 s: 0 of 1 done; creating ", `terraform_data.slow["(sensitive)"]`)
		e.write(t, "gate", "")
		expectReady(t, c, ws)
		expectHidden(t, ws)
	})
}
