// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package crossplane

import (
	"os"
	"strings"
	"testing"
)

// TestCommands builds and pushes the package as docs/install.md says, except for the registry and the files.
func TestCommands(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}

	for _, args := range commands("runtime.tar", "provider-terraform.xpkg", "registry.example.org/crossplane-contrib/provider-terraform:v0.1.0") {
		if want := "\ncrossplane " + strings.Join(args, " ") + "\n"; !strings.Contains(string(page), want) {
			t.Errorf("docs/install.md does not have %q", want)
		}
	}
}
