// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxMessage is the length of Error.Error in bytes, which a condition can show.
	maxMessage = 1000
	// maxNamed is the number of diagnostics in it; the others are counted.
	maxNamed = 3
	// maxCrash is the length in bytes of the line in front of it that says why a program crashed.
	maxCrash = 256
	// maxLastLines is the number of lines of stderr in it when there is no diagnostic.
	maxLastLines = 5
)

// An Error is a run that failed. It matches the error of the context that interrupted it, if any.
type Error struct {
	// Op is the subcommand, such as apply or "state pull".
	Op string
	// ExitCode of the process; -1 if it was not started or a signal ended it.
	ExitCode int
	// Diagnostics, or the first 100 of them, and the end of stderr. Unlike the text of Error, they may
	// contain secrets.
	Diagnostics []Diagnostic
	Stderr      string

	// State that the run could neither save nor write to ErroredStateFile, or nil. It contains secrets.
	State []byte

	said        string // The diagnostics without secrets, as one line.
	began       bool   // The run began to process resources,
	applies     bool   // and to change one.
	status      string // How the process ended, for people.
	interrupted error  // The error of the context.
}

// newError returns the error of a run that reported the diagnostics, or wrote them to stderr.
func newError(op string, ws Workspace, res result, reported firsts[Diagnostic]) *Error {
	e := &Error{Op: op, ExitCode: res.code, Diagnostics: reported.kept, Stderr: res.stderr, status: res.status, interrupted: res.interrupted}

	// Parts of a text contain less of a secret than the whole text, so redact the whole first.
	stderr := ws.redacted(res.stderr)
	shown := slices.Clone(reported.kept)

	if len(shown) == 0 {
		e.Diagnostics, shown = parseText(res.stderr), parseText(stderr)
	}

	if d, ok := refusedArguments(op, ws.Env, shown, stderr); ok {
		shown = []Diagnostic{d}
	}

	shown = causes(shown)
	for i, d := range shown {
		// The CLIs do not name the module in whose repository a directory is missing.
		if d.rank() == rankNothing && res.downloading != "" {
			d.Context = fmt.Sprintf("module %q", res.downloading)
		}

		shown[i] = d.forPeople(ws)
		if op == opDestroy {
			shown[i].Detail = ofDestroy.Replace(partialPlan.ReplaceAllString(shown[i].Detail, ""))
		}
	}

	e.said = describe(errorsOf(shown), reported.more)

	if why := crash(op, stderr); why != "" {
		e.said = joined(why, e.said)
	}

	if e.said == "" {
		e.said = Truncate(adviseHere(lastLines(stderr)), maxMessage)
	}

	return e
}

// Error returns one line for a condition: about maxMessage at most, and the same for the same failure.
func (e *Error) Error() string {
	if e.interrupted == nil {
		return cmp.Or(e.said, fmt.Sprintf("%s ended with %s", e.Op, e.status))
	}

	text := "interrupted"
	if e.ExitCode < 0 && e.status != "" {
		text += " (" + e.status + ")" // A killed run may have left its lock.
	}

	late := errors.Is(e.interrupted, context.DeadlineExceeded)
	if late {
		text += ", because its time was up (--timeout)"
	}

	switch {
	case e.said != "":
		text += ": " + e.said
	case late && !e.began && (e.Op == opInit || e.Op == opPlan):
		text += ", and the CLI said nothing: the backend, or another server that the run needs, may not answer"
	}

	return Truncate(text, maxMessage)
}

// Unwrap returns the error of the context that interrupted the run, or nil.
func (e *Error) Unwrap() error { return e.interrupted }

// crashed matches the first line that a Go program writes when it crashes. The CLI repeats that of a provider
// plugin, whose diagnostics say only that it did not respond.
var crashed = regexp.MustCompile(`(?m)^(?:panic|fatal error): .+$`)

// cliCrashed matches what both CLIs write when they recover from a panic of their own: a text for people between two lines, and
// then what they have recovered.
var cliCrashed = regexp.MustCompile(`(?m)^(Terraform|OpenTofu) crashed! (?s:.+?)^!+ [A-Z]+ CRASH !+\s+(.+)$`)

// crash returns why the CLI, or a plugin, has crashed, or an empty text. The stack trace that follows in stderr has other addresses
// each time.
func crash(op, stderr string) string {
	m := cliCrashed.FindStringSubmatch(stderr)
	if m == nil {
		return Truncate(adviseHere(crashed.FindString(stderr)), maxCrash)
	}

	text := Truncate(m[1]+" crashed: "+adviseHere(m[2]), maxCrash) + ". Use another version with spec.forProvider.cli"
	if op == opApply {
		text += ". What it was creating may exist without being in the state"
	}

	return text
}

// describe returns one line with the first diagnostics and the number of the others, with those that are
// not in ds.
func describe(ds []Diagnostic, others int) string {
	named := ds[:min(len(ds), maxNamed)]

	more := ""
	if n := len(ds) - len(named) + others; n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}

	return inOneLine(named, maxMessage-len(more)) + more
}

// inOneLine returns the diagnostics in n bytes at most, each of them with its share: one that is not shown would not be counted, either.
func inOneLine(ds []Diagnostic, n int) string {
	const between = "; "

	n -= len(between) * max(0, len(ds)-1)

	texts, share := make([]string, 0, len(ds)), n/max(1, len(ds))
	spare, long := 0, 0

	for _, d := range ds {
		texts = append(texts, d.String())

		if free := share - len(d.String()); free < 0 {
			long++
		} else {
			spare += free
		}
	}

	for i, d := range ds {
		if len(texts[i]) > share {
			texts[i] = d.short(share + spare/long)
		}
	}

	return strings.Join(texts, between)
}

// logLine matches the lines that the CLI writes to stderr because of TF_LOG. Lines that continue one are indented.
var logLine = regexp.MustCompile(`^(?:\d{4}-\d\d-\d\dT|\{"@level")`)

// lastLines returns the last lines of text that are not empty, as one line.
func lastLines(text string) string {
	var lines []string

	inLog := false

	for line := range strings.Lines(text) {
		inLog = logLine.MatchString(line) || inLog && strings.HasPrefix(line, " ")
		if line = oneLine(line); line != "" && !inLog {
			lines = append(lines, line)
		}
	}

	return strings.Join(lines[max(0, len(lines)-maxLastLines):], " ")
}

// Truncate cuts text to at most n bytes, not within a rune. A text that was cut ends with "...".
func Truncate(text string, n int) string {
	const ellipsis = "..."

	if len(text) <= n {
		return text
	}

	n -= len(ellipsis)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}

	return text[:n] + ellipsis
}
