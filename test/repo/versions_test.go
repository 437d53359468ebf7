// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package repo

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVersions checks that the table in README.md has the versions that the tests run with, which
// are those of the modules from which their programs are built.
func TestVersions(t *testing.T) {
	t.Parallel()

	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}

	// Programs by row, and the modules, in the order of their versions there.
	rows := map[string][][2]string{
		"Crossplane": {{"crossplane", "github.com/crossplane/crossplane/v2"}},
		"Kubernetes": {{"node", "k8s.io/kubernetes"}},
		"Terraform":  {{"terraform", "github.com/hashicorp/terraform"}},
		"OpenTofu":   {{"opentofu-older", "github.com/opentofu/opentofu"}, {"opentofu", "github.com/opentofu/opentofu"}},
	}

	for name, modules := range rows {
		var want []string
		for _, m := range modules {
			want = append(want, versionOf(t, filepath.Join("hack", m[0]), m[1]))
		}

		if diff := cmp.Diff(strings.Join(want, ", "), tested(string(readme), name)); diff != "" {
			t.Errorf("README.md: versions of %s: -want, +got:\n%s", name, diff)
		}
	}

	// The API server of the tests is that of the node of make e2e.
	if diff := cmp.Diff(versionOf(t, "hack/node", "k8s.io/kubernetes"), versionOf(t, "hack/controlplane", "k8s.io/kubernetes")); diff != "" {
		t.Errorf("Kubernetes: -node, +control plane:\n%s", diff)
	}

	if diff := cmp.Diff(versionOf(t, ".", "go"), tested(string(readme), "Go")+".0"); diff != "" {
		t.Errorf("README.md: version of Go: -want, +got:\n%s", diff)
	}
}

// tested returns the last cell of a row of the table of versions, "" if there is none.
func tested(readme, name string) string {
	row := regexp.MustCompile(`(?m)^\| ` + name + ` \|[^|]*\| ([^|]+) \|$`).FindStringSubmatch(readme)
	if row == nil {
		return ""
	}

	return row[1]
}

// versionOf returns the version of a module, or of the language, in the go.mod of a directory,
// without a v.
func versionOf(t *testing.T, dir, module string) string {
	t.Helper()

	data, err := os.ReadFile(filepath.Join(root, dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}

	found := regexp.MustCompile(`(?m)^(?:require )?\s*` + regexp.QuoteMeta(module) + ` v?(\S+)`).FindStringSubmatch(string(data))
	if found == nil {
		t.Fatalf("%s/go.mod: no %s", dir, module)
	}

	return found[1]
}
