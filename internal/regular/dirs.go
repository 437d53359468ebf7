// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package regular

import (
	"io/fs"
	"iter"
	"path"
)

// Dirs returns the directories below dir whose path matches the patterns, one for each component.
// Unlike fs.Glob, it follows no link below dir: links in circles would multiply the matches. A
// malformed pattern, and a directory that cannot be read, have no matches.
func Dirs(fsys fs.FS, dir string, patterns ...string) iter.Seq[string] {
	return func(yield func(string) bool) { walk(fsys, dir, patterns, yield) }
}

// walk says whether to continue.
func walk(fsys fs.FS, dir string, patterns []string, yield func(string) bool) bool {
	if len(patterns) == 0 {
		return yield(dir)
	}

	entries, _ := fs.ReadDir(fsys, dir)
	for _, e := range entries {
		if ok, _ := path.Match(patterns[0], e.Name()); !ok || !e.IsDir() {
			continue
		}

		if !walk(fsys, path.Join(dir, e.Name()), patterns[1:], yield) {
			return false
		}
	}

	return true
}
