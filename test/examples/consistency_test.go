// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// TestReadme checks that the commands of the page about deployments are about Workspaces,
// files and shards that there are.
func TestReadme(t *testing.T) {
	t.Parallel()

	data, err := os.ReadFile(filepath.Join(root, "deploy", "README.md"))
	if err != nil {
		t.Fatalf("cannot read the page: %v", err)
	}

	workspaces := map[string]bool{}

	for _, m := range manifests(t) {
		if m.object.GetKind() == "Workspace" {
			group := m.object.GroupVersionKind().Group
			workspaces[strings.Join([]string{group, m.object.GetNamespace(), m.object.GetName()}, " ")] = true
		}
	}

	label := regexp.MustCompile(`(?m)^kubectl label workspaces\.(\S+) (\S+)(?: --namespace=(\S+))? ` + shard.LabelKey + `=(\S+)$`)

	lines := label.FindAllStringSubmatch(string(data), -1)
	if want := len(regexp.MustCompile(`(?m)^kubectl label .*=`).FindAllString(string(data), -1)); len(lines) != want || want == 0 {
		t.Errorf("%d of %d kubectl label lines are of the form known here", len(lines), want)
	}

	shards := map[string]bool{}

	for _, l := range lines {
		if !workspaces[l[1]+" "+l[3]+" "+l[2]] {
			t.Errorf("there is no such Workspace: %s", l[0])
		}

		shards[l[4]] = true
	}

	if diff := cmp.Diff(map[string]bool{"shard-0": true, "shard-1": true}, shards); diff != "" {
		t.Errorf("shards of the labels: -want, +got:\n%s", diff)
	}

	repository := os.DirFS(filepath.Join("..", ".."))

	for _, path := range regexp.MustCompile(`-[fk] (\S+)`).FindAllStringSubmatch(string(data), -1) {
		if _, err := fs.Stat(repository, path[1]); err != nil {
			t.Errorf("kubectl apply %s: %v", path[0], err)
		}
	}
}

// TestStateNames checks that a copy of an example in another namespace gets another state: its ProviderConfig is
// that of its namespace, or its external name contains its namespace.
func TestStateNames(t *testing.T) {
	t.Parallel()

	for _, m := range manifests(t) {
		namespace := m.object.GetNamespace()
		if m.object.GetKind() != "Workspace" || namespace == "" {
			continue
		}

		kind, _, err := unstructured.NestedString(m.object.Object, "spec", "providerConfigRef", "kind")
		if err != nil {
			t.Fatal(err)
		}

		if name := meta.GetExternalName(m.object); kind != "ProviderConfig" && !strings.HasPrefix(name, namespace+"-") {
			t.Errorf("%s: a Workspace of another namespace may have the same state: want a ProviderConfig, or an external name that begins with %q, got %q", m.file, namespace+"-", name)
		}
	}
}
