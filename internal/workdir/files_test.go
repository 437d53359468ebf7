// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFiles(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	if err := d.Sync(map[string]File{"main.tf": text("m"), "sub/creds": secret("s"), "a.tfvars": secret("v"), "sub/a.tfvars": secret("w")}); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{"terraform.tfstate", ".terraform/x", "sub/.terraform/x", ".git/config", ".crossplane-x/y", "errored.tfstate", "module/x.tf"} {
		write(t, filepath.Join(d.Path(), name), name)
	}

	if err := os.Symlink("/etc/passwd", filepath.Join(d.Path(), "link")); err != nil {
		t.Fatal(err)
	}

	got, err := d.Files("a.tfvars")
	if err != nil {
		t.Fatal(err)
	}

	want := map[string]File{
		"main.tf":      text("m"),
		"sub/creds":    text("s"),
		"sub/a.tfvars": text("w"),
		"module/x.tf":  text("module/x.tf"),
		"link":         text("-> /etc/passwd"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Files(...): -want, +got:\n%s", diff)
	}
}
