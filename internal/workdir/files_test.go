// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"crypto/sha256"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func digested(content string) File {
	sum := sha256.Sum256([]byte(content))

	return File{Data: sum[:]}
}

func TestFiles(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	syncDir(t, d, map[string]File{"main.tf": text("m"), "sub/creds": secret("s"), "a.tfvars": secret("v"), "sub/a.tfvars": secret("w")})

	for _, name := range []string{"terraform.tfstate", ".terraform/x", "sub/.terraform/x", ".git/config", ".crossplane-x/y", "errored.tfstate", "errored.tfstate.superseded-1", "errored.tfstate.md", "module/x.tf"} {
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
		"errored.tfstate.md": digested("errored.tfstate.md"),
		"link":               text("-> /etc/passwd"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Files(...): -want, +got:\n%s", diff)
	}
}
