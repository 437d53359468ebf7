// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/manifest"
)

// approvalPolicy installs cluster/deploy/approval for the supplied namespace.
func (c *cluster) approvalPolicy(t *testing.T, namespace string) {
	t.Helper()

	objects, err := manifest.Read(filepath.Join("..", "..", "cluster", "deploy", "approval", "policy.yaml"))
	if err != nil {
		t.Fatal(err)
	}

	name := unique("approval")

	for _, o := range objects {
		o.SetName(name)

		if o.GetKind() == "ValidatingAdmissionPolicyBinding" {
			err := errors.Join(
				unstructured.SetNestedField(o.Object, name, "spec", "policyName"),
				unstructured.SetNestedField(o.Object, namespace, "spec", "matchResources", "namespaceSelector", "matchLabels", "kubernetes.io/metadata.name"))
			if err != nil {
				t.Fatal(err)
			}
		}

		c.create(t, o)
	}
}

// asUser returns a client of a user with the supplied verbs on all resources of this provider in a namespace.
func (c *cluster) asUser(t *testing.T, namespace string, verbs ...string) client.Client {
	t.Helper()

	name := unique("user")
	c.grant(t, name, namespace, []rbacv1.PolicyRule{{APIGroups: []string{"tf.m.upbound.io"}, Resources: []string{"workspaces", "providerconfigs"}, Verbs: verbs}})

	config := rest.CopyConfig(c.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: name}

	kube, err := controlplane.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}

	return kube
}

// TestApprovalPolicy has an author, who writes Workspaces, and an approver, who approves their plans, with the policy of
// cluster/deploy/approval.
func TestApprovalPolicy(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns := c.namespace(t)
	author := c.asUser(t, ns, "get", "create", "update", "patch", "delete")
	approver := c.asUser(t, ns, "get", "patch", "approve")

	c.approvalPolicy(t, ns)

	patch := func(kube client.Client, o client.Object, fields map[string]any) error {
		data, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}

		return kube.Patch(t.Context(), o, client.RawPatch(types.MergePatchType, data))
	}
	annotation := func(id any) map[string]any {
		return map[string]any{"metadata": map[string]any{"annotations": map[string]any{approvePlan: id}}}
	}
	parameter := func(name string, value any) map[string]any {
		return map[string]any{"spec": map[string]any{"forProvider": map[string]any{name: value}}}
	}
	create := func(a commonv1beta1.Approval, id string) workspace.Workspace {
		ws := newWorkspace(namespacedScope, ns, inShard(unique("shard")), withModule("# Empty"), withApproval(a))
		if id != "" {
			ws.SetAnnotations(map[string]string{approvePlan: id})
		}

		return ws
	}

	const refusedAnnotation, refusedApproval, refusedUpdate = "the annotation terraform.crossplane.io/approve-plan takes the verb approve", "a less strict approval takes the verb approve", "a change of the specification takes the verb update"

	// The API server takes a while until it enforces a policy.
	eventually(t, func() error {
		ws := create("", "d-1")
		if err := author.Create(t.Context(), ws); err == nil {
			_ = c.kube.Delete(t.Context(), ws)

			return errors.New("the policy is not enforced yet")
		} else if !strings.Contains(err.Error(), refusedAnnotation) {
			return err
		}

		return nil
	})

	cases := map[string]struct {
		reason string
		by     client.Client
		do     func(kube client.Client, ws workspace.Workspace) error
		err    string
	}{
		"Create": {reason: "The author creates.", by: author, do: func(k client.Client, _ workspace.Workspace) error {
			return k.Create(t.Context(), create("Destroy", ""))
		}},
		"CreateApproved": {reason: "Nothing is approved in advance.", by: author, do: func(k client.Client, _ workspace.Workspace) error {
			return k.Create(t.Context(), create("Destroy", "d-1"))
		}, err: refusedAnnotation},
		"Edit": {reason: "The author changes the module.", by: author, do: func(k client.Client, ws workspace.Workspace) error {
			return patch(k, ws, parameter("module", "# Other"))
		}},
		"Update": {reason: "The approval that is there may stay.", by: author, do: func(k client.Client, ws workspace.Workspace) error {
			c.patch(t, ws, annotation("d-1"))
			ws.SetLabels(map[string]string{"a": "b"})

			return k.Update(t.Context(), ws)
		}},
		"Approve": {reason: "The author approves nothing.", by: author, do: func(k client.Client, ws workspace.Workspace) error { return patch(k, ws, annotation("d-1")) }, err: refusedAnnotation},
		"Withdraw": {reason: "Everyone may withdraw.", by: author, do: func(k client.Client, ws workspace.Workspace) error {
			c.patch(t, ws, annotation("d-1"))

			return patch(k, ws, annotation(nil))
		}},
		"Other": {reason: "Nor is an approval changed.", by: author, do: func(k client.Client, ws workspace.Workspace) error {
			c.patch(t, ws, annotation("d-1"))

			return patch(k, ws, annotation("d-2"))
		}, err: refusedAnnotation},
		"Lower": {reason: "The author does not switch it off.", by: author, do: func(k client.Client, ws workspace.Workspace) error {
			return patch(k, ws, parameter("approval", "Never"))
		}, err: refusedApproval},
		"Remove":     {reason: "Nor in another way.", by: author, do: func(k client.Client, ws workspace.Workspace) error { return patch(k, ws, parameter("approval", nil)) }, err: refusedApproval},
		"ByApprover": {reason: "The approver approves.", by: approver, do: func(k client.Client, ws workspace.Workspace) error { return patch(k, ws, annotation("d-1")) }},
		"LowerToo": {reason: "The approver has no right to update.", by: approver, do: func(k client.Client, ws workspace.Workspace) error {
			return patch(k, ws, parameter("approval", "Never"))
		}, err: refusedUpdate},
		"EditByApprover": {reason: "The approver changes nothing else.", by: approver, do: func(k client.Client, ws workspace.Workspace) error {
			return patch(k, ws, parameter("module", "# Other"))
		}, err: refusedUpdate},
		"ProviderConfig": {reason: "One of a ProviderConfig is not lowered, either.", by: author, do: func(k client.Client, _ workspace.Workspace) error {
			cfg := c.createConfig(t, namespacedScope, ns, configSpec{Approval: "Destroy"})

			return patch(k, cfg, map[string]any{"spec": map[string]any{"approval": nil}})
		}, err: refusedApproval},
		"Raise": {reason: "Everyone may ask for approval.", by: author, do: func(k client.Client, _ workspace.Workspace) error {
			cfg := c.createConfig(t, namespacedScope, ns, configSpec{})

			return patch(k, cfg, map[string]any{"spec": map[string]any{"approval": "Destroy"}})
		}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ws := create("Destroy", "")
			c.create(t, ws)

			switch err := tc.do(tc.by, ws); {
			case tc.err == "" && err != nil:
				t.Errorf("%s\nwant no error, got %v", tc.reason, err)
			case tc.err != "" && (!kerrors.IsForbidden(err) || !strings.Contains(err.Error(), tc.err)):
				t.Errorf("%s\nwant it to be forbidden with %q, got %v", tc.reason, tc.err, err)
			}
		})
	}
}
