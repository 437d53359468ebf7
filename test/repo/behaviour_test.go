// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package repo

import (
	"go/ast"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

// behaviour returns the rule that every test exists that the supplied table names. The
// table has a line for each behaviour that users rely on, with three columns: the area,
// the behaviour, and the tests that would fail without it, as DIRECTORY:TEST or
// DIRECTORY:TEST/SUBTEST. The first line has the names of the columns.
func behaviour(table string) rule {
	return func(files []file) []string {
		tests := testsOf(files)

		var complaints []string

		for n, line := range strings.Split(strings.TrimSuffix(table, "\n"), "\n") {
			if n == 0 {
				continue
			}

			at := "line " + strconv.Itoa(n+1)

			columns := strings.Split(line, "\t")
			if len(columns) != 3 || strings.Join(strings.Fields(columns[2]), " ") != columns[2] || columns[2] == "" {
				complaints = append(complaints, at+": want an area, a behaviour and its tests, with a tab between each")

				continue
			}

			for name := range strings.FieldsSeq(columns[2]) {
				if !tests[name] {
					complaints = append(complaints, at+": there is no test "+name)
				}
			}
		}

		return complaints
	}
}

// testsOf returns the names of all tests, as the table has them. Every text in a test
// counts as the name of a subtest, and so does the one of a test that is run as one.
func testsOf(files []file) map[string]bool {
	tests := map[string]bool{}

	for _, f := range files {
		if !f.isTest() {
			continue
		}

		for _, decl := range f.syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") {
				continue
			}

			name := f.dir() + ":" + fn.Name.Name
			tests[name] = true

			ast.Inspect(fn, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok {
					return true
				}

				if text, err := strconv.Unquote(lit.Value); err == nil {
					tests[name+"/"+text] = true
				}

				return true
			})
		}
	}

	return tests
}

func TestBehaviour(t *testing.T) {
	t.Parallel()

	table, err := os.ReadFile(path.Join(root, "test", "behaviour.tsv"))
	if err != nil {
		t.Fatal(err)
	}

	tests := tree{
		"a/a.go": "package a\nfunc TestNone() {}",
		"a/a_test.go": `package a
import "testing"
func TestOne(t *testing.T) { t.Run("Sub", func(t *testing.T) {}) }
func helper(t *testing.T) { t.Run("Other", func(t *testing.T) {}) }
func (x) TestMethod(t *testing.T) {}`,
	}

	for name, tc := range map[string]struct {
		ruleCase

		table string
	}{
		"Kept": {
			table:    "area\tbehaviour\ttests\nA\tIt works.\ta:TestOne a:TestOne/Sub\n",
			ruleCase: ruleCase{reason: "Tests and subtests can be named.", tree: tests},
		},
		"Missing": {
			table: "area\tbehaviour\ttests\nA\tIt works.\ta:TestOne a:TestTwo\nA\tSo does this.\ta:TestOne/Other a:TestNone a:TestMethod b:TestOne\n",
			ruleCase: ruleCase{
				reason: "A test that was renamed or removed leaves a behaviour without one.",
				tree:   tests,
				want: []string{
					"line 2: there is no test a:TestTwo",
					"line 3: there is no test a:TestOne/Other",
					"line 3: there is no test a:TestNone",
					"line 3: there is no test a:TestMethod",
					"line 3: there is no test b:TestOne",
				},
			},
		},
		"Broken": {
			table: "area\tbehaviour\ttests\nA\tIt works.\nA\tSo does this.\t\n\n",
			ruleCase: ruleCase{
				reason: "The table has no behaviour without a test.",
				tree:   tests,
				want: []string{
					"line 2: want an area, a behaviour and its tests, with a tab between each",
					"line 3: want an area, a behaviour and its tests, with a tab between each",
					"line 4: want an area, a behaviour and its tests, with a tab between each",
				},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testCase(t, behaviour(tc.table), tc.ruleCase)
		})
	}

	t.Run("Repository", func(t *testing.T) {
		t.Parallel()
		testRepository(t, behaviour(string(table)))
	})
}
