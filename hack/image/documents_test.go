// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// envSBOM names the environment variable with the path of the program that writes SBOMs.
const envSBOM = "CYCLONEDX_GOMOD"

// mod is the only module that the small program imports.
const mod = "golang.org/x/mod"

// newSmall builds a small program with one dependency. It returns the version of the dependency.
func newSmall(t *testing.T) (binary, version string) {
	t.Helper()

	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}

	found := regexp.MustCompile(regexp.QuoteMeta(mod) + ` (v\S+)`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("want %s in go.mod", mod)
	}

	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}

	dir, version := t.TempDir(), string(found[1])
	write(t, filepath.Join(dir, "go.mod"), "module github.com/crossplane-contrib/provider-terraform\n\ngo 1.26.0\n\nrequire "+mod+" "+version+"\n", 0o600)
	write(t, filepath.Join(dir, "go.sum"), string(sums), 0o600)
	write(t, filepath.Join(dir, "main.go"), "package main\n\nimport \""+mod+"/semver\"\n\nfunc main() { println(semver.Canonical(\"v1\")) }\n", 0o600)

	binary = filepath.Join(dir, "small")
	if err := program.Build(dir, binary, "."); err != nil {
		t.Fatal(err)
	}

	return binary, version
}

// document writes the documents of a program to a new directory.
func document(t *testing.T, binary string) string {
	t.Helper()

	dir := filepath.Join(t.TempDir(), "documents")
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "hack", "documents.sh"), dir, binary)

	// As in the Dockerfile, which builds images for other platforms too.
	other := map[string]string{"amd64": "arm64"}[runtime.GOARCH]
	if other == "" {
		other = "amd64"
	}

	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+other)

	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("hack/documents.sh: %v: %s", err, out)
	}

	return dir
}

// An sbom has the fields of a CycloneDX document that a reader looks at first.
type sbom struct {
	BOMFormat    string `json:"bomFormat"`
	SpecVersion  string `json:"specVersion"`
	SerialNumber string `json:"serialNumber"`

	Metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	} `json:"metadata"`

	Components []component `json:"components"`
}

type component struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

// TestDocuments writes the documents of a small program.
func TestDocuments(t *testing.T) {
	t.Parallel()

	if os.Getenv(envSBOM) == "" {
		t.Skipf("needs %s: run make test", envSBOM)
	}

	program.Need(t, envSBOM)

	// The result of this test depends on them: see program.DependOn.
	filesystem.Read(t, filepath.Join(root, "hack", "notices"))
	filesystem.Read(t, filepath.Join(root, "hack", "cyclonedx-gomod"))

	if _, err := os.ReadFile(filepath.Join(root, "hack", "documents.sh")); err != nil {
		t.Fatal(err)
	}

	binary, version := newSmall(t)
	files := filesystem.Read(t, document(t, binary))

	if diff := cmp.Diff(files, filesystem.Read(t, document(t, binary))); diff != "" {
		t.Errorf("The same binaries have the same documents.\n-first, +second:\n%s", diff)
	}

	for name, want := range map[string]string{
		"LICENSE": "Apache License",
		"licenses/" + mod + "@" + version + "/LICENSE":   "Redistribution and use",
		"licenses/std@" + runtime.Version() + "/LICENSE": "Redistribution and use",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s: want %q, got %q", name, want, files[name])
		}
	}

	var got sbom
	if err := json.Unmarshal([]byte(files["sbom/small.cdx.json"]), &got); err != nil {
		t.Fatalf("sbom/small.cdx.json: %v: %s", err, files["sbom/small.cdx.json"])
	}

	platform := "?goarch=" + runtime.GOARCH + "&goos=" + runtime.GOOS + "&type=module"

	want := sbom{BOMFormat: "CycloneDX", SpecVersion: "1.6"}
	want.Metadata.Component = got.Metadata.Component
	want.Components = []component{
		{Name: mod, Version: version, PURL: "pkg:golang/" + mod + "@" + version + platform},
		{Name: "std", Version: runtime.Version(), PURL: "pkg:golang/std@" + runtime.Version() + platform},
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("The SBOM has every module, and neither a time nor a serial number.\n-want, +got:\n%s", diff)
	}

	if diff := cmp.Diff("github.com/crossplane-contrib/provider-terraform", got.Metadata.Component.Name); diff != "" {
		t.Errorf("The SBOM is about the main module.\n-want, +got:\n%s", diff)
	}
}
