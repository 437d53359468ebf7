// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package repo tests the repository itself: rules that hold for all of its Go files and
// that neither the compiler nor a linter checks.
//
// Every rule is tested with small trees that break it, before it is applied to the real
// one.
package repo

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// root of the repository, from the directory of this package.
const root = "../.."

// module is the path of the root module.
const module = "github.com/crossplane-contrib/provider-terraform"

// A file is one Go file of a tree.
type file struct {
	// name is the slash separated path from the root of the tree.
	name string

	source string
	tokens *token.FileSet
	syntax *ast.File
}

// dir is the directory of the file: the import path of its package below the
// module.
func (f file) dir() string { return path.Dir(f.name) }

// isTest says whether the file is built for tests only.
func (f file) isTest() bool { return strings.HasSuffix(f.name, "_test.go") }

// at returns where in the tree n is: file:line.
func (f file) at(n ast.Node) string {
	return f.name + ":" + strconv.Itoa(f.tokens.Position(n.Pos()).Line)
}

// uses returns the places where n, a part of the file, mentions one of the names exported
// by the package with the supplied import path. It resolves import aliases.
func (f file) uses(n ast.Node, importPath string, names ...string) []ast.Node {
	local := f.imported(importPath)

	var found []ast.Node

	ast.Inspect(n, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains(names, s.Sel.Name) {
			return true
		}

		if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == local {
			found = append(found, s)
		}

		return true
	})

	return found
}

// imported returns the local name of the package with the supplied import path. It is
// empty if the file does not import the package.
func (f file) imported(importPath string) string {
	for _, i := range f.syntax.Imports {
		switch {
		case i.Path.Value != strconv.Quote(importPath):
			continue
		case i.Name != nil:
			return i.Name.Name
		default:
			return path.Base(importPath)
		}
	}

	return ""
}

// goFiles returns the Go files of the module at the root of fsys, in lexical order.
// Like the go command it passes over testdata, modules inside the module, and names
// that begin with a dot or an underscore.
func goFiles(fsys fs.FS) ([]file, error) {
	var files []file

	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case d.IsDir() && skipped(fsys, name):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go":
			return nil
		}

		source, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}

		tokens := token.NewFileSet()

		syntax, err := parser.ParseFile(tokens, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}

		files = append(files, file{name: name, source: string(source), tokens: tokens, syntax: syntax})

		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read Go files: %w", err)
	}

	return files, nil
}

func skipped(fsys fs.FS, dir string) bool {
	base := path.Base(dir)
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}

	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))

	return err == nil
}

// A rule returns the violations in the supplied files, one line for each place. It returns
// nothing if the files keep the rule.
type rule func(files []file) []string

// A tree maps the names of files to their contents.
type tree map[string]string

// A ruleCase is a tree and the expected violations of a rule in it.
type ruleCase struct {
	reason string
	tree   tree
	want   []string
}

// testRule tests a rule with the supplied cases, then the repository with the rule.
func testRule(t *testing.T, r rule, cases map[string]ruleCase) {
	t.Helper()

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testCase(t, r, tc)
		})
	}

	t.Run("Repository", func(t *testing.T) {
		t.Parallel()
		testRepository(t, r)
	})
}

// testCase tests a rule with a tree.
func testCase(t *testing.T, r rule, tc ruleCase) {
	t.Helper()

	fsys := fstest.MapFS{}
	for name, source := range tc.tree {
		fsys[name] = &fstest.MapFile{Data: []byte(source)}
	}

	files, err := goFiles(fsys)
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(tc.want, r(files)); diff != "" {
		t.Errorf("\n%s\nrule(...): -want, +got:\n%s", tc.reason, diff)
	}
}

// testRepository tests the repository with a rule.
func testRepository(t *testing.T, r rule) {
	t.Helper()

	files, err := goFiles(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}

	for _, complaint := range r(files) {
		t.Error(complaint)
	}
}

func TestGoFiles(t *testing.T) {
	t.Parallel()

	fsys := fstest.MapFS{
		"a/a.go":              {Data: []byte("package a")},
		"a/a_test.go":         {Data: []byte("package a")},
		"a/a.txt":             {Data: []byte("not Go")},
		"a/testdata/x.go":     {Data: []byte("not Go either")},
		"_output/x.go":        {Data: []byte("package x")},
		".hidden/x.go":        {Data: []byte("package x")},
		"hack/tool/go.mod":    {Data: []byte("module tool")},
		"hack/tool/main.go":   {Data: []byte("package main")},
		"hack/demo/main.go":   {Data: []byte("package main")},
		"hack/demo/README.md": {Data: []byte("not Go")},
	}

	files, err := goFiles(fsys)
	if err != nil {
		t.Fatal(err)
	}

	var got []string
	for _, f := range files {
		got = append(got, f.name)
	}

	want := []string{"a/a.go", "a/a_test.go", "hack/demo/main.go"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("goFiles(...): -want, +got:\n%s", diff)
	}
}

// TestRoot ensures that the rules are not kept for lack of files.
func TestRoot(t *testing.T) {
	t.Parallel()

	data, err := os.ReadFile(root + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}

	if line, _, _ := strings.Cut(string(data), "\n"); line != "module "+module {
		t.Errorf("%s/go.mod begins with %q, want %q", root, line, "module "+module)
	}
}
