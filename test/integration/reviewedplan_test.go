// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// planSecret returns the Secret with the plan of a Workspace.
func planSecret(ws workspace.Workspace) *corev1.Secret {
	ns := ws.GetNamespace()
	if ns == "" {
		ns = leaseNamespace
	}

	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "plan-" + string(ws.GetUID())}}
}

// TestReviewedPlan has a Workspace with approval: Always, whose plans have secrets in them.
func TestReviewedPlan(t *testing.T) {
	t.Parallel()

	const secret = "correct-horse-battery"

	eachCLI(t, func(t *testing.T, cli string) {
		c, ns, shard, _ := useCommon(t, cli)

		eachScope(t, func(t *testing.T, s scope) {
			suffix := "reviewed-" + cli + "-" + strings.ToLower(string(s))
			cfg := c.createConfig(t, s, ns, withBackend(ns, suffix))
			e := newEvidence(t)

			module := func(password string) string {
				return moduleFile(t, "evidence.tf") + `
variable "password" {
  type      = string
  sensitive = true
  default   = "` + password + `"
}

resource "terraform_data" "password" {
  input = var.password
}
`
			}

			ws := c.createWorkspace(t, s, ns, inShard(shard), withConfig(cfg), withModule(module(secret)), withVar("dir", string(e)), withApproval(commonv1beta1.ApprovalAlways))

			// The first plan waits, and nothing exists. A deletion would find the finalizer.
			id := expectPending(t, c, ws, "PlanPending", "2 to add", approvePlan+"=p-")
			expectReason(t, c, ws, xpv2.TypeReady, awaitingApproval)

			if len(ws.GetFinalizers()) == 0 {
				t.Error("want a finalizer on a Workspace that waits")
			}

			if got := e.lines(); len(got) > 0 {
				t.Errorf("want nothing to be created before the approval, got %q", got)
			}

			expectText := func(text string) {
				t.Helper()
				eventually(t, func() error {
					p := planSecret(ws)
					if c.get(t, p); !strings.Contains(string(p.Data["plan"]), text) || text == "" && len(p.Data["plan"]) > 0 {
						return errors.Errorf("Secret %q: want a plan with %q, got %q", p.GetName(), text, p.Data["plan"])
					}

					return nil
				})
			}
			expectText("terraform_data.evidence")

			if has := ws.GetObservation().Plan.Secret; has != planSecret(ws).Namespace+"/"+planSecret(ws).Name {
				t.Errorf("want the Secret in the status, got %q", has)
			}

			// Neither the status nor an Event has a value.
			text, err := json.Marshal(ws)
			if err != nil {
				t.Fatal(err)
			}

			var public map[string]any
			if err := json.Unmarshal(text, &public); err != nil {
				t.Fatal(err)
			}

			status, err := json.Marshal(public["status"])
			if err != nil {
				t.Fatal(err)
			}

			if strings.Contains(string(status), secret) || strings.Contains(eventsAbout(t, c, ws), secret) {
				t.Errorf("want no value of the plan in the status or an Event, got %s", status)
			}

			c.annotate(t, ws, approvePlan, id)
			expectReady(t, c, ws)
			expectDone(t, e, "created")
			expectEvent(t, c, ws, "ApprovedPlan", id)
			expectText("")

			// A change of a sensitive value only is another plan, although its summary is the same.
			before := c.readState(t, stateSecret(ws, ns, suffix))

			c.changeModule(t, ws, module("another-value"))
			first := expectPending(t, c, ws, "ApprovalOutdated", "1 to change")
			c.changeModule(t, ws, module("a-third-value"))
			eventually(t, func() error {
				if c.get(t, ws); ws.GetObservation().Plan == nil || ws.GetObservation().Plan.ID == first {
					return errors.Errorf("want another ID than %s", first)
				}

				return nil
			})

			// The old approval applies nothing.
			c.annotate(t, ws, approvePlan, first)
			second := expectPending(t, c, ws, "ApprovalOutdated", "The annotation has the ID of another plan, "+first)
			expectAnotherPlan(t, c, ws)

			if after := c.readState(t, stateSecret(ws, ns, suffix)); after.Serial != before.Serial {
				t.Errorf("want the state as before, got serial %d in place of %d", after.Serial, before.Serial)
			}

			c.annotate(t, ws, approvePlan, second)
			expectReason(t, c, ws, awaitingApproval, "Approved")
			expectReadyNow(t, c, ws)
			expectChangedOnce(t, c, stateSecret(ws, ns, suffix), before)

			c.remove(t, ws)
			id = expectPending(t, c, ws, "ApprovalOutdated", "2 resources would be destroyed")
			c.annotate(t, ws, approvePlan, id)
			expectGone(t, c, ws)
		})
	})
}

