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

// A Diagnostic is one problem that made a run fail, or that the run warned of. All but the first field may be empty. Its
// texts are the CLI's own, with line breaks.
type Diagnostic struct {
	Summary string
	Detail  string
	Address string // Of the resource instance.
	File    string // Relative to the root module.
	Line    int    // 0 if none is known.
	Context string // The block that the line is in: resource "aws_vpc" "main".
}

// String returns the diagnostic as one line: first the place, and then the cause, because tools such as
// crossplane beta trace show the end of a message.
func (d Diagnostic) String() string { return joined(d.place(), d.text()) }

// short returns the diagnostic as one line of at most n bytes, with its place.
func (d Diagnostic) short(n int) string {
	if text := d.String(); len(text) <= n {
		return text
	}

	place := Truncate(d.place(), n/2)
	if place != "" {
		n -= len(place) + len(separator)
	}

	return joined(place, Truncate(d.text(), n))
}

func (d Diagnostic) text() string { return joined(d.Summary, d.Detail) }

// place returns where the problem is, or an empty text.
func (d Diagnostic) place() string {
	place, line := d.File, ":"
	if place == "<empty>" { // The CLIs have it for a provider without a provider block.
		place = ""
	}

	if strings.HasPrefix(place, "spec.") { // A field, see Workspace.Origin.
		line = ", line "
	}

	if place != "" && d.Line > 0 {
		place += line + strconv.Itoa(d.Line)
	}

	// The address of a resource has all that the context of its line has.
	return joined(place, cmp.Or(d.Address, d.Context))
}

const (
	separator = ": "
	cycle     = "Cycle: " // Begins the summary of a dependency cycle.
)

// joined returns the texts that are not empty as one line.
func joined(texts ...string) string {
	var parts []string

	for _, text := range texts {
		if text = oneLine(text); text != "" {
			parts = append(parts, text)
		}
	}

	return strings.Join(parts, separator)
}

// says reports whether the summary or the detail contains one of the texts.
func (d Diagnostic) says(texts ...string) bool {
	summary, detail := oneLine(d.Summary), oneLine(d.Detail)

	return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(summary, s) || strings.Contains(detail, s) })
}

// fileName matches the names of files that people may know by another name: see Workspace.Origin. With adviceOn, it is a name that
// advice has, with its field.
var fileName = regexp.MustCompile(`[\w./-]*\.(?:tf|tfvars|tfbackend|terraformrc)(?:\.json)?\b(?:` + regexp.QuoteMeta(adviceOn) + `)?`)

const adviceOn = " in spec.credentials"

// forPeople returns the diagnostic without secrets, without the path of the workspace, and without advice
// that does not apply to a Workspace. It names the fields that its files were written from.
func (d Diagnostic) forPeople(ws Workspace) Diagnostic {
	for _, text := range []*string{&d.Summary, &d.Detail, &d.Address, &d.File, &d.Context} {
		*text = ws.redacted(*text)
	}

	if prefix := strings.TrimSuffix(ws.Dir, "/") + "/"; prefix != "/" {
		d.Summary = strings.ReplaceAll(d.Summary, prefix, "")
		d.Detail = strings.ReplaceAll(d.Detail, prefix, "")
		d.File = strings.TrimPrefix(d.File, prefix)
	}

	d.Summary, d.Detail = adviseHere(oneLine(d.Summary)), adviseUnexpected(shortOutput(adviseHere(oneLine(d.Detail))), d.Context)
	d.Detail = adviseRemoteState(d.Detail, d.Address)

	// The CLIs name the objects of a cycle in another order in each run.
	if objects, ok := strings.CutPrefix(d.Summary, cycle); ok {
		d.Summary = cycle + strings.Join(slices.Sorted(slices.Values(strings.Split(objects, ", "))), ", ")
	}

	switch refused := strings.HasSuffix(d.Detail, noVariables); {
	case refused && strings.HasSuffix(d.File, ".tfbackend"):
		d.Detail = strings.TrimSuffix(d.Detail, ".") + ": write the value itself, in quotes. Each Workspace has a state of its own there, and OpenTofu takes variables."
	case strings.HasSuffix(d.File, ".tfbackend") && strings.HasSuffix(d.Detail, " are not expected here."):
		d.Detail = strings.TrimSuffix(d.Detail, ".") + ": this field has the arguments of the backend only. Put blocks into spec.configuration."
	case refused && d.isOfValue():
		d.Detail = strings.TrimSuffix(d.Detail, ".") + ": text without quotes is read as one, and so is ${...} in text, for which write $${."
	case refused && takesVariables.MatchString(d.Context):
		d.Detail = strings.TrimSuffix(d.Detail, ".") + writeValue
	}

	if ws.Origin == nil {
		return d
	}

	return d.withFields(ws)
}

