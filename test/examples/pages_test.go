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
var limits = map[string]int{"getting-started.md": 600, "concepts.md": 800, "how-to/*.md": 300}

// TestPages checks the pages that a new user reads: the commands are about files that there are, no page is too long, and
// each how-to is in the index.
func TestPages(t *testing.T) {
	t.Parallel()

	docs := filepath.Join(root, "..", "docs")

	index, err := os.ReadFile(filepath.Join(docs, "README.md"))
	if err != nil {
		t.Fatal(err)
	}

	files := regexp.MustCompile(`(?:^|[ "])((?:examples|cluster|package)/[\w./-]+)`)

	for pattern, limit := range limits {
		pages, err := filepath.Glob(filepath.Join(docs, filepath.FromSlash(pattern)))
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: no page found: %v", pattern, err)
		}

		for _, path := range pages {
			page, err := filepath.Rel(docs, path)
			if err != nil {
				t.Fatal(err)
			}

			data, err := os.ReadFile(path) //nolint:gosec // One of ours.
			if err != nil {
				t.Fatal(err)
			}

			if !strings.Contains(string(index), "("+filepath.ToSlash(page)+")") {
				t.Errorf("%s is not in docs/README.md", page)
			}

			prose, blocks := split(string(data))
			if n := len(strings.Fields(prose)); n > limit {
				t.Errorf("%s has %d words outside of blocks of code, want %d at most", page, n, limit)
			}

			for _, line := range strings.Split(blocks, "\n") {
				for _, f := range files.FindAllStringSubmatch(line, -1) {
					if _, err := os.Stat(filepath.Join(root, "..", filepath.FromSlash(f[1]))); err != nil {
						t.Errorf("%s: %q: %v", page, line, err)
					}
				}
			}
		}
	}
}

// split returns the text of a page, and its blocks of code.
func split(page string) (prose, blocks string) {
	for i, part := range strings.Split(page, "```") {
		if i%2 == 0 {
			prose += part
		} else {
			blocks += part
		}
	}

	return prose, blocks
}