// encryptedPlans is a module whose state is not encrypted.
const encryptedPlans = `
terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = "correct-horse-battery-staple"
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    plan {
      method = method.aes_gcm.m
    }
  }
}

output "a" { value = 1 }
`

// TestUnstablePlan has plans that cannot be approved, and a Secret that something else has made in the place of a plan.
func TestUnstablePlan(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)
	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "unstable"))

	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(`resource "terraform_data" "time" { input = plantimestamp() }`), withApproval(commonv1beta1.ApprovalAlways), polledOften)
	expectCondition(t, c, ws, awaitingApproval, corev1.ConditionTrue, "This plan differs each time it is made, for example because of plantimestamp(): it cannot be approved. ")

	// The approval of a plan that is gone is no reason for another one.
	approved := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(`resource "terraform_data" "time" { input = plantimestamp() }`), withApproval(commonv1beta1.ApprovalAlways))
	id := expectPending(t, c, approved, "PlanPending")

	for range 2 {
		c.annotate(t, approved, approvePlan, id)
		id = expectPending(t, c, approved, "ApprovalOutdated", "The annotation has the ID of another plan, "+id)
	}

	expectCondition(t, c, approved, awaitingApproval, corev1.ConditionTrue, "This plan differs each time it is made")

	encrypted := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withModule(encryptedPlans), withApproval(commonv1beta1.ApprovalAlways))
	expectCondition(t, c, encrypted, awaitingApproval, corev1.ConditionTrue, "the module encrypts plans, ", "Remove plan from the block encryption of the module")

	other := newWorkspace(namespacedScope, ns, withConfig(cfg), withModule(`output "a" { value = 1 }`), withApproval(commonv1beta1.ApprovalAlways))
	c.create(t, other)

	foreign := planSecret(other)
	foreign.Data = map[string][]byte{"key": []byte("known")}
	c.create(t, foreign)
	c.relabel(t, other, shard)
	expectCondition(t, c, other, xpv2.TypeSynced, corev1.ConditionFalse, "cannot ask for the approval of the plan: ", "something else has made it")
}

// TestApprovalWithCheck has a plan that is the same, although the data source of a check reads something else each time.
func TestApprovalWithCheck(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()

		c, ns, shard, _ := useCommon(t, cli)
		dir := newEvidence(t)
		state := func(date string) {
			dir.write(t, "state", `{"version": 4, "outputs": {"status": {"value": 200, "type": "number"}, "date": {"value": "`+date+`", "type": "string"}}}`)
		}

		state("Mon")

		ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, unique("check")))),
			withVar("dir", string(dir)), withApproval(commonv1beta1.ApprovalAlways), withModule(`
variable "dir" { type = string }
resource "terraform_data" "x" { input = 1 }
check "health" {
  data "terraform_remote_state" "answer" {
    backend = "local"
    config  = { path = "${var.dir}/state" }
  }
  assert {
    condition     = data.terraform_remote_state.answer.outputs.status == 200
    error_message = "unhealthy"
  }
}
`))
		id := expectPending(t, c, ws, "PlanPending", "1 to add")

		state("Tue")
		expectAnotherPlan(t, c, ws)
		c.annotate(t, ws, approvePlan, id)
		expectReady(t, c, ws)
	})
}
