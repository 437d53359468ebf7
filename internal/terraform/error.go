// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// maxMessage is the length of Error.Error in bytes, which a condition can show.
	maxMessage = 1000
	// maxNamed is how many diagnostics it has; the others are counted.
	maxNamed = 3
	// maxLastLines is how many lines of stderr it has when there is no diagnostic.
	maxLastLines = 5
)

// An Error is a run that failed. It matches the error of the context that
// interrupted it, if one did.
type Error struct {
	// Op is the subcommand: init, plan, apply, destroy, "state pull", "workspace
	// delete", version.
	Op string
	// ExitCode of the process; -1 if it was not started or a signal ended it.
	ExitCode int
	// Diagnostics in the order of the run, warnings included. They may hold secrets: they
	// are for this program. Error is the text for people.
	Diagnostics []Diagnostic
	// Stderr is the end of it, which may hold secrets as well.
	Stderr string

	shown       []Diagnostic // The same without secrets.
	shownStderr string       // The same without secrets.
	began       bool         // It got to work on resources.
	status      string       // How the process ended, for people.
	interrupted error        // The error of the context.
}

// newError returns the error of a run in ws that reported the diagnostics, or wrote
// them to stderr.
func newError(op string, ws Workspace, res result, reported []Diagnostic) *Error {
	e := &Error{
		Op:          op,
		ExitCode:    res.code,
		Diagnostics: reported,
		Stderr:      res.stderr,
		shownStderr: ws.redacted(res.stderr),
		status:      res.status,
		interrupted: res.interrupted,
	}
	for _, d := range reported {
		e.shown = append(e.shown, d.redacted(ws.redacted))
	}

	if len(errorsOf(reported)) == 0 {
		e.Diagnostics = append(e.Diagnostics, parseText(e.Stderr)...)
		// Parts of a text have less of a secret than the text.
		e.shown = append(e.shown, parseText(e.shownStderr)...)
	}

	for _, ds := range [][]Diagnostic{e.Diagnostics, e.shown} {
		for i, d := range ds {
			ds[i] = d.relativeTo(ws.Dir)
		}
	}

	return e
}

// Error returns one line for people, in the words of the CLI and fit for a
// condition: no longer than about 1000 bytes, and the same for the same failure.
func (e *Error) Error() string {
	said := e.said()
	if e.interrupted == nil {
		return cmp.Or(said, fmt.Sprintf("%s ended with %s", e.Op, e.status))
	}

	text := "interrupted"
	if e.ExitCode < 0 && e.status != "" {
		text += " (" + e.status + ")" // It may have left its lock behind.
	}

	if said != "" {
		text += ": " + said
	}

	return truncate(text, maxMessage)
}

// Unwrap returns the error of the context that interrupted the run, or nil.
func (e *Error) Unwrap() error { return e.interrupted }

// said returns the text of the CLI about the failure, if there is any.
func (e *Error) said() string {
	ds := errorsOf(e.shown)
	if len(ds) == 0 {
		return truncate(lastLines(e.shownStderr), maxMessage)
	}

	named := make([]string, 0, maxNamed)
	for _, d := range ds[:min(len(ds), maxNamed)] {
		named = append(named, d.String())
	}

	more := ""
	if n := len(ds) - len(named); n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}

	return truncate(strings.Join(named, "; "), maxMessage-len(more)) + more
}

// logLine matches the lines that the CLI writes to stderr because of TF_LOG.
var logLine = regexp.MustCompile(`^\d{4}-\d\d-\d\dT`)

// lastLines returns the last lines of text that say something, as one line.
func lastLines(text string) string {
	var lines []string

	for line := range strings.Lines(text) {
		if line = oneLine(line); line != "" && !logLine.MatchString(line) {
			lines = append(lines, line)
		}
	}

	return strings.Join(lines[max(0, len(lines)-maxLastLines):], " ")
}

// truncate cuts text to at most n bytes, not within a rune.
func truncate(text string, n int) string {
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

// NeedsInit reports whether err is the answer of a CLI to a directory that was not
// initialized, or not for the configuration that is in it now. Init is the remedy,
// with the option State if NeedsStateInit; if the answer is then the same, there
// is none.
func NeedsInit(err error) bool {
	return NeedsStateInit(err) || anyError(err, func(e *Error, d Diagnostic) bool {
		return e.Op != opInit && d.says(
			"nitialization required", // The backend's, or that of the products' cloud.
			"Module not installed",
			"Module source has changed",
			"Module version requirements have changed",
			"Inconsistent dependency lock file",
			"Required plugins are not installed",
			"does not match any of the checksums recorded in the dependency lock file",
		)
	})
}

// NeedsStateInit reports whether err is the answer of a CLI that misses a provider
// which the configuration does not need but the state still does, for resources
// that are no longer in the configuration. See InitOptions.State.
func NeedsStateInit(err error) bool {
	return anyError(err, func(e *Error, d Diagnostic) bool {
		return e.Op != opInit && d.says("This state requires provider", "unavailable provider")
	})
}

// IsBackendChange reports whether err is the refusal to initialize a directory that
// was initialized with another backend. That would leave behind the state there.
func IsBackendChange(err error) bool {
	return anyError(err, func(e *Error, d Diagnostic) bool {
		return e.Op == opInit && d.says("Backend configuration changed")
	})
}

// IsStalePlan reports whether err is the refusal to apply a saved plan because the
// state has changed since. Planning again is the remedy.
func IsStalePlan(err error) bool {
	return anyError(err, func(_ *Error, d Diagnostic) bool {
		return d.says("Saved plan is stale", "Saved plan does not match the given state")
	})
}

// Began reports whether err is that of a destroy that got as far as reading the resources
// in the state, or destroying them: the configuration and the inputs were good enough for
// that.
func Began(err error) bool {
	e := &Error{}

	return errors.As(err, &e) && e.began
}

// LacksWorkspaces reports whether err is the answer of a backend that knows no
// workspace but the one named default.
func LacksWorkspaces(err error) bool {
	return anyError(err, func(_ *Error, d Diagnostic) bool { return d.says("workspaces not supported") })
}

// CannotLoadState reports whether err is that of a run which could not get at the state:
// the backend is away, for example, or refuses the credentials.
func CannotLoadState(err error) bool {
	return anyError(err, func(_ *Error, d Diagnostic) bool { return d.says("error loading state: ") })
}

// anyError reports whether err is an *Error with an error diagnostic that match
// accepts.
func anyError(err error, match func(*Error, Diagnostic) bool) bool {
	e := &Error{}
	if !errors.As(err, &e) {
		return false
	}

	for _, d := range errorsOf(e.Diagnostics) {
		if match(e, d) {
			return true
		}
	}

	return false
}
