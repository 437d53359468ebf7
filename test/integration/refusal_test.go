// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// refusal is the error of the API server when it refuses a write.
const refusal = "refused by a test"

// TestRefusedRecords has an API server that refuses the records about a Workspace before
// and after its creation, as a policy of another team may. An event reports that, and
// nothing is created without a record or for a second time.
func TestRefusedRecords(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason     string
		annotation string
		event      string
		want       []string
	}{
		"Name": {
			reason:     "The name is recorded together with the beginning of the creation.",
			annotation: meta.AnnotationKeyExternalName,
			event:      "CannotUpdateManagedResource",
			want:       []string{},
		},
		"Begin": {
			reason:     "Nothing is created without a record.",
			annotation: meta.AnnotationKeyExternalCreatePending,
			event:      "CannotUpdateManagedResource",
			want:       []string{},
		},
		"End": {
			reason:     "The created resources are in the state, even if the record is refused.",
			annotation: meta.AnnotationKeyExternalCreateSucceeded,
			event:      "CannotUpdateManagedResource",
			want:       []string{"created"},
		},
	}

	c, ns, shard, _ := useTerraform(t)

	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "refused"))

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			e := newEvidence(t)
			ws := newWorkspace(clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
			policy := c.refuseAnnotation(t, ws, tc.annotation)
			c.create(t, ws)

			expectEventFrom(t, c, ws, controllerOf(clusterScope), corev1.EventTypeWarning, tc.event)

			if diff := cmp.Diff(tc.want, e.lines()); diff != "" {
				t.Errorf("%s: actions of the module: -want, +got:\n%s", tc.reason, diff)
			}

			c.remove(t, policy)
			expectReady(t, c, ws)
			expectDone(t, e, "created")
		})
	}
}

// refuseAnnotation makes the API server refuse to store the Workspace, which need not
// exist yet, with the annotation. It returns the object to delete to end that.
func (c *cluster) refuseAnnotation(t *testing.T, ws workspace.Workspace, key string) client.Object {
	t.Helper()

	name := metav1.ObjectMeta{Name: unique("refuse")}
	c.create(t, &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: name,
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
					Rule: admissionregistrationv1.Rule{
						APIGroups:   []string{"tf.upbound.io", "tf.m.upbound.io"},
						APIVersions: []string{"*"},
						Resources:   []string{"workspaces"},
					},
				},
			}}},
			MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "name", Expression: "object.metadata.name == '" + ws.GetName() + "'"}},
			Validations: []admissionregistrationv1.Validation{{
				Expression: "!has(object.metadata.annotations) || !('" + key + "' in object.metadata.annotations)",
				Message:    refusal,
			}},
		},
	})

	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: name,
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        name.Name,
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	c.create(t, binding)

	// The API server needs some time to load its policies.
	eventually(t, func() error {
		try, ok := ws.DeepCopyObject().(client.Object)
		if !ok {
			return errors.Errorf("%T is not an object", ws)
		}

		meta.AddAnnotations(try, map[string]string{key: "any"})

		if err := c.kube.Create(t.Context(), try, client.DryRunAll); !kerrors.IsInvalid(err) || !strings.Contains(err.Error(), refusal) {
			return errors.Errorf("want the API server to refuse annotation %q, got %v", key, err)
		}

		return nil
	})

	return binding
}
