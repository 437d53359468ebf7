// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// described returns the resources for which the page about missing rights has words.
func described() map[string][]string {
	return map[string][]string{
		"own kinds":                     {"workspaces", "providerconfigs", "clusterproviderconfigs", "providerconfigusages"},
		"the ProviderConfigs":           {"providerconfigs", "clusterproviderconfigs"},
		"the status of ProviderConfigs": {"providerconfigs/status", "clusterproviderconfigs/status"},
		"Flux sources":                  {"gitrepositories", "ocirepositories", "buckets"},
	}
}

// TestMissingRightsTable ensures that an instance has every right whose loss the page describes. Integration tests take each
// right away.
func TestMissingRightsTable(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile(filepath.Join(root, "..", "docs", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}

	_, table, found := strings.Cut(string(page), "| missing right | effect |\n|---|---|\n")
	table, _, ended := strings.Cut(table, "\n\n")

	if !found || !ended {
		t.Fatal("the page has no table of missing rights")
	}

	granted, checked := grantedRights(t), 0

	for row := range strings.Lines(table) {
		for right := range strings.SplitSeq(strings.Split(row, "|")[1], ";") {
			for _, verb := range regexp.MustCompile(`\b(get|list|watch|create|update|patch|delete)\b`).FindAllString(right, -1) {
				for _, resource := range resourcesIn(right) {
					checked++

					if !granted[verb+" "+resource] {
						t.Errorf("%q: no role in cluster/deploy grants to %s %s", strings.TrimSpace(right), verb, resource)
					}
				}
			}
		}
	}

	if checked < 40 {
		t.Errorf("want at least 40 rights in the table, found %d", checked)
	}
}

// resourcesIn returns the resources of a right as the page writes it.
func resourcesIn(right string) []string {
	var resources []string

	for words, names := range described() {
		if strings.Contains(right, words) {
			resources = append(resources, names...)
		}
	}

	for _, name := range regexp.MustCompile("`([a-z/]+)`").FindAllStringSubmatch(right, -1) {
		resources = append(resources, name[1])
	}

	return resources
}

// grantedRights returns the rights in the roles of every deployment.
func grantedRights(t *testing.T) map[string]bool {
	t.Helper()

	granted := map[string]bool{}

	for _, file := range []string{"rbac.yaml", "rbac-extra.yaml"} {
		for _, m := range read(t, filepath.Join(root, "..", "cluster", "deploy", "common", file), file) {
			// Bindings have no rules.
			role := &rbacv1.ClusterRole{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m.object.Object, role); err != nil {
				t.Fatal(err)
			}

			for _, rule := range role.Rules {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						granted[verb+" "+resource] = true
					}
				}
			}
		}
	}

	return granted
}
