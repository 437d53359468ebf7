// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// A programs directory is one for --cli-dir, with the real CLIs.
type programs string

func newPrograms(t *testing.T) programs {
	t.Helper()

	d := programs(t.TempDir())

	for name, path := range program.CLIs(t) {
		d.add(t, name, path)
	}

	return d
}

// add a copy of a program, with its checksum.
func (d programs) add(t *testing.T, name, from string) {
	t.Helper()

	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}

	d.write(t, name, data, 0o555)

	sums, _ := os.ReadFile(d.path(sumsFile))
	d.write(t, sumsFile, fmt.Appendf(sums, "%x  %s\n", sha256.Sum256(data), name), 0o444)
}

func (d programs) path(name string) string { return filepath.Join(string(d), name) }

// write a file anew. Only its owner could change the directory, and only after another chmod.
func (d programs) write(t *testing.T, name string, data []byte, mode os.FileMode) {
	t.Helper()
	d.chmod(t, ".", 0o755)

	_ = os.Remove(d.path(name))
	if err := os.WriteFile(d.path(name), data, mode); err != nil {
		t.Fatal(err)
	}

	d.chmod(t, ".", 0o555)
}

func (d programs) chmod(t *testing.T, name string, mode os.FileMode) {
	t.Helper()

	if err := os.Chmod(d.path(name), mode); err != nil {
		t.Fatal(err)
	}
}

func TestStore(t *testing.T) {
	t.Parallel()

	d := newPrograms(t)
	d.write(t, "LICENSE", []byte("text"), 0o444)

	standard := &CLI{Product: Terraform, Version: "0.1.0"}

	s, err := OpenStore(t.Context(), standard, string(d), Options{})
	if err != nil {
		t.Fatal(err)
	}

	for _, want := range s.All() {
		if got, err := s.Get(want.Product, want.Version); err != nil || got != want {
			t.Errorf("Get(%s): got %v, %v", want, got, err)
		}
	}

	if n := len(s.All()); n != 1+len(program.CLIs(t)) {
		t.Errorf("want all programs of the directory, got %v", s.All())
	}

	_, err = s.Get(OpenTofu, "9.9.9")
	if want := "this instance does not have OpenTofu 9.9.9 in --cli-dir, it has Terraform 0.1.0, "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Get of another version: want %q, got %v", want, err)
	}

	_, err = (&Store{Default: standard, clis: []*CLI{standard}, dir: "a"}).Get(OpenTofu, "9.9.9")
	if want := "this instance does not have OpenTofu 9.9.9 in --cli-dir, it has Terraform 0.1.0"; err == nil || err.Error() != want {
		t.Errorf("Get with the default in the directory: want %q, got %v", want, err)
	}

	_, err = (&Store{Default: standard}).Get(OpenTofu, "9.9.9")
	if want := "this instance has only Terraform 0.1.0: OpenTofu 9.9.9 takes a directory with CLIs and --cli-dir"; err == nil || err.Error() != want {
		t.Errorf("Get without a directory: want %q, got %v", want, err)
	}

	for _, version := range []string{"v0.1.0", "0.1", "latest", "~> 0.1"} {
		_, err = (&Store{Default: standard}).Get(Terraform, version)
		if want := fmt.Sprintf("the version %q is not one such as 1.12.6, without v, and no range: this instance has Terraform 0.1.0", version); err == nil || err.Error() != want {
			t.Errorf("Get of no exact version: want %q, got %v", want, err)
		}
	}
}

func TestRefusedStore(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(t *testing.T, d programs)
		err    string
	}{
		"NoSums": {reason: "A copy may have been cut short.", change: func(t *testing.T, d programs) {
			t.Helper()
			d.chmod(t, ".", 0o755)
			_ = os.Remove(d.path(sumsFile))
			d.chmod(t, ".", 0o555)
		}, err: "cannot read the checksums"},
		"NotListed": {reason: "Nor is this one known to be whole.", change: func(t *testing.T, d programs) { t.Helper(); d.write(t, "more", []byte("x"), 0o555) }, err: `SHA256SUMS has no line for "more"`},
		"Cut":       {reason: "It is not.", change: func(t *testing.T, d programs) { t.Helper(); d.write(t, "tofu", []byte("x"), 0o555) }, err: "and SHA256SUMS says"},
		"Directory": {reason: "A module could add a program.", change: func(t *testing.T, d programs) { t.Helper(); d.chmod(t, ".", 0o777) }, err: "is writable for the provider"},
		"Program":   {reason: "A module could replace it.", change: func(t *testing.T, d programs) { t.Helper(); d.chmod(t, "tofu", 0o777) }, err: "is writable for the provider"},
		"Duplicate": {reason: "It is not clear which one runs.", change: func(t *testing.T, d programs) { t.Helper(); d.add(t, "other", program.Need(t, "TOFU_BIN")) }, err: "are both OpenTofu"},
		"Other":     {reason: "It is no CLI.", change: func(t *testing.T, d programs) { t.Helper(); d.add(t, "other", "/bin/true") }, err: "is neither terraform nor tofu"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newPrograms(t)
			tc.change(t, d)

			if _, err := OpenStore(t.Context(), &CLI{}, string(d), Options{}); err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("\n%s\nOpenStore(...): want an error with %q, got %v", tc.reason, tc.err, err)
			}
		})
	}

	if _, err := OpenStore(t.Context(), &CLI{}, "cli", Options{}); err == nil {
		t.Error("want a relative path to be refused")
	}
}