// ofCalled says whether the file is one of a module that the root module calls, which is in a directory.
func (d Diagnostic) ofCalled() bool { return strings.Contains(d.File, "/") }

// withFields returns the diagnostic with the fields that the files were written from, in place of their names.
func (d Diagnostic) withFields(ws Workspace) Diagnostic {
	if field, line := ws.Origin(d.File, d.Line); field != "" {
		d.File, d.Line = field, line
	}

	if strings.HasPrefix(d.File, "spec.forProvider.varFiles[") {
		d.Context = "" // Such a file has no blocks: it is a part of a value.

		if d.Line == 1 && d.says("Argument or block definition required", "Invalid block definition", "Invalid expression", "Missing newline after argument") {
			d.Detail = strings.TrimSuffix(d.Detail, ".") + ". The key must hold a file with lines name = value. " + OneValue
		}
	}

	for _, text := range []*string{&d.Summary, &d.Detail} {
		if ofProvisioner(*text) {
			continue // A provisioner has files of its own.
		}

		*text = fileName.ReplaceAllStringFunc(*text, func(name string) string {
			if strings.HasSuffix(name, adviceOn) {
				return name
			}

			field, _ := ws.Origin(name, 0)

			return cmp.Or(field, name)
		})
	}

	return d
}

// OneValue is what to do with a key of a Secret that is no file of variables, but a password, for example.
const OneValue = "For one value, set env TF_VAR_<name> with secretKeyRef or configMapKeyRef"

const (
	noVariables = "Variables may not be used here."
	writeValue  = ": write the value itself. Other versions or products take variables there, and spec.forProvider.cli chooses one."
)

// takesVariables matches the blocks in which a newer CLI, or OpenTofu, takes variables.
var takesVariables = regexp.MustCompile(`^(?:terraform|module "[^"]*"|import)$`)

// How the detail of the failure of a provisioner begins, and what is in front of its output.
const (
	runningCommand = "Error running command '"
	outputOf       = ". Output:"
)

// ofProvisioner says whether a detail is that of a provisioner, whose command and output may have any text.
func ofProvisioner(detail string) bool {
	return strings.HasPrefix(detail, runningCommand) && strings.Contains(detail, outputOf)
}

// withoutOutput returns a detail without the output of a provisioner. The log has each line of it before. Here it is only the end,
// which may begin within a secret.
func withoutOutput(detail string) string {
	if ofProvisioner(detail) {
		detail, _, _ = strings.Cut(detail, outputOf)
	}

	return detail
}

// output matches such a detail. The command and the output may be long, or the output empty.
var output = regexp.MustCompile(`^(` + runningCommand + `)(.*)(': .*?` + regexp.QuoteMeta(outputOf) + ` ?)(.*)$`)

// shortOutput returns the detail with the beginning of the command and the end of the output: that is where the cause is.
func shortOutput(detail string) string {
	const maxCommand, maxOutput = 200, 400

	m := output.FindStringSubmatch(detail)
	if m == nil {
		return detail
	}

	if start := len(m[4]) - maxOutput; start > 0 {
		m[4] = "..." + strings.ToValidUTF8(m[4][start:], "")
	}

	return m[1] + Truncate(m[2], maxCommand) + m[3] + m[4]
}

// valueOf begins the place of an error in the value of a variable that is not in a file. Its name follows.
const valueOf = "<value for var."

var variableName = regexp.MustCompile(`^[\w-]*`)

// isOfValue says whether the diagnostic is about the value of a variable, of an argument or of the environment, or in a
// file of variables or of a backend.
func (d Diagnostic) isOfValue() bool {
	return strings.HasPrefix(d.File, valueOf) || strings.HasSuffix(d.File, ".tfvars") || strings.HasSuffix(d.File, ".tfbackend")
}

