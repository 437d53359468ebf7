// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package repo

import (
	"go/ast"
	"slices"
	"testing"
)

// sleeps refuses time.Sleep in tests: it is too short on a slow machine and too long on
// every other one. A fake clock has neither problem: time.Sleep may be used in a function
// that is passed to synctest.Test.
func sleeps(files []file) []string {
	var complaints []string

	for _, f := range files {
		if !f.isTest() {
			continue
		}

		fake := underFakeClock(f)

		for _, n := range f.uses(f.syntax, "time", "Sleep") {
			if !slices.Contains(fake, n) {
				complaints = append(complaints, f.at(n)+": sleeps: wait for the expected condition, or use testing/synctest")
			}
		}
	}

	return complaints
}

// underFakeClock returns where the file sleeps in an argument of synctest.Test.
func underFakeClock(f file) []ast.Node {
	var fake []ast.Node

	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(f.uses(call.Fun, "testing/synctest", "Test")) > 0 {
			fake = append(fake, f.uses(call, "time", "Sleep")...)
		}

		return true
	})

	return fake
}

func TestSleeps(t *testing.T) {
	t.Parallel()

	testRule(t, sleeps, map[string]ruleCase{
		"Kept": {
			reason: "Code may sleep, tests may under a fake clock.",
			tree: tree{
				"a/a.go": `package a
import "time"
func f() { time.Sleep(time.Second) }`,
				"a/a_test.go": `package a
import (
	"testing"
	"testing/synctest"
	"time"
)
func TestF(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { time.Sleep(time.Hour) })
}`,
			},
		},
		"Broken": {
			reason: "A helper or a loop does not change that.",
			tree: tree{
				"a/a_test.go": `package a
import (
	"testing"
	"testing/synctest"
	"time"
)
func TestF(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {})
	for !done() {
		time.Sleep(time.Second)
	}
}
func wait() { time.Sleep(1) }`,
			},
			want: []string{
				"a/a_test.go:10: sleeps: wait for the expected condition, or use testing/synctest",
				"a/a_test.go:13: sleeps: wait for the expected condition, or use testing/synctest",
			},
		},
	})
}
