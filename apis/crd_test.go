// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package apis_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const (
	crdDir = "../package/crds"

	// The properties of these APIs before this provider existed. A difference breaks users:
	// change this file only after a decision to change the API.
	contractFile = "testdata/crd-properties.tsv"

	// The additions of this provider, in the same form.
	additionsFile = "testdata/crd-additions.tsv"
)

// A location is the place of a property: the name of its CRD and its path, where
// [] stands for the items of a list, {} for the values of a map, and "." for the
// whole object.
type location struct{ CRD, Path string }

// A property is the schema of one location, except for its description.
// Everything but Type and Required is JSON, and empty when absent.
type property struct {
	Type       string
	Enum       string
	Default    string
	Required   string // By the parent: yes or no.
	Extensions string // Every other keyword of the schema, as an object.
}

func TestProperties(t *testing.T) {
	t.Parallel()

	want, additions := readProperties(t, contractFile), readProperties(t, additionsFile)
	for at, p := range additions {
		was, ok := want[at]
		sameStatus, moreValues := was, was
		sameStatus.Default = p.Default // No default of the status changes what users write.

		// What was valid before is valid.
		if strings.HasPrefix(p.Enum, strings.TrimSuffix(was.Enum, "]")+",") {
			moreValues.Enum = p.Enum
		}

		if at.Path == "status" && sameStatus == p || ok && was != p && moreValues == p {
			want[at] = p

			continue
		}

		if ok {
			t.Errorf("%s: %+v is in the contract: it cannot be added", additionsFile, at)
		}

		if p.Required != "no" && additions[location{at.CRD, parentOf(at.Path)}] == (property{}) || p.Default != "" {
			t.Errorf("%s: %+v: only optional properties without a default can be added: a manifest of before means the same", additionsFile, at)
		}

		want[at] = p
	}

	got := map[location]property{}

	for name, crd := range readCRDs(t) {
		for _, version := range lookup[[]any](crd, "spec", "versions") {
			schema := lookup[map[string]any](version, "schema", "openAPIV3Schema")
			flatten(t, got, location{CRD: name, Path: "."}, schema, true)
		}
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("properties of the CRDs: -want, +got:\n%s", diff)
	}
}

// parentOf returns the path of the object that has a property.
func parentOf(path string) string { return path[:max(strings.LastIndex(path, "."), 0)] }

