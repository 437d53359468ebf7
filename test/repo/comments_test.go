// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package repo

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// packageComments requires one package comment per package, in the form that Go expects. A
// package with nothing but tests has it in a test file.
func packageComments(files []file) []string {
	pkgs := map[string][]file{}
	for _, f := range files {
		pkgs[f.dir()] = append(pkgs[f.dir()], f)
	}

	var complaints []string

	for _, dir := range slices.Sorted(maps.Keys(pkgs)) {
		if complaint := packageComment(pkgs[dir]); complaint != "" {
			complaints = append(complaints, complaint)
		}
	}

	return complaints
}

// packageComment returns the error in the comment of one package.
func packageComment(files []file) string {
	var commented []file

	for _, f := range files {
		// Text leaves out directives, such as //go:build.
		if f.syntax.Doc.Text() != "" {
			commented = append(commented, f)
		}
	}

	if len(commented) != 1 {
		return files[0].dir() + ": has " + strconv.Itoa(len(commented)) + " package comments, want 1"
	}

	f := commented[0]
	if f.isTest() && slices.ContainsFunc(files, func(f file) bool { return !f.isTest() }) {
		return f.name + ": the package comment belongs in a file that is not a test"
	}

	name := f.syntax.Name.Name
	if name != "main" && !strings.HasPrefix(f.syntax.Doc.Text(), "Package "+name+" ") {
		return f.at(f.syntax.Doc) + ": the package comment does not begin with \"Package " + name + " \""
	}

	return ""
}

func TestPackageComments(t *testing.T) {
	t.Parallel()

	testRule(t, packageComments, map[string]ruleCase{
		"Kept": {
			reason: "One file of each package has the comment; a command need not begin with its name.",
			tree: tree{
				"a/a.go":        "// Package a is an example.\npackage a",
				"a/b.go":        "//go:build linux\n\npackage a",
				"a/a_test.go":   "package a",
				"cmd/x/main.go": "// X does it.\npackage main",
				"t/a_test.go":   "// Package t tests.\npackage t",
				"t/b_test.go":   "package t",
			},
		},
		"Missing": {
			reason: "A comment that an empty line separates from the package clause is none, nor is a directive.",
			tree: tree{
				"a/a.go": "// Package a is an example.\n\npackage a",
				"b/b.go": "//go:build linux\npackage b",
			},
			want: []string{
				"a: has 0 package comments, want 1",
				"b: has 0 package comments, want 1",
			},
		},
		"Twice": {
			reason: "Two comments would be shown one after the other.",
			tree: tree{
				"a/a.go": "// Package a is an example.\npackage a",
				"a/b.go": "// Package a is the best.\npackage a",
			},
			want: []string{"a: has 2 package comments, want 1"},
		},
		"InTest": {
			reason: "Documentation does not show the comments of tests.",
			tree: tree{
				"a/a.go":      "package a",
				"a/a_test.go": "// Package a is an example.\npackage a",
			},
			want: []string{"a/a_test.go: the package comment belongs in a file that is not a test"},
		},
		"OtherName": {
			reason: "The comment names its package.",
			tree:   tree{"a/a.go": "\n// Package b is an example.\npackage a"},
			want:   []string{`a/a.go:2: the package comment does not begin with "Package a "`},
		},
	})
}
