// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// Texts of the managed reconciler: about spec.managementPolicies, about what they or an annotation prevent, and about connection Secrets.
const (
	policiesInvalid  = "`spec.managementPolicies` is set to a "
	policiesOff      = policiesInvalid + "non-default value but the feature is not enabled"
	nothingToObserve = "external resource does not exist"

	publishing         = "cannot create or update connection secret"
	secretControlled   = "existing secret is not controlled by UID "
	secretUncontrolled = "refusing to modify uncontrolled secret of type "
)

// Reasons of the Events of the managed reconciler about a step that succeeded.
const (
	reasonCreated event.Reason = "CreatedExternalResource"
	reasonUpdated event.Reason = "UpdatedExternalResource"
	reasonDeleted event.Reason = "DeletedExternalResource"
)

// A causeRecorder records the Events of the managed reconciler with the texts of causeOf. It leaves out those
// about a step that succeeded: an external has recorded what was done, with the same reason.
type causeRecorder struct{ event.Recorder }

func (r causeRecorder) Event(o runtime.Object, e event.Event) {
	switch e.Reason {
	case reasonCreated, reasonUpdated, reasonDeleted:
		return
	}

	if ws, ok := o.(workspace.Workspace); ok {
		e.Message = causeOf(ws, e.Message)
	}

	r.Recorder.Event(o, e)
}

func (r causeRecorder) WithAnnotations(kvs ...string) event.Recorder {
	return causeRecorder{r.Recorder.WithAnnotations(kvs...)}
}

// causeOf returns the cause in a text of the managed reconciler. It is without the step that the managed
// reconciler puts in front: one cause may stop several steps, and the reason of the Event names the step. It
// names the connection Secret, what pauses the Workspace and, for unsupported management policies, those that
// are supported.
func causeOf(ws workspace.Workspace, text string) string {
	p := ws.GetManagementPolicies()

	if cause, ok := cutStep(text); ok {
		text = cause
	}

	if cause, ok := strings.CutPrefix(text, publishing+": "); ok {
		return secretCause(ws, explainOwnerRefused(cause))
	}

	switch {
	case text == nothingToObserve:
		return fmt.Sprintf("%s: the state has no resources, and spec.managementPolicies is %s. To create them, add Create. To observe others, correct the backend, or the annotation %s", text, policySet(p), meta.AnnotationKeyExternalName)
	case strings.HasPrefix(text, workspace.PausedPrefix):
		return workspace.WhyPaused(ws)
	case strings.HasPrefix(text, policiesOff):
		return fmt.Sprintf("spec.managementPolicies is %s: this provider runs with --no-enable-management-policies, and supports only %s", policySet(p), policySet(xpv2.ManagementPolicies{xpv2.ManagementActionAll}))
	case strings.HasPrefix(text, policiesInvalid):
		return fmt.Sprintf("spec.managementPolicies is %s, which is not supported. Similar and supported: %s", policySet(p), strings.Join(similarPolicies(p), ", "))
	default:
		return explainOwnerRefused(text)
	}
}

// explainOwnerRefused names the right that is missing if an owner reference was refused to the provider, and not to a run.
func explainOwnerRefused(text string) string {
	if !strings.Contains(text, workspace.OwnerRefused) || slices.ContainsFunc([]string{"plan", "apply", "destroy"}, func(run string) bool { return strings.HasPrefix(text, "cannot "+run) }) {
		return text
	}

	return "the provider needs the right to update workspaces/finalizers: " + text
}

// cutStep returns a text of the managed reconciler without the step of the external client, or its connector,
// that has failed. It returns false if the managed reconciler itself has failed.
func cutStep(text string) (cause string, ok bool) {
	for _, step := range []string{"connect", "observe", "create", "update", "delete"} {
		if cause, ok := strings.CutPrefix(text, step+" failed: "); ok {
			return cause, true
		}
	}

	return text, false
}

// secretCause returns why the connection Secret of a Workspace cannot be written. The managed reconciler names
// neither the Secret nor the field that it comes from.
func secretCause(ws workspace.Workspace, cause string) string {
	const remedy = "choose another name in spec.writeConnectionSecretToRef"

	if strings.HasPrefix(cause, secretControlled) {
		cause = "it exists and belongs to another object. If that is gone, such as an earlier Workspace of this name, the Secret follows it. Otherwise: " + remedy + ", each Workspace needs a Secret of its own"
	} else if t, ok := strings.CutPrefix(cause, secretUncontrolled); ok {
		cause = "it exists with the type " + t + ", and the provider has not made it: " + remedy
	}

	key, _ := ws.GetConnectionSecretKey()

	switch {
	case strings.HasSuffix(cause, fmt.Sprintf("namespaces %q not found", key.Namespace)):
		cause = "its namespace does not exist: create it, or correct spec.writeConnectionSecretToRef.namespace"
	case strings.HasSuffix(cause, "because it is being terminated"):
		cause = "its namespace is being deleted"
		if ws.GetNamespace() == "" {
			cause += ": wait until it is gone and create it again, or correct spec.writeConnectionSecretToRef.namespace"
		}
	}

	return fmt.Sprintf("%s %s: %s", publishing, key, cause)
}

// similarPolicies returns the supported sets of management policies from which p differs least.
func similarPolicies(p xpv2.ManagementPolicies) []string {
	if slices.Contains(p, xpv2.ManagementActionAll) {
		return []string{policySet(xpv2.ManagementPolicies{xpv2.ManagementActionAll})}
	}

	actions := []xpv2.ManagementAction{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionDelete, xpv2.ManagementActionLateInitialize}
	supported := map[int][]string{} // By the number of differences.

	// Each number is one set, except for the empty one, which pauses the Workspace.
	for bits := 1; bits < 1<<len(actions); bits++ {
		var set xpv2.ManagementPolicies

		difference := 0

		for i, a := range actions {
			in := bits&(1<<i) != 0
			if in {
				set = append(set, a)
			}

			if in != slices.Contains(p, a) {
				difference++
			}
		}

		if managed.NewManagementPoliciesResolver(true, set).Validate() == nil {
			supported[difference] = append(supported[difference], policySet(set))
		}
	}

	return supported[slices.Min(slices.Collect(maps.Keys(supported)))]
}

// policySet returns management policies as they are written in a manifest.
func policySet(p xpv2.ManagementPolicies) string {
	texts := make([]string, 0, len(p))
	for _, a := range p {
		if a == xpv2.ManagementActionAll {
			texts = append(texts, `"*"`)
		} else {
			texts = append(texts, string(a))
		}
	}

	return "[" + strings.Join(texts, ", ") + "]"
}