func TestDefinitions(t *testing.T) {
	t.Parallel()

	var (
		age        = column("AGE", "date", ".metadata.creationTimestamp")
		synced     = column("SYNCED", "string", ".status.conditions[?(@.type=='Synced')].status")
		ready      = column("READY", "string", ".status.conditions[?(@.type=='Ready')].status")
		shard      = column("SHARD", "string", `.metadata.labels['terraform\.crossplane\.io/shard']`)
		secretName = column("SECRET-NAME", "string", ".spec.credentials.secretRef.name")

		managed   = []string{"crossplane", "managed", "terraform"}
		provider  = []string{"crossplane", "provider", "terraform"}
		servedBy  = column("SERVED-BY", "string", ".status.ownership.claim.holder")
		servedFor = column("SERVED-FOR", "date", ".status.ownership.claimedAt")
		usages    = []extv1.CustomResourceColumnDefinition{
			age,
			column("CONFIG-NAME", "string", ".providerConfigRef.name"),
			column("RESOURCE-KIND", "string", ".resourceRef.kind"),
			column("RESOURCE-NAME", "string", ".resourceRef.name"),
		}
	)

	secretName.Priority = 1
	wide := []extv1.CustomResourceColumnDefinition{
		servedBy, servedFor,
		column("PLAN", "string", ".status.atProvider.plan.summary"),
		column("DRIFTED", "string", ".status.conditions[?(@.type=='Drifted')].status"),
		column("AWAITING", "string", ".status.conditions[?(@.type=='AwaitingApproval')].status"),
		column("CONFIG", "string", ".spec.providerConfigRef.name"),
		column("LAST-PLAN", "date", ".status.atProvider.lastPlanTime"),
		column("MESSAGE", "string", ".status.conditions[?(@.type=='Synced')].message"),
	}

	for i := range wide {
		wide[i].Priority = 1
	}

	workspaces := append([]extv1.CustomResourceColumnDefinition{synced, ready, shard, age}, wide...)
	configs := []extv1.CustomResourceColumnDefinition{column("USERS", "integer", ".status.users"), age, secretName}

	want := map[string]extv1.CustomResourceDefinitionSpec{
		"workspaces.tf.upbound.io": definition("tf.upbound.io", "Workspace",
			extv1.ClusterScoped, managed, workspaces, true),
		"providerconfigs.tf.upbound.io": definition("tf.upbound.io", "ProviderConfig",
			extv1.ClusterScoped, provider, configs, true),
		"providerconfigusages.tf.upbound.io": definition("tf.upbound.io", "ProviderConfigUsage",
			extv1.ClusterScoped, provider, usages, false),
		"workspaces.tf.m.upbound.io": definition("tf.m.upbound.io", "Workspace",
			extv1.NamespaceScoped, managed, workspaces, true),
		"providerconfigs.tf.m.upbound.io": definition("tf.m.upbound.io", "ProviderConfig",
			extv1.NamespaceScoped, provider, configs, true),
		"clusterproviderconfigs.tf.m.upbound.io": definition("tf.m.upbound.io", "ClusterProviderConfig",
			extv1.ClusterScoped, provider, configs, true),
		"providerconfigusages.tf.m.upbound.io": definition("tf.m.upbound.io", "ProviderConfigUsage",
			extv1.NamespaceScoped, provider, usages, false),
	}

	for name, short := range map[string]string{
		"workspaces.tf.upbound.io": "tfws", "providerconfigs.tf.upbound.io": "tfpc",
		"workspaces.tf.m.upbound.io": "tfmws", "providerconfigs.tf.m.upbound.io": "tfmpc", "clusterproviderconfigs.tf.m.upbound.io": "tfmcpc",
	} {
		d := want[name]
		d.Names.ShortNames = []string{short}
		want[name] = d
	}

	got := map[string]extv1.CustomResourceDefinitionSpec{}

	for name, raw := range readCRDs(t) {
		crd := &extv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(encode(t, raw), crd); err != nil {
			t.Fatalf("%s: %v", name, err)
		}

		for i := range crd.Spec.Versions {
			crd.Spec.Versions[i].Schema = nil // TestProperties compares it.
		}

		got[name] = crd.Spec

		// The value is a version of a tool and may change. A new key needs a decision:
		// people see annotations.
		if len(crd.Annotations) != 1 || crd.Annotations["controller-gen.kubebuilder.io/version"] == "" {
			t.Errorf("%s: want controller-gen.kubebuilder.io/version as the only annotation, got %v", name, crd.Annotations)
		}
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("CRDs: -want, +got:\n%s", diff)
	}
}

func column(name, kind, path string) extv1.CustomResourceColumnDefinition {
	return extv1.CustomResourceColumnDefinition{Name: name, Type: kind, JSONPath: path}
}

// definition returns a CRD spec without a schema, in which everything that is not
// an argument is the same for all kinds of this provider.
func definition(group, kind string, scope extv1.ResourceScope, categories []string,
	columns []extv1.CustomResourceColumnDefinition, status bool,
) extv1.CustomResourceDefinitionSpec {
	singular := strings.ToLower(kind)

	spec := extv1.CustomResourceDefinitionSpec{
		Group: group,
		Scope: scope,
		Names: extv1.CustomResourceDefinitionNames{
			Kind:       kind,
			ListKind:   kind + "List",
			Singular:   singular,
			Plural:     singular + "s",
			Categories: categories,
		},
		Versions: []extv1.CustomResourceDefinitionVersion{{
			Name:                     "v1beta1",
			Served:                   true,
			Storage:                  true,
			AdditionalPrinterColumns: columns,
			Subresources:             &extv1.CustomResourceSubresources{},
		}},
	}
	if status {
		spec.Versions[0].Subresources.Status = &extv1.CustomResourceSubresourceStatus{}
	}

	return spec
}

