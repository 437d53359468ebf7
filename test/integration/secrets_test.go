// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestSecretFiles checks the secrets on disk: while the CLI runs only the provider's user
// can read them, and after a successful or failed run there are none.
func TestSecretFiles(t *testing.T) {
	t.Parallel()

	c, ns, shard, i, rec := useRecorder(t)

	create := func(t *testing.T, module string) workspace.Workspace {
		t.Helper()

		// A state is as secret as its backend, which is not the disk here.
		spec := withBackend(ns, "secrets")
		spec.Credentials = []commonv1beta1.ProviderCredentials{
			secretCredentials("credentials.txt", c.secretKey(t, ns, "sesame-credentials")),
			secretCredentials(".git-credentials", c.secretKey(t, ns, "https://somebody:sesame-git@example.org")),
		}

		return c.createReferring(t, namespacedScope, ns, references{
			env:      []commonv1beta1.EnvVar{{Name: "TF_VAR_env", SecretKeyReference: c.secretKey(t, ns, `"sesame-env"`)}},
			varFiles: []commonv1beta1.VarFile{secretVars(c.secretKey(t, ns, `file = "sesame-file"`), nil)},
		}, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, spec)), withVar("text", `"sesame-vars"`), withVarMap(`{"object": "sesame-varmap"}`),
			withModule(echo("env", "file", "text", "object")+module))
	}

	expectPrivate := func(t *testing.T, run recordedRun, names ...string) {
		t.Helper()

		for _, name := range names {
			if have := run.modes[name]; have != "600" {
				t.Errorf("mode of %s during %s: want 600, got %q", name, run.args[0], have)
			}
		}
	}
	files := []string{
		"credentials.txt",
		".git-credentials",
		"crossplane-provider-terraform-0.tfvars",
		"crossplane-provider-terraform-1.tfvars.json",
		"crossplane-provider-terraform-vars.tfvars",
	}

	t.Run("Success", func(t *testing.T) {
		t.Parallel()

		ws := create(t, "")
		expectReady(t, c, ws)
		expectNothingOnDisk(t, i, ws, "sesame")

		runs := rec.expect(t, string(ws.GetUID()), "plan", "apply")
		expectPrivate(t, last(t, runs, "plan"), files...)
		expectPrivate(t, last(t, runs, "apply"), append(files, planOnDisk)...)
	})

	t.Run("Failure", func(t *testing.T) {
		t.Parallel()

		ws := create(t, `
resource "terraform_data" "broken" {
  provisioner "local-exec" {
    command = "exit 7"
  }
}
`)
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "exit status 7")
		expectNothingOnDisk(t, i, ws, "sesame")
		expectPrivate(t, last(t, rec.of(t, string(ws.GetUID())), "apply"), files...)
	})
}

// expectNothingOnDisk waits until no file in the workdir of the Workspace, or among its records, has the
// supplied text in it.
func expectNothingOnDisk(t *testing.T, i *instance, ws workspace.Workspace, text string) {
	t.Helper()

	for _, root := range []string{i.workdir(string(ws.GetUID())), i.records(string(ws.GetUID()))} {
		expectNotIn(t, root, text)
	}
}

func expectNotIn(t *testing.T, root, text string) {
	t.Helper()

	if _, err := os.Stat(root); err != nil {
		t.Fatalf("want a directory to search: %v", err)
	}

	eventually(t, func() error {
		return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}

			// A saved plan is compressed: it is not searched, but must not be there.
			if filepath.Ext(path) == ".tfplan" {
				return errors.Errorf("there is a plan at %q", path)
			}

			data, err := os.ReadFile(path)
			if err == nil && strings.Contains(string(data), text) {
				return errors.Errorf("there is a secret in %q", path)
			}

			return err
		})
	})
}