// IsInvalid reports whether a validation refuses the value of a variable of the module.
func IsInvalid(err error, variable string) bool {
	return anyError(err, func(d Diagnostic) bool {
		return d.Summary == invalidValue && d.Context == fmt.Sprintf("variable %q", variable)
	})
}

// IsUnsuitable reports whether the value of a variable of the module cannot be converted to its type.
func IsUnsuitable(err error, variable string) bool {
	unsuitable := regexp.MustCompile(`not suitable for var\.` + regexp.QuoteMeta(variable) + `[,\s]`)

	return anyError(err, func(d Diagnostic) bool {
		return d.Summary == "Invalid value for input variable" && unsuitable.MatchString(d.Detail)
	})
}

// invalidValue is the summary about a value that a validation of its variable refuses.
const invalidValue = "Invalid value for variable"

// noValue is the summary about a variable without a value, in both CLIs.
const noValue = "No value for required variable"

// concludes says whether the other diagnostics are about ways of which one would do.
func (d Diagnostic) concludes() bool {
	return strings.HasPrefix(d.Summary, "No valid azure auth methods found")
}

// preamble introduces the errors of an init.
var preamble = regexp.MustCompile(`^(Terraform|OpenTofu) encountered problems during initiali[sz]ation`)

// errorsOf returns the diagnostics of a run, each once, in a stable order: the CLI processes objects
// in any order. Diagnostics without an object come last, in the order of the run, after their conclusion.
func errorsOf(diagnostics []Diagnostic) []Diagnostic {
	var ds []Diagnostic
	for _, d := range diagnostics {
		if !preamble.MatchString(d.Summary) && !slices.Contains(ds, d) {
			ds = append(ds, d)
		}
	}

	slices.SortStableFunc(ds, byObject)

	return ds
}

// causes returns the diagnostics without those that only follow from others: a variable has no value if there is an error in
// the text with its value, or in a file with values; what is no JSON has no version of a state, and no encryption; and OpenTofu adds that a
// data source cannot read a state to why.
func causes(ds []Diagnostic) []Diagnostic {
	follows := func(d, cause Diagnostic) bool {
		switch {
		case d.Summary == noValue:
			name, ofValue := strings.CutPrefix(cause.File, valueOf)

			return strings.HasSuffix(cause.File, ".tfvars") && cause.Summary != "Invalid value for input variable" ||
				ofValue && d.says(`"`+variableName.FindString(name)+`"`)
		case d.says(`does not have a "version" attribute`, "can not be checked for presence of encryption"):
			// One diagnostic may have both texts: it is the cause.
			return !d.says(noJSON) && d.Address == cause.Address && cause.says(noJSON)
		case d.Summary == "Unable to read remote state" && d.Detail == "":
			return strings.Contains(cause.Address, d.Address) && cause != d
		default:
			return false
		}
	}

	return slices.DeleteFunc(slices.Clone(ds), func(d Diagnostic) bool {
		return slices.ContainsFunc(ds, func(cause Diagnostic) bool { return follows(d, cause) })
	})
}

// noJSON is in what the CLIs say about a file that is no state.
const noJSON = "could not be parsed as JSON"

// byObject orders diagnostics by the object that they are about. Those without one are equal, except for their conclusion.
func byObject(a, b Diagnostic) int {
	if a.rank() == rankNothing && b.rank() == rankNothing {
		return before(a.concludes(), b.concludes())
	}

	return cmp.Or(
		cmp.Compare(a.rank(), b.rank()),
		cmp.Compare(a.Address, b.Address),
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.text(), b.text()),
	)
}

// byWeight orders errors so that those without an object come first. One of them may say that the state
// was not saved. The errors of many resources must not displace it.
func byWeight(a, b Diagnostic) int {
	return cmp.Or(before(a.rank() == rankNothing, b.rank() == rankNothing), byObject(a, b))
}

// The kinds of objects of diagnostics, in the order of the message.
const (
	rankResource = iota
	rankLine
	rankNothing
)

func (d Diagnostic) rank() int {
	switch {
	case d.Address != "":
		return rankResource
	case d.File != "":
		return rankLine
	}

	return rankNothing
}