// flatten adds the schema at a location, and all schemas below it, to out.
func flatten(t *testing.T, out map[location]property, at location, schema map[string]any, required bool) {
	t.Helper()

	p := property{Required: "no"}
	if required {
		p.Required = "yes"
	}

	extensions := map[string]any{}

	for keyword, value := range schema {
		switch keyword {
		case "description", "properties", "required", "items", "additionalProperties":
		case "type":
			p.Type, _ = value.(string)
		case "enum":
			p.Enum = string(encode(t, value))
		case "default":
			p.Default = string(encode(t, value))
		default:
			extensions[keyword] = value
		}
	}

	if len(extensions) > 0 {
		p.Extensions = string(encode(t, extensions))
	}

	if _, ok := out[at]; ok {
		t.Errorf("%+v is there twice", at)
	}

	out[at] = p

	needs := lookup[[]any](schema, "required")
	for name, child := range lookup[map[string]any](schema, "properties") {
		below := location{CRD: at.CRD, Path: name}
		if at.Path != "." {
			below.Path = at.Path + "." + name
		}

		flatten(t, out, below, lookup[map[string]any](child), slices.Contains(needs, any(name)))
	}

	for keyword, suffix := range map[string]string{"items": "[]", "additionalProperties": "{}"} {
		if child := lookup[map[string]any](schema, keyword); child != nil {
			flatten(t, out, location{CRD: at.CRD, Path: at.Path + suffix}, child, false)
		}
	}
}

// lookup returns the value at the end of a path of keys into nested objects, or
// the zero value when there is none of that type.
func lookup[T any](from any, path ...string) T {
	for _, key := range path {
		object, _ := from.(map[string]any)
		from = object[key]
	}

	value, _ := from.(T)

	return value
}

// readProperties reads a table of properties with one line of headings.
func readProperties(t *testing.T, file string) map[location]property {
	t.Helper()

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	out := map[location]property{}

	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	for _, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != 7 {
			t.Fatalf("%s: want 7 cells, got %d: %q", file, len(cells), line)
		}

		at := location{CRD: cells[0], Path: cells[1]}
		if _, ok := out[at]; ok {
			t.Errorf("%s: %+v is there twice", file, at)
		}

		out[at] = property{
			Type:       cells[2],
			Enum:       normalize(t, cells[3]),
			Default:    normalize(t, cells[4]),
			Required:   cells[5],
			Extensions: normalize(t, cells[6]),
		}
	}

	return out
}

// readCRDs reads all CRDs of the package, by name.
func readCRDs(t *testing.T) map[string]map[string]any {
	t.Helper()

	files, err := filepath.Glob(filepath.Join(crdDir, "*"))
	if err != nil {
		t.Fatal(err)
	}

	out := map[string]map[string]any{}

	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		crd := map[string]any{}
		if err := yaml.UnmarshalStrict(text, &crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}

		name := lookup[string](crd, "metadata", "name")

		plural, group, _ := strings.Cut(name, ".")
		if want := group + "_" + plural + ".yaml"; filepath.Base(file) != want {
			t.Errorf("%s holds %q: want it in %s", file, name, want)
		}

		out[name] = crd
	}

	return out
}

// normalize returns JSON that is equal for equal values, and nothing for nothing.
func normalize(t *testing.T, text string) string {
	t.Helper()

	if text == "" {
		return ""
	}

	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%q: %v", text, err)
	}

	return string(encode(t, value))
}

// encode returns value as JSON. Keys of objects are sorted.
func encode(t *testing.T, value any) []byte {
	t.Helper()

	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}

	return text
}
