// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"cmp"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crossplane-contrib/provider-terraform/test/chaos/record"
)

// Labels, annotations and names of the product. They are constants here because they are
// part of the interface: they must never change.
const (
	shardLabel      = "terraform.crossplane.io/shard"
	externalName    = "crossplane.io/external-name"
	paused          = "crossplane.io/paused"
	acceptLoss      = "terraform.crossplane.io/accept-lost-state"
	acceptTakenOver = "terraform.crossplane.io/accept-taken-over-state"
	leasePrefix     = "crossplane-leader-election-provider-terraform"

	// claimedBy is where claims were before they moved to status.ownership.claim.
	claimedBy = "terraform.crossplane.io/claimed-by"
)

// namespace of the Leases, the states and the namespaced Workspaces.
const namespace = "chaos"

// secretSuffix ends the names of most states.
const secretSuffix = "chaos"

// module records every step of its resource in the ledger, and takes some time. The
// resource that follows may fail.
const module = `
variable "ledger" { type = string }
variable "name" { type = string }
variable "takes" { type = string }
variable "lingers" { type = string }
variable "replacement" { type = string }
variable "revision" { type = string }
variable "fails" { type = string }

resource "terraform_data" "` + thing + `" {
  input            = { ledger = var.ledger, name = var.name }
  triggers_replace = var.replacement

  provisioner "local-exec" {
    command = "echo $(date +%s%N) creating ${self.input.name} ${self.id} $CHAOS_RUN $CHAOS_UID >>'${self.input.ledger}'; sleep ${var.takes}; echo $(date +%s%N) created ${self.input.name} ${self.id} $CHAOS_RUN $CHAOS_UID >>'${self.input.ledger}'"
  }

  provisioner "local-exec" {
    when    = destroy
    command = "echo $(date +%s%N) destroying ${self.input.name} ${self.id} $CHAOS_RUN $CHAOS_UID >>'${self.input.ledger}'"
  }
}

resource "terraform_data" "rest" {
  triggers_replace = [terraform_data.thing.id, var.fails]

  provisioner "local-exec" {
    command = "sleep ${var.lingers}; exit ${var.fails}"
  }
}

resource "terraform_data" "revision" {
  input = var.revision
}

output "revision" {
  value = terraform_data.revision.output
}
`

// Kinds of Workspaces.
func clusterKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "tf.upbound.io", Version: "v1beta1", Kind: "Workspace"}
}

func namespacedKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "tf.m.upbound.io", Version: "v1beta1", Kind: "Workspace"}
}

// A wanted is the desired state of one Workspace.
type wanted struct {
	traits

	kind  schema.GroupVersionKind
	name  string
	shard string

	// external is the name of the Terraform workspace, if it is not that of the Workspace.
	external string

	takes                 string
	revision, replacement int

	// uid of the object there is now.
	uid string

	// removed is the time of the request to delete it, 0 if there was none. busy says that
	// it is being restored, and lost that its disk was lost.
	removed    int64
	busy, lost bool
}

// state that the Workspace uses, as far as the specification determines it: see
// record.State.
func (w *wanted) state() string {
	name := cmp.Or(w.external, w.name)

	switch w.flavour {
	case noBackend:
		return "disk/" + w.uid
	case envX:
		return record.Secret(namespaceX, secretSuffix, name)
	case envY:
		return record.Secret(namespaceY, secretSuffix, name)
	case suffixX, suffixY:
		return record.Secret(namespace, string(w.flavour), name)
	default:
		return record.Secret(namespace, secretSuffix, name)
	}
}

// manifest of the Workspace, as a person would write it.
func (w *wanted) manifest(ledger string) *unstructured.Unstructured {
	o := w.object()

	if w.shard != "" {
		o.SetLabels(map[string]string{shardLabel: w.shard})
	}

	if w.external != "" {
		o.SetAnnotations(map[string]string{externalName: w.external})
	}

	o.Object["spec"] = map[string]any{
		"providerConfigRef": w.config(),
		"forProvider":       w.parameters(ledger),
	}

	return o
}

