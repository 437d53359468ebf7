// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	maxWarnings = 100 // The number of warnings of a run that are kept, so that those of a plan and its apply are counted once. All are counted.
	maxTexts    = 5   // The number of those that are shown.
	maxOwn      = 2   // The number of those that are shown beside an error.
	maxWarning  = 256 // The length of the text of one, in bytes.
)

// Warnings are the diagnostics of a run that did not make it fail, without secrets: failed checks first.
type Warnings struct {
	First []Diagnostic // At most 100.
	More  int          // The number of the others.
}

// warned returns the warnings of a run.
func (r *report) warned(ws Workspace) Warnings {
	for _, d := range allUndeclared(r.undeclared) {
		r.warnings.add(d)
	}

	w := Warnings{More: r.warnings.more}
	for _, d := range r.warnings.kept {
		w.First = append(w.First, d.forPeople(ws))
	}

	return w
}

// Texts returns a line of at most 256 bytes for each of the first five warnings, and one that counts the others.
func (w Warnings) Texts() []string {
	shown := w.First[:min(len(w.First), maxTexts)]

	var texts []string
	for _, d := range shown {
		texts = append(texts, d.short(maxWarning))
	}

	if more := w.More + len(w.First) - len(shown); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}

	return texts
}

// WithPlan returns the warnings of an apply together with those of its plan, except those about checks and what they
// read: the apply has evaluated all checks again.
func (w Warnings) WithPlan(p Warnings) Warnings {
	all := firsts[Diagnostic]{order: checksFirst, max: maxWarnings}

	var read []string

	for _, d := range p.First {
		if strings.HasPrefix(d.Context, `check "`) && d.Address != "" {
			read = append(read, d.Address)
		}
	}

	again := func(d Diagnostic) bool {
		// OpenTofu has a second warning, which has the address in its summary only.
		return d.isCheck() || slices.ContainsFunc(read, func(address string) bool { return d.Address == address || strings.HasPrefix(d.Summary, address+":") })
	}

	for _, d := range slices.Concat(w.First, slices.DeleteFunc(slices.Clone(p.First), again)) {
		all.add(d)
	}

	return Warnings{First: all.kept, More: w.More + p.More + all.more}
}

// Own returns at most two of the warnings of an apply that has failed which its plan did not have: a provider may tell there what
// has failed. Those about checks are no reasons.
func (w Warnings) Own(plan Warnings) []string {
	own := slices.DeleteFunc(slices.Clone(w.First), func(d Diagnostic) bool { return d.isCheck() || slices.Contains(plan.First, d) })

	return Warnings{First: own[:min(len(own), maxOwn)]}.Texts()
}

// A diagnostic of a check block has no address. Its summary begins with checkAssertion, in both CLIs.
const checkAssertion = "Check block assertion"

func (d Diagnostic) isCheck() bool { return strings.HasPrefix(d.Summary, checkAssertion) }

// isUnknownCheck reports whether a plan could not evaluate a check yet.
func (d Diagnostic) isUnknownCheck() bool { return d.Summary == checkAssertion+" known after apply" }

var (
	undeclared       = regexp.MustCompile(`^Values? for undeclared variables?$`)
	othersUndeclared = regexp.MustCompile(`(\d+) other variable`)
)

// allUndeclared returns the warnings about values of undeclared variables so that each run with the same values
// has the same ones. The CLI names two of the variables, others in each run, and the number of the rest.
func allUndeclared(warnings []Diagnostic) []Diagnostic {
	for _, d := range warnings {
		if m := othersUndeclared.FindStringSubmatch(d.Detail); m != nil {
			others, _ := strconv.Atoi(m[1])
			d.Detail = fmt.Sprintf("Files of variables have values for %d variables that the root module does not declare.", len(warnings)-1+others)

			return []Diagnostic{d}
		}
	}

	return warnings
}

// configProblems matches the errors in the CLI configuration. The CLI goes on without it, or with a part of it.
var configProblems = regexp.MustCompile(`(?s)There are some problems with the CLI configuration:\n(.*?)\nAs a result of the above problems,`)

// addConfigProblems adds these errors, which the CLI writes to stderr, also with -json.
func (r *report) addConfigProblems(stderr string) {
	m := configProblems.FindStringSubmatch(escapes.ReplaceAllString(stderr, ""))
	if m == nil {
		return
	}

	for _, d := range parseText(m[1]) {
		d.Context = "CLI configuration"
		r.warnings.add(d)
	}
}

// checksFirst orders warnings: checks tell about the infrastructure, and most others about the module.
func checksFirst(a, b Diagnostic) int {
	return cmp.Or(before(a.isCheck(), b.isCheck()), byObject(a, b), cmp.Compare(a.text(), b.text()))
}
