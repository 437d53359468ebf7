// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/process"
	"github.com/crossplane-contrib/provider-terraform/internal/remedy"
)

// Limits of the output of a run that is kept.
const (
	maxLine   = 4 << 20  // One line; the longest ones hold all outputs.
	maxStderr = 64 << 10 // Only its end says why a run failed.

	// MaxAnswer is the limit of an answer such as a state, in bytes.
	MaxAnswer = 256 << 20
)

// A command describes one run.
type command struct {
	op          string   // Its name in errors.
	args        []string // Without the program.
	inWorkspace bool     // Whether TF_WORKSPACE names the workspace.
	stdin       []byte
}

// environ returns the environment of a command. It is never nil, which os/exec would take for the environment of this
// process.
func (c *CLI) environ(cmd command, ws Workspace) []string {
	env := append([]string{}, ws.Env...)
	if cmd.inWorkspace {
		env = append(env, "TF_WORKSPACE="+ws.name())
	}

	// People mean the commands that work with the module. The others refuse most flags: without this, a state could be
	// neither read nor saved with a flag such as -input=false.
	if value, _ := environ.Lookup(env, allArgs); value != "" && !slices.Contains([]string{opInit, opPlan, opApply, opDestroy}, cmd.op) {
		env = append(env, allArgs+"="+environ.Quote(environ.Flags(environ.Words(value), c.flagsOf(cmd)...)))
	}

	return env
}

// allArgs is the variable with arguments of all commands.
const allArgs = "TF_CLI_ARGS"

// flagsOf returns the flags of a command on the state that people may set for all commands.
func (c *CLI) flagsOf(cmd command) []string {
	var flags []string

	if c.Since(OpenTofu, "1.8.0") {
		flags = append(flags, "-var", "-var-file")
	}

	if cmd.op == opStatePush || cmd.op == opDeleteWorkspace {
		flags = append(flags, "-lock", "-lock-timeout")
	}

	return flags
}

// run returns the output of a command. It is not logged: a state is full of secrets.
func (c *CLI) run(ctx context.Context, ws Workspace, cmd command) ([]byte, error) {
	answer := &limitedBuffer{max: MaxAnswer}

	res, err := c.execute(ctx, ws, cmd, answer, ws.logger(cmd.op))
	if err != nil {
		return nil, err
	}

	if res.code != 0 {
		return nil, newError(cmd.op, ws, res, firsts[Diagnostic]{})
	}

	if answer.overflow {
		return nil, fmt.Errorf("the answer to %q is longer than %d bytes", cmd.op, MaxAnswer)
	}

	return answer.text.Bytes(), nil
}

// runLogged runs a command whose output is for people only. A report passes plain text on.
func (c *CLI) runLogged(ctx context.Context, ws Workspace, cmd command) error {
	_, _, err := c.runJSON(ctx, ws, cmd, nil)

	return err
}

// runJSON runs a command that reports in JSON lines, and logs the text of each line. If the run
// fails, the report is returned with the error.
func (c *CLI) runJSON(ctx context.Context, ws Workspace, cmd command, progress func(Progress)) (*report, result, error) {
	r := newReport(ws.shows(progress))

	log := ws.logger(cmd.op)
	stdout := &lineWriter{max: maxLine, longer: stateLine, line: func(line []byte) { log(r.add(line)) }}

	res, err := c.execute(ctx, ws, cmd, stdout, log)

	stdout.flush()

	res.downloading = r.downloading

	if err == nil && res.failure(cmd) != nil {
		e := newError(cmd.op, ws, res, r.errors)
		e.began, e.applies, e.State = r.began, r.applies, r.state
		err = e
	}

	return r, res, err
}

// A result says how a run ended.
type result struct {
	code        int    // -1 if a signal ended it.
	status      string // For people: "exit status 1", "signal: killed".
	stderr      string // The end of it.
	interrupted error  // The error of the context, if it had ended by then.
	downloading string // The module that an init was downloading when it ended.
}