// object has the identity of the Workspace only.
func (w *wanted) object() *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(w.kind)
	o.SetNamespace(w.namespace)
	o.SetName(w.name)

	return o
}

// config is the reference to the ProviderConfig.
func (w *wanted) config() map[string]any {
	name := string(w.flavour)

	switch w.flavour {
	case envX, envY:
		name = "env"
	case suffixX, suffixY:
		name = "suffix"
	default:
		// The others have one of their own.
	}

	ref := map[string]any{"name": name}
	if w.kind == namespacedKind() {
		ref["kind"] = "ClusterProviderConfig"
	}

	return ref
}

func (w *wanted) parameters(ledger string) map[string]any {
	if w.flavour == leaky {
		return w.leakyParameters()
	}

	p := map[string]any{"source": "Inline", "module": module, "vars": w.vars(ledger)}

	if w.guarded() {
		p["approval"] = "Destroy"
	}

	var env []any

	if w.sluggish > 0 {
		env = append(env, map[string]any{"name": "CHAOS_SLUGGISH", "value": w.sluggish.String()})
	}

	switch w.flavour {
	case envX:
		env = append(env, map[string]any{"name": "KUBE_NAMESPACE", "value": namespaceX})
	case envY:
		env = append(env, map[string]any{"name": "KUBE_NAMESPACE", "value": namespaceY})
	case suffixX, suffixY:
		p["initArgs"] = []any{"-backend-config=secret_suffix=" + string(w.flavour)}
	default:
		// The configuration says all.
	}

	if len(env) > 0 {
		p["env"] = env
	}

	return p
}

func (w *wanted) vars(ledger string) []any {
	fails := "0"
	if w.fails {
		fails = "1"
	}

	vars := []any{}
	for _, kv := range [][2]string{
		{"ledger", ledger},
		{"name", w.name},
		{"takes", w.takes},
		{"lingers", strconv.Itoa(int(w.lingers.Seconds()))},
		{"replacement", strconv.Itoa(w.replacement)},
		{"revision", strconv.Itoa(w.revision)},
		{"fails", fails},
	} {
		vars = append(vars, map[string]any{"key": kv[0], "value": kv[1]})
	}

	return vars
}

// readVars sets the fields from a manifest.
func (w *wanted) readVars(o *unstructured.Unstructured) {
	vars, _, _ := unstructured.NestedSlice(o.Object, "spec", "forProvider", "vars")

	for _, v := range vars {
		v, ok := v.(map[string]any)
		if !ok {
			continue
		}

		value, _ := v["value"].(string)

		switch v["key"] {
		case "replacement":
			w.replacement, _ = strconv.Atoi(value)
		case "revision":
			w.revision, _ = strconv.Atoi(value)
		case "fails":
			w.fails = value != "0"
		default:
			// The other fields never change.
		}
	}
}

// leakyParameters are the parameters of a Workspace that fails and prints a secret. The
// name of a Secret names its secret.
func (w *wanted) leakyParameters() map[string]any {
	how := printers()[w.number%len(printers())]
	p := map[string]any{"source": "Inline", "module": how.module(w.number)}

	switch how.from {
	case fromEnv:
		p["env"] = []any{map[string]any{"name": "CANARY", "secretKeyRef": map[string]any{"name": "canary-" + how.canary, "key": "text"}}}
	case fromHCL, fromJSON:
		p["varFiles"] = []any{map[string]any{"source": "SecretKey", "format": how.from, "secretKeyRef": map[string]any{"name": "canary-" + how.canary, "key": how.from}}}
	default:
		// It is in the ProviderConfig.
	}

	return p
}

// claimOf returns the claim on a Workspace, for people, wherever that is.
func claimOf(o *unstructured.Unstructured) string {
	claim, _, _ := unstructured.NestedStringMap(o.Object, "status", "ownership", "claim")

	return cmp.Or(claim["holder"], o.GetAnnotations()[claimedBy], "none")
}
