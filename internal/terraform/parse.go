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
	"unicode"
)

// declaration matches the first line of the block of a variable.
var declaration = regexp.MustCompile(`^\s*variable "([^"]+)"\s*\{`)

// ofState matches texts about resources in the state, which have no address of their own.
var ofState = regexp.MustCompile(`^(?:no schema available for|The current state of) (.+?) (?:while reading state|was created by)`)

// jsonDiagnostic is a diagnostic in the -json output of a run.
type jsonDiagnostic struct {
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
	Detail   string `json:"detail"`
	Address  string `json:"address"`
	Range    struct {
		Filename string `json:"filename"`
		Start    struct {
			Line int `json:"line"`
		} `json:"start"`
	} `json:"range"`
	Snippet struct {
		Context string `json:"context"`
		Code    string `json:"code"`
		Start   int    `json:"highlight_start_offset"` // In Code, as End.
		End     int    `json:"highlight_end_offset"`
		Values  []struct {
			Traversal string `json:"traversal"`
		} `json:"values"`
	} `json:"snippet"`
}

func (j jsonDiagnostic) diagnostic() Diagnostic {
	d := Diagnostic{
		Summary: j.Summary, Detail: j.Detail, Address: j.Address,
		File: j.Range.Filename, Line: j.Range.Start.Line, Context: j.Snippet.Context,
	}

	j.nameValues(&d)

	// Other arguments of a resource take variables in no CLI.
	if strings.HasPrefix(strings.TrimSpace(j.Snippet.Code), "prevent_destroy") {
		d.Detail = strings.Replace(d.Detail, noVariables, strings.TrimSuffix(noVariables, ".")+writeValue, 1)
	}

	// Their order differs from run to run.
	if m := ofState.FindStringSubmatch(cmp.Or(d.Detail, d.Summary)); m != nil {
		d.Address = cmp.Or(d.Address, m[1])
	}

	// The CLIs name neither the variable nor the field, and the first line of a block has no context. A module that the root
	// module calls is in a directory.
	m := declaration.FindStringSubmatch(j.Snippet.Code)
	if m != nil && d.Context == "" && d.Summary == invalidValue && !d.ofCalled() {
		d.Context = fmt.Sprintf("variable %q", m[1])
		d.Detail += fmt.Sprintf("\nCorrect %s in spec.forProvider.vars, varmap or varFiles, or env TF_VAR_%[1]s", m[1])
	}

	return d
}

// nameValues adds the names that an error is about, which the CLIs do not say, or only together with the values. These may be
// secret.
func (j jsonDiagnostic) nameValues(d *Diagnostic) {
	start := min(max(j.Snippet.Start, 0), len(j.Snippet.Code))
	before, marked := j.Snippet.Code[:start], j.Snippet.Code[start:max(start, min(j.Snippet.End, len(j.Snippet.Code)))]

	var keys []string

	for _, v := range j.Snippet.Values {
		switch {
		case v.Traversal == "":
		case strings.HasSuffix(before, v.Traversal): // The values of a call, for example, are not the object.
			d.Detail = strings.Replace(d.Detail, "This object does not have an attribute", v.Traversal+" does not have an attribute", 1)
		case strings.Contains(marked, v.Traversal):
			keys = append(keys, strings.Replace(v.Traversal, "terraform.workspace", "terraform.workspace, the external name of the Workspace", 1))
		}
	}

	if d.Summary == "Invalid index" && keys != nil {
		d.Detail += " The key is made of " + strings.Join(keys, ", and of ") + "."
	}
}

// The text form of a diagnostic:
//
//	Error: Unsupported argument
//
//	  with terraform_data.x,
//	  on main.tf line 3, in resource "terraform_data" "x":
//	   3:   foo = 1
//
//	An argument named "foo" is not expected here.
//
// Summary and detail are wrapped, and with colors all of it is in a box.
var (
	heading    = regexp.MustCompile(`^(?:Error|Warning): (.*)$`)
	bare       = regexp.MustCompile(`^Error loading state: `) // An init of Terraform 1.5 reports a locked state so.
	withObject = regexp.MustCompile(`^  with (.+),$`)
	onLine     = regexp.MustCompile(`^  on (.+) line (\d+)(?:, in (.+))?:$`)
	box        = regexp.MustCompile(`^[╷╵│] ?`)
)

// parseText returns the errors in the stderr of a run without -json.
func parseText(text string) []Diagnostic {
	var (
		ds    []Diagnostic
		block []string
	)

	end := func() {
		if len(block) > 0 && strings.HasPrefix(block[0], "Error: ") {
			ds = append(ds, parseBlock(block))
		}

		block = nil
	}

	for line := range strings.Lines(text) {
		line = box.ReplaceAllString(strings.TrimRight(escapes.ReplaceAllString(line, ""), " \r\n"), "")
		if block == nil && bare.MatchString(line) {
			line = "Error: " + line
		}

		if heading.MatchString(line) {
			end()
		} else if block == nil {
			continue // Text before the first diagnostic.
		}

		block = append(block, line)
	}

	end()

	return ds
}

// parseBlock parses the lines of one diagnostic, the first of which is a heading.
func parseBlock(lines []string) Diagnostic {
	m := heading.FindStringSubmatch(lines[0])
	summary, rest := paragraph(append([]string{m[1]}, lines[1:]...))
	d := Diagnostic{Summary: strings.Join(summary, "\n")}

	where, detail := paragraph(rest)
	for _, line := range where {
		if m := withObject.FindStringSubmatch(line); m != nil {
			d.Address = m[1]
		}

		if m := onLine.FindStringSubmatch(line); m != nil {
			d.File, d.Context = m[1], m[3]
			d.Line, _ = strconv.Atoi(m[2])
		}
	}

	if d.Address == "" && d.File == "" {
		detail = rest // It has no location.
	}

	d.Detail = strings.Trim(strings.Join(detail, "\n"), "\n")

	return d
}

// paragraph splits lines after the first run of lines that are not empty.
func paragraph(lines []string) (first, rest []string) {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}

	if i := slices.Index(lines, ""); i >= 0 {
		return lines[:i], lines[i:]
	}

	return lines, nil
}

// escapes matches the sequences for a terminal that programs use: of colors and the cursor, titles, character sets and keypads.
var escapes = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b\n]*(?:\x07|\x1b\\\\)|[ -/]+[0-~]|[78=>cDEHMNO])")

// onTerminal returns text as a terminal shows it at the end: a return goes back to the begin of the line, as in the steps of a progress.
// The first line of a provisioner begins with its command.
func onTerminal(text string) string {
	text = escapes.ReplaceAllString(text, "")
	if !strings.Contains(text, "\r") {
		return text
	}

	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		lines[i] = line[strings.LastIndex(line, "\r")+1:]

		begin, _, _ := strings.Cut(line, "\r")
		if of := strings.LastIndex(begin, outputOf); of >= 0 && begin != line {
			lines[i] = line[:of+len(outputOf)] + " " + lines[i]
		}
	}

	return strings.Join(lines, "\n")
}

// oneLine returns text as one line of valid UTF-8, with single spaces, as a terminal would show it.
func oneLine(text string) string {
	text = onTerminal(text)
	words := strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })

	return strings.Join(words, " ")
}
