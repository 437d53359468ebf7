// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocs checks that the charts and the table in docs/ match benchmarks.json there.
func TestDocs(t *testing.T) {
	t.Parallel()

	docs, dir := filepath.Join("..", "..", "docs"), t.TempDir()

	r, err := readReport(docs)
	if err != nil {
		t.Fatal(err)
	}

	text, err := os.ReadFile(filepath.Join(docs, page))
	if err != nil {
		t.Fatal(err)
	}

	if err := save(dir, page, string(text)); err != nil {
		t.Fatal(err)
	}

	if err := publish(r, dir); err != nil {
		t.Fatal(err)
	}

	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}

	for _, f := range files {
		want, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}

		got, err := os.ReadFile(filepath.Join(docs, f.Name()))
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("docs/%s differs from the output of `go run ./test/bench -draw -out docs`: -want, +got:\n%s", f.Name(), diff)
		}
	}
}
