// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// mercurial returns a directory with a program that stands for Mercurial, and copies a directory, which
// is the last part of an address.
func mercurial(t *testing.T) string {
	t.Helper()

	bin := t.TempDir()
	hg := "#!/bin/sh\nif [ \"$1\" = clone ]; then cp -a \"${4##*[:+]}\" \"$5\"; fi\n"

	if err := os.WriteFile(filepath.Join(bin, "hg"), []byte(hg), 0o755); err != nil {
		t.Fatal(err)
	}

	return bin
}

// TestMercurialAddresses fetches repositories by addresses that may be fetched, and no others.
func TestMercurialAddresses(t *testing.T) {
	t.Parallel()

	src, bin := t.TempDir(), mercurial(t)
	filesystem.Write(t, src, files{"main.tf": "m"})

	const refused = "it is not the address of a Mercurial repository that may be fetched"

	cases := map[string]struct {
		reason  string
		address string
		err     string
	}{
		"URL":      {reason: "A repository on this machine.", address: "hg::file://" + src},
		"Path":     {reason: "The same by its path.", address: "hg::" + src},
		"Union":    {reason: "Mercurial combines repositories of this machine, which may be private.", address: "hg::union:" + src + "+" + src, err: refused},
		"Bundle":   {reason: "A bundle is a file of this machine.", address: "hg::bundle:" + src, err: refused},
		"Relative": {reason: "A relative path would begin in the working directory.", address: "hg::file:../../main.tf", err: refused},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t, tc.address)
			p.request.Env = environment(t, "PATH="+bin+":"+os.Getenv("PATH"))

			if tc.err == "" {
				p.ensure(t)
				p.expect(t, files{"main.tf": "m"})
			} else if got := p.ensureFails(t); !strings.Contains(got, tc.err) {
				t.Errorf("%s\nEnsure(...): want error %q, got %q", tc.reason, tc.err, got)
			}
		})
	}
}
