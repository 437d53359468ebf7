// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// The roles of every deployment, by their names in the manifests.
const (
	// roleEverywhere is bound in all namespaces.
	roleEverywhere = "provider-terraform"

	// roleLeases is bound in the namespace of the Leases of the instances.
	roleLeases = "provider-terraform-leader-election"

	// roleStates is bound in the namespaces of states and of Flux sources.
	roleStates = "provider-terraform-extra"
)

// A right is a verb and a resource in a rule of a role, with all API groups of the rule.
type right struct {
	role, verb, resource string

	groups []string
}

// String returns the name of the right in the table of the test.
func (r right) String() string { return r.role + ": " + r.verb + " " + r.resource }

// rightsOf returns the rights that the rules of a role grant.
func rightsOf(role string, rules []rbacv1.PolicyRule) []right {
	var rights []right

	for _, rule := range rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				rights = append(rights, right{role: role, verb: verb, resource: resource, groups: rule.APIGroups})
			}
		}
	}

	return rights
}

// without returns rules that grant all that the supplied rules grant, except for one right.
func without(rules []rbacv1.PolicyRule, r right) []rbacv1.PolicyRule {
	var rest []rbacv1.PolicyRule

	for _, rule := range rules {
		if !slices.Contains(rule.Resources, r.resource) {
			rest = append(rest, rule)

			continue
		}

		others, same := *rule.DeepCopy(), *rule.DeepCopy()
		others.Resources = slices.DeleteFunc(others.Resources, func(s string) bool { return s == r.resource })
		same.Resources = []string{r.resource}
		same.Verbs = slices.DeleteFunc(same.Verbs, func(s string) bool { return s == r.verb })

		for _, part := range []rbacv1.PolicyRule{others, same} {
			if len(part.Resources) > 0 && len(part.Verbs) > 0 {
				rest = append(rest, part)
			}
		}
	}

	return rest
}

// An account is a user with roles of a deployment. Single rights can be taken away from it.
type account struct {
	c *cluster

	name, kubeconfig string

	roles []accountRole
}

// An accountRole is a copy of a role of the manifests, for one user.
type accountRole struct {
	name, namespace string

	object client.Object
	rules  []rbacv1.PolicyRule
}

// newAccount makes a user with the named roles. Each is bound in the namespace that the map has for
// it, or in all if that is empty.
func (c *cluster) newAccount(t *testing.T, namespaces map[string]string) *account {
	t.Helper()

	a := &account{c: c}
	a.name, a.kubeconfig = c.newUser(t)

	for name, ns := range namespaces {
		rules := exampleRules(t, name)
		a.roles = append(a.roles, accountRole{name: name, namespace: ns, object: c.grant(t, a.name, ns, rules), rules: rules})
	}

	return a
}

// change grants rights to the named roles of the user, or takes them away. It can be called in a
// cleanup.
func (a *account) change(t *testing.T, rights []right, names []string, granted bool) {
	t.Helper()

	for _, role := range a.roles {
		if !slices.Contains(names, role.name) {
			continue
		}

		rules := role.rules

		if !granted {
			for _, r := range rights {
				rules = without(rules, r)
			}
		}

		a.setRules(t, role, rules)
	}

	for _, r := range rights {
		for _, role := range a.roles {
			// Another role may grant the same in more namespaces.
			if role.name != r.role || a.grants(r, names) {
				continue
			}

			ctx := context.WithoutCancel(t.Context())
			if err := wait.Until(ctx, wait.Soon, func() error { return a.checkAllowed(ctx, r, role.namespace, granted) }); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// grants says whether the role for all namespaces has the right, unless that role is among the
// named ones.
func (a *account) grants(r right, except []string) bool {
	return slices.ContainsFunc(a.roles, func(role accountRole) bool {
		return role.namespace == "" && !slices.Contains(except, role.name) && slices.ContainsFunc(rightsOf(role.name, role.rules), func(have right) bool {
			return have.verb == r.verb && have.resource == r.resource && slices.Equal(have.groups, r.groups)
		})
	})
}

func (a *account) setRules(t *testing.T, role accountRole, rules []rbacv1.PolicyRule) {
	t.Helper()

	ctx, cancel := cleanupContext(t)
	defer cancel()

	patch, err := json.Marshal(map[string]any{"rules": rules})
	if err != nil {
		t.Fatalf("cannot marshal rules: %v", err)
	}

	if err := a.c.kube.Patch(ctx, role.object, client.RawPatch(types.MergePatchType, patch)); err != nil {
		t.Fatalf("cannot change role %q: %v", role.object.GetName(), err)
	}
}

// checkAllowed returns an error unless the API server applies the last change of the right.
func (a *account) checkAllowed(ctx context.Context, r right, namespace string, want bool) error {
	resource, subresource, _ := strings.Cut(r.resource, "/")

	for _, group := range r.groups {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               a.name,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: r.verb, Group: group, Resource: resource, Subresource: subresource},
		}}

		if err := a.c.kube.Create(ctx, review); err != nil {
			return err
		}

		if review.Status.Allowed != want {
			return errors.Errorf("user %q: %s: want allowed %t, got %t", a.name, r, want, review.Status.Allowed)
		}
	}

	return nil
}