// TestSecretsAreNotShown has modules that print values of Secrets without marking them as
// sensitive, in every possible way. The Workspace, its events and the log do not have
// these values.
func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()

	const declarations = `
variable "token" {}
variable "password" {}

locals {
  all = "${var.token} ${var.password} ${file("credentials.txt")}"
}
`

	cases := map[string]struct {
		reason string
		module string
		want   []string
	}{
		"Plan": {
			reason: "A failed plan quotes the failed expression.",
			module: `
resource "terraform_data" "failing" {
  lifecycle {
    precondition {
      condition     = local.all == ""
      error_message = "This is not empty: ${local.all}."
    }
  }
}
`,
			want: []string{"Resource precondition failed", "This is not empty: (sensitive)"},
		},
		"Expression": {
			reason: "It quotes it as the CLI writes strings, too.",
			module: `
output "number" { value = tonumber(var.token) + tonumber(var.password) }
`,
			want: []string{"(sensitive)"},
		},
		"Long": {
			reason: "A long message is cut, somewhere in the middle of a secret.",
			module: `
resource "terraform_data" "failing" {
  lifecycle {
    precondition {
      condition     = local.all == ""
      error_message = "Not empty: ${join("", [for n in range(100) : local.all])}."
    }
  }
}
`,
			want: []string{"Not empty: (sensitive)", "..."},
		},
		"Apply": {
			reason: "A failed apply quotes the command, and names the resource.",
			module: `
resource "terraform_data" "failing" {
  for_each = toset([var.token])

  provisioner "local-exec" {
    command = "echo '${local.all}' >&2; exit 7"
  }
}
`,
			want: []string{"exit status 7", "(sensitive)"},
		},
	}

	c, ns, shard, i := useTerraform(t)

	secret := references{
		env:      []commonv1beta1.EnvVar{{Name: "TF_VAR_token", SecretKeyReference: c.secretKey(t, ns, `sesame "token" <&>\`)}},
		varFiles: []commonv1beta1.VarFile{secretVars(c.secretKey(t, ns, `{"password": "sesame \"password\" <&>\\"}`), inFormat(commonv1beta1.FileFormatJSON))},
	}
	cfg := c.createConfig(t, namespacedScope, ns, configSpec{
		Credentials: []commonv1beta1.ProviderCredentials{secretCredentials("credentials.txt", c.secretKey(t, ns, "sesame credentials\nsesame on another line"))},
	})

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ws := c.createReferring(t, namespacedScope, ns, secret, inShard(shard), withConfig(cfg), withModule(declarations+tc.module),
				withParameters(func(p *commonv1beta1.ModuleParameters) { p.EnableTerraformCLILogging = true }))
			expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, tc.want...)

			// The API server stores the event after the condition.
			eventually(t, func() error {
				if have := eventsAbout(t, c, ws); !strings.Contains(have, "(sensitive)") {
					return errors.Errorf("want an event about the failure, got %s", have)
				}

				return nil
			})

			expectNotShown(t, c, i, ws, "sesame")

			if !strings.Contains(i.output.String(), "(sensitive)") {
				t.Errorf("%s: want the output of the CLI in the log", tc.reason)
			}
		})
	}
}

// TestRotatedSecret changes a Secret whose old value is still in the state. The plan, and the provisioner that fails,
// have that value, and it may still be valid.
func TestRotatedSecret(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useOpenTofu(t)

	module := func(exit string) string {
		return `
variable "tokens" { type = set(string) }

resource "terraform_data" "webhook" {
  for_each = var.tokens

  provisioner "local-exec" {
    when    = destroy
    command = "echo cannot drop ${each.key} >&2; exit ` + exit + `"
  }
}
`
	}

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: unique("tokens")}, StringData: map[string]string{"key": `["sesame-1"]`}}
	c.create(t, secret)

	ref := &keyReference{Namespace: ns, Name: secret.Name, Key: "key"}
	ws := c.createReferring(t, namespacedScope, ns, references{env: []commonv1beta1.EnvVar{{Name: "TF_VAR_tokens", SecretKeyReference: ref}}},
		inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "rotated"))), withModule(module("7")))
	expectReady(t, c, ws)

	c.patch(t, secret, map[string]any{"stringData": map[string]string{"key": `["sesame-2"]`}})
	c.request(t, ws)
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "cannot drop (sensitive)")
	expectNotShown(t, c, i, ws, "sesame")

	c.changeModule(t, ws, module("0"))
	expectReady(t, c, ws)
	expectEvent(t, c, ws, "UpdatedExternalResource", "(sensitive)")
	expectNotShown(t, c, i, ws, "sesame")
}

// expectNotShown expects that neither a Workspace nor its events nor the log have a text.
func expectNotShown(t *testing.T, c *cluster, i *instance, ws workspace.Workspace, text string) {
	t.Helper()

	all, err := json.MarshalIndent(ws, "", " ")
	if err != nil {
		t.Fatalf("cannot marshal Workspace: %v", err)
	}

	for place, have := range map[string]string{"the Workspace": string(all), "its events": eventsAbout(t, c, ws), "the log": i.output.String()} {
		if strings.Contains(have, text) {
			t.Errorf("want no secret in %s, got %s", place, linesWith(have, text))
		}
	}
}

// eventsAbout returns the messages of all events about the supplied object.
func eventsAbout(t *testing.T, c *cluster, o client.Object) string {
	t.Helper()

	events := &corev1.EventList{}
	if err := c.kube.List(t.Context(), events, client.MatchingFields{"involvedObject.uid": string(o.GetUID())}); err != nil {
		t.Fatalf("cannot list events: %v", err)
	}

	text := &strings.Builder{}

	for _, e := range events.Items {
		text.WriteString(e.Reason + ": " + e.Message + "\n")
	}

	return text.String()
}

// linesWith returns the lines of a text that have another one in them.
func linesWith(text, part string) string {
	found := &strings.Builder{}

	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			found.WriteString(line)
		}
	}

	return found.String()
}

// TestSecretsOfTenants runs two Workspaces at the same time, with environment
// variables and files of the same names. Each has its own, and nothing of the other's.
func TestSecretsOfTenants(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	type tenant struct {
		evidence
		workspace.Workspace

		name string
	}

	var tenants []tenant

	for name, s := range map[string]scope{"red": clusterScope, "blue": namespacedScope} {
		e := newEvidence(t)
		cfg := c.createConfig(t, s, ns, configSpec{
			Credentials: []commonv1beta1.ProviderCredentials{
				secretCredentials("credentials.txt", c.secretKey(t, ns, name+"-credentials")),
				secretCredentials(".git-credentials", c.secretKey(t, ns, name+"-git")),
			},
		})
		ws := c.createReferring(t, s, ns, references{
			env: []commonv1beta1.EnvVar{
				{Name: "TOKEN", SecretKeyReference: c.secretKey(t, ns, name+"-env")},
				{Name: "ONLY_" + name, SecretKeyReference: c.secretKey(t, ns, "only-"+name)},
			},
			varFiles: []commonv1beta1.VarFile{secretVars(c.secretKey(t, ns, `file = "`+name+`-file"`), nil)},
		}, inShard(shard), withConfig(cfg), withEvidence(t, "tenant.tf", e))
		tenants = append(tenants, tenant{evidence: e, Workspace: ws, name: name})
	}

	// Both have started before either continues.
	for _, own := range tenants {
		expectDone(t, own.evidence, "started")
	}

	for _, own := range tenants {
		own.write(t, "gate", "")
	}

	for _, own := range tenants {
		expectReady(t, c, own.Workspace)

		want := []string{"started", own.name + "-env", own.name + "-credentials", own.name + "-file", own.name + "-git", "only-" + own.name}
		if diff := cmp.Diff(want, own.lines()); diff != "" {
			t.Errorf("inputs of %s: -want, +got:\n%s", own.name, diff)
		}
	}
}
