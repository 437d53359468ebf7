// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"crypto/sha256"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDigest(t *testing.T) {
	t.Parallel()

	// All of these must have different digests.
	different := map[string]string{
		"Nothing":        Digest(nil),
		"File":           Digest(map[string]File{"a": text("b")}),
		"OtherContent":   Digest(map[string]File{"a": text("c")}),
		"OtherName":      Digest(map[string]File{"b": text("b")}),
		"NameAndContent": Digest(map[string]File{"ab": text("")}),
		"ContentOnly":    Digest(map[string]File{"": text("ab")}),
		"TwoFiles":       Digest(map[string]File{"a": text("b"), "c": text("d")}),
		"Swapped":        Digest(map[string]File{"a": text("d"), "c": text("b")}),
		"OneForTwo":      Digest(map[string]File{"a": text("b,1:c,1:d")}),
		"Extra":          Digest(nil, "a", "b"),
		"ExtraOrder":     Digest(nil, "b", "a"),
		"ExtraJoined":    Digest(nil, "ab"),
		"ExtraEmpty":     Digest(nil, "a", "b", ""),
		"ExtraForFile":   Digest(nil, "a", "b", "c", "d"),
		"FileAndExtra":   Digest(map[string]File{"a": text("b")}, "c", "d"),
	}

	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(different)) {
		if other, ok := seen[different[name]]; ok {
			t.Errorf("%s and %s have the same digest", name, other)
		}

		seen[different[name]] = name
		if len(different[name]) != 64 {
			t.Errorf("%s: %q is not a SHA-256 in hexadecimal", name, different[name])
		}
	}

	many := map[string]File{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		many[name] = text(name)
	}

	want := Digest(many, "x")
	for range 20 {
		if diff := cmp.Diff(want, Digest(maps.Clone(many), "x")); diff != "" {
			t.Fatalf("the order of the files must not count: -want, +got:\n%s", diff)
		}
	}
}

func digested(content string) File {
	sum := sha256.Sum256([]byte(content))

	return File{Data: sum[:]}
}

func TestFiles(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	syncDir(t, d, map[string]File{"main.tf": text("m"), "sub/creds": secret("s"), "a.tfvars": secret("v"), "sub/a.tfvars": secret("w")})

	for _, name := range []string{"terraform.tfstate", ".terraform/x", "sub/.terraform/x", ".git/config", ".crossplane-x/y", "errored.tfstate", "errored.tfstate.superseded-1", "errored.tfstate.md", "terraform.tfstate.d/w", "terraform.tfstate.backup", "terraform.tfstate.tf", "module/x.tf"} {
		write(t, filepath.Join(d.Path(), name), name)
	}

	symlink(t, "/etc/passwd", filepath.Join(d.Path(), "link"))

	got, err := d.Files("a.tfvars")
	if err != nil {
		t.Fatal(err)
	}

	want := map[string]File{
		"main.tf":      digested("m"),
		"sub/creds":    digested("s"),
		"sub/a.tfvars": digested("w"),
		"module/x.tf":  digested("module/x.tf"),
		// It is the file of a module.
		"errored.tfstate.md":   digested("errored.tfstate.md"),
		"terraform.tfstate.tf": digested("terraform.tfstate.tf"),
		"link":                 text("-> /etc/passwd"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Files(...): -want, +got:\n%s", diff)
	}
}