// execute runs a command to its end. stdout gets the output of the command, and log each line of its
// stderr, at the same time. The error is not nil if there was no run.
//
// When a context ends, the command gets SIGINT. Only the command gets it, not its group: the CLI
// has to communicate with its providers, which are in the group, until the state is saved and the
// lock is released. After the grace period it is killed. When it ends, the rest of its group is
// killed, and what has left the group: providers, and programs that a provisioner started.
func (c *CLI) execute(ctx context.Context, ws Workspace, cmd command, stdout io.Writer, log func(string)) (result, error) {
	ctx, done, err := c.options.Begin(ctx, cmd.op == opApply || cmd.op == opDestroy)
	if err != nil {
		return result{}, &Error{Op: cmd.op, ExitCode: -1, interrupted: errors.Join(context.Canceled, err)}
	}
	defer done()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.options.Stop, cancel)()

	end := &process.Tail{Max: maxStderr, Redact: ws.redacted}
	stderr := &lineWriter{max: maxStderr, line: func(line []byte) {
		_, _ = fmt.Fprintf(end, "%s\n", line)
		log(string(line))
	}}

	run := exec.CommandContext(ctx, c.Path, cmd.args...) //nolint:gosec // Running this program is the purpose of the package.
	run.Dir = ws.Dir
	run.Env = c.environ(cmd, ws)
	run.Stdout = stdout
	run.Stderr = stderr
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}

	if cmd.stdin != nil {
		run.Stdin = bytes.NewReader(cmd.stdin)
	}

	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = c.options.Grace

	if c.options.Stop.Err() != nil {
		cancel() // AfterFunc would cancel, but perhaps only after the start.
	}

	start := time.Now()

	switch started, err := process.Run(run, cmp.Or(ws.Mark, process.NewMark())); {
	case !started && ctx.Err() != nil:
		return result{}, &Error{Op: cmd.op, ExitCode: -1, interrupted: ctx.Err()}
	case errors.Is(err, syscall.E2BIG):
		return result{}, errors.New("the environment is too large for a process: make the values of spec.forProvider.env smaller, or move those of variables (TF_VAR_*) to spec.forProvider.varFiles")
	case !started:
		return result{}, fmt.Errorf("cannot start %q in %q: %w", c.Path, ws.Dir, err)
	case run.ProcessState == nil:
		return result{}, fmt.Errorf("cannot wait for %q: %w", c.Path, err)
	}

	stderr.flush()
	res := result{
		code:        run.ProcessState.ExitCode(),
		status:      run.ProcessState.String(),
		stderr:      end.String(),
		interrupted: ctx.Err(),
	}

	if c.options.Observe != nil {
		c.options.Observe(cmd.op, time.Since(start), res.failure(cmd))
	}

	return res, nil
}

// failure returns why the command counts as failed, or nil.
func (r result) failure(cmd command) error {
	switch {
	case r.code == 0, cmd.op == opPlan && r.code == exitChanges:
		return nil
	case r.interrupted != nil:
		return r.interrupted
	default:
		return errors.New(r.status)
	}
}

// logger returns a function that logs the lines of a text that are not empty, without secrets. stdout and
// stderr call it concurrently. Without a log, the text is not searched for secrets.
//
// A module may call others by addresses with a key or a token, which no Secret has. Init prints them in any text, and
// other commands as adviseHere says.
func (ws Workspace) logger(op string) func(text string) {
	if ws.Log == nil {
		return func(string) {}
	}

	var mu sync.Mutex

	return func(text string) {
		text = ws.redacted(text)
		if op == opInit || ofDownload.MatchString(text) {
			text = remedy.Addresses(text)
		}

		mu.Lock()
		defer mu.Unlock()

		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\r\n"); line != "" {
				ws.Log(line)
			}
		}
	}
}

// A limitedBuffer keeps up to max bytes, and records that there were more: an error would stop the writer.
type limitedBuffer struct {
	// It is not embedded: os/exec would call its ReadFrom, which has no limit.
	text bytes.Buffer

	max      int
	overflow bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > b.max {
		b.overflow = true

		return len(p), nil
	}

	return b.text.Write(p)
}

// A lineWriter calls line for every line that is written to it, without its line break. A line longer than
// max bytes is dropped, or longer than MaxAnswer if it begins with a message that has the text longer.
type lineWriter struct {
	line   func([]byte) // The bytes are valid during the call only.
	max    int
	longer string

	partial []byte
	drop    bool // The current line is too long.
}

func (w *lineWriter) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		text, ended := bytes.CutSuffix(line, []byte("\n"))
		w.append(text)

		if ended {
			w.end()
		}
	}

	return len(p), nil
}

func (w *lineWriter) append(p []byte) {
	if n := len(w.partial) + len(p); w.drop || n > w.max && n > w.limit(p) {
		w.drop, w.partial = true, w.partial[:0]

		return
	}

	w.partial = append(w.partial, p...)
}

// limit returns the length that the current line may have, which goes on with p.
func (w *lineWriter) limit(p []byte) int {
	const begin = 100 // Bytes: longer than the text.

	first := slices.Concat(w.partial[:min(len(w.partial), begin)], p[:min(len(p), begin)])
	if w.longer != "" && bytes.Contains(first, []byte(w.longer)) {
		return MaxAnswer
	}

	return w.max
}

func (w *lineWriter) end() {
	if !w.drop {
		w.line(w.partial)
	}

	w.drop, w.partial = false, w.partial[:0]
}

func (w *lineWriter) flush() {
	if len(w.partial) > 0 {
		w.end()
	}
}
