// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// FuzzSync checks that no name makes Sync touch anything outside, and that it writes every name
// that it accepts.
func FuzzSync(f *testing.F) {
	for _, name := range []string{"main.tf", "", ".", "..", "../a", "a/../../b", "/a", "a//b", "a\x00b", manifestName, "a/" + tempName, "a\\..\\b", "\xb2"} {
		f.Add(name)
	}

	f.Fuzz(func(t *testing.T, name string) {
		d := newDir(t)

		err := d.Sync(map[string]File{name: text("a")})
		if diff := cmp.Diff([]string{uidA}, filesystem.Names(t, filepath.Dir(d.Path()))); diff != "" {
			t.Errorf("beside the directory, after Sync of %q: -want, +got:\n%s", name, diff)
		}

		if err != nil {
			return
		}

		if diff := cmp.Diff(files{name: "a"}, content(t, d.Path())); diff != "" {
			t.Errorf("in the directory, after Sync of %q: -want, +got:\n%s", name, diff)
		}

		if err := d.Sync(nil); err != nil {
			t.Errorf("the file %q cannot be removed: %v", name, err)
		}

		if diff := cmp.Diff(files{}, content(t, d.Path())); diff != "" {
			t.Errorf("after removing %q: -want, +got:\n%s", name, diff)
		}
	})
}
