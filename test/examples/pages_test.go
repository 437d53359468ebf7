// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// limits are the numbers of words of the pages that a new user reads from top to bottom.
func limits() map[string]int {
	return map[string]int{"getting-started.md": 600, "concepts.md": 800, "how-to/*.md": 300}
}

// TestPages checks the pages that a new user reads: no page is too long, each is in the index, and the commands are about
// files that there are.
func TestPages(t *testing.T) {
	t.Parallel()

	docs := filepath.Join(root, "..", "docs")

	index, err := os.ReadFile(filepath.Join(docs, "README.md"))
	if err != nil {
		t.Fatal(err)
	}

	for pattern, limit := range limits() {
		pages, err := filepath.Glob(filepath.Join(docs, filepath.FromSlash(pattern)))
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: no page found: %v", pattern, err)
		}

		for _, path := range pages {
			page := filepath.ToSlash(path[len(docs)+1:])

			t.Run(page, func(t *testing.T) {
				t.Parallel()

				if !strings.Contains(string(index), "("+page+")") {
					t.Error("the page is not in docs/README.md")
				}

				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}

				prose, blocks := split(string(data))
				if n := len(strings.Fields(prose)); n > limit {
					t.Errorf("the page has %d words outside of blocks of code, want %d at most", n, limit)
				}

				expectFiles(t, blocks)
			})
		}
	}
}

// expectFiles fails the test unless every file of the repository in the supplied commands exists.
func expectFiles(t *testing.T, commands string) {
	t.Helper()

	file := regexp.MustCompile(`(?m)(?:^|[ "=])((?:examples|cluster|package)/[\w./-]+)`)

	for _, f := range file.FindAllStringSubmatch(commands, -1) {
		if _, err := os.Stat(filepath.Join(root, "..", filepath.FromSlash(f[1]))); err != nil {
			t.Error(err)
		}
	}
}

// split returns the text of a page, and its blocks of code.
func split(page string) (prose, blocks string) {
	var parts [2]strings.Builder

	for i, part := range strings.Split(page, "```") {
		parts[i%2].WriteString(part + "\n")
	}

	return parts[0].String(), parts[1].String()
}
