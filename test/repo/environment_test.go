// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package repo

import (
	"go/ast"
	"testing"
)

// environment refuses to read the environment before main runs: such a value is the
// same for every instance and every test of the process, and appears in no signature.
func environment(files []file) []string {
	var complaints []string

	for _, f := range files {
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && (fn.Recv != nil || fn.Name.Name != "init") {
				continue
			}

			for _, n := range f.uses(decl, "os", "Environ", "ExpandEnv", "Getenv", "LookupEnv") {
				complaints = append(complaints, f.at(n)+": reads the environment at the start of the program: take the value as an argument")
			}
		}
	}

	return complaints
}

func TestEnvironment(t *testing.T) {
	t.Parallel()

	testRule(t, environment, map[string]ruleCase{
		"Kept": {
			reason: "Functions and methods may read it.",
			tree: tree{
				"a/a.go": `package a
import "os"
var root = os.TempDir()
func f() string { return os.Getenv("A") }
func (a) init() string { return os.Getenv("A") }`,
			},
		},
		"Variable": {
			reason: "A package variable is set before main runs.",
			tree: tree{
				"a/a.go": `package a
import "os"
var dir = os.Getenv("DIR")
var (
	home, ok = os.LookupEnv("HOME")
	all = len(os.Environ())
)`,
			},
			want: []string{
				"a/a.go:3: reads the environment at the start of the program: take the value as an argument",
				"a/a.go:5: reads the environment at the start of the program: take the value as an argument",
				"a/a.go:6: reads the environment at the start of the program: take the value as an argument",
			},
		},
		"Init": {
			reason: "So does init run, and tests are no exception.",
			tree: tree{
				"a/a_test.go": `package a
import "os"
func init() { dir = os.ExpandEnv("$HOME/x") }`,
			},
			want: []string{"a/a_test.go:3: reads the environment at the start of the program: take the value as an argument"},
		},
	})
}
