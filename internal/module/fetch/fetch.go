// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package fetch downloads a module in a process of its own.
//
// The getters of go-getter take their credentials from the environment of the process,
// and so does git, which they run. A process that serves many tenants cannot have an
// environment for each of them. So the program starts itself again for each fetch, with
// an environment that is made for that fetch. A program that uses this package calls Main
// first of all when it starts.
package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/process"
)

const (
	// command is the argument that makes the program fetch a module.
	command = "fetch-module"

	// moduleDir is where in Request.Dir everything that was downloaded is in the end.
	moduleDir = "module"

	// Limits of the output of the process that is kept.
	maxAnswer = 1 << 20
	maxStderr = 64 << 10

	// outputDelay is how long to wait for output after the process has ended. A program
	// that left its process group, as ssh does to share a connection, may keep the pipe
	// open for hours.
	outputDelay = 2 * time.Second
)

// A Request says what to fetch. It is handed over through a pipe: nothing of it
// appears among the arguments of any process.
type Request struct {
	// Address of the module: anything that go-getter takes for a directory, but for
	// relative paths.
	Address string `json:"address,omitempty"`

	// Artifact to fetch instead of an address.
	Artifact *Artifact `json:"artifact,omitempty"`

	// Known is the revision that an earlier fetch of the same address returned. If the
	// source still has that revision, nothing is downloaded. Empty to download any
	// revision.
	Known string `json:"known,omitempty"`

	// Look asks for the revision only. A source that cannot tell its revision without a
	// download is downloaded all the same.
	Look bool `json:"look,omitempty"`

	// GitCredentials is the content of a .git-credentials file. When there is any, or
	// when the address has credentials, git uses none of the configured credential
	// helpers: a helper would learn the credentials of another tenant.
	GitCredentials []byte `json:"gitCredentials,omitempty"`

	// Dir is an empty directory. It belongs to the fetch until that is over; the
	// caller removes it then. It may hold credentials.
	Dir string `json:"dir"`

	// Private is a directory of this machine that must not be fetched from: it has the
	// modules, states and credentials of other tenants. Dir is below it.
	Private string `json:"private"`

	// Redact, if not nil, hides secrets in errors, before they are cut. It must ignore
	// white space. The process that fetches does not know which texts are secret.
	Redact func(text string) string `json:"-"`
}

// An Artifact is a file that a Flux source offers for download.
type Artifact struct {
	// URL of a .tar.gz file, HTTP or HTTPS.
	URL string `json:"url"`

	// Digest of the file: algorithm, colon, hexadecimal digits.
	Digest string `json:"digest"`
}

// A Result is the result of a fetch.
type Result struct {
	// Dir holds everything that was downloaded, and nothing else. It is below the
	// directory of the request. Empty if nothing was downloaded: the source still has the
	// known revision, or the request was to look only.
	Dir string `json:"dir,omitempty"`

	// Sub is the directory of the module in Dir. It may be a pattern.
	Sub string `json:"sub,omitempty"`

	// Source is the address without that directory, and without a ref of git. It may
	// contain credentials.
	Source string `json:"source,omitempty"`

	// Revision that the source had right before or while it was downloaded. The same
	// source with the same revision has the same files. Empty if it cannot be told, so
	// that every fetch is a download.
	Revision string `json:"revision,omitempty"`
}

// An answer is the output of the process.
type answer struct {
	Result

	Error string `json:"error,omitempty"`
}

// Run fetches a module. The program is the path of this one, or of another that calls
// Main; env is the environment of the fetch. Run adds only settings to it that keep git
// from asking for input.
//
// When ctx ends, the process is killed, and with it git and all other programs that it
// started. The same happens when this process dies. The error is one line, and has none
// of the credentials in it.
func Run(ctx context.Context, program string, env []string, r Request) (Result, error) {
	if os.Getenv(marker) != "" {
		return Result{}, errors.New("cannot fetch inside of a fetch: the program does not call fetch.Main when it starts")
	}

	env, err := environment(env, r.Dir)
	if err != nil {
		return Result{}, err
	}

	request, err := json.Marshal(r)
	if err != nil {
		return Result{}, errors.Wrap(err, "cannot encode what to fetch")
	}

	a, err := execute(ctx, program, env, r, request)
	switch {
	case ctx.Err() != nil:
		return Result{}, errors.Wrap(ctx.Err(), "interrupted")
	case err != nil:
		return Result{}, err
	case a.Error != "":
		return Result{}, errors.New(r.message(a.Error))
	}

	return a.Result, nil
}

// execute runs the process to its end.
func execute(ctx context.Context, program string, env []string, r Request, request []byte) (answer, error) {
	stdout, stderr := &process.Tail{Max: maxAnswer}, &process.Tail{Max: maxStderr}

	run := exec.CommandContext(ctx, program, command) //nolint:gosec // It is this program.
	run.Dir = r.Dir
	run.Env = env
	run.Stdin = bytes.NewReader(request)
	run.Stdout = stdout
	run.Stderr = stderr
	// A session of its own is a process group of its own, and has no terminal at
	// which ssh could ask for a passphrase. The process ends its group when it gets
	// SIGTERM.
	run.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
	run.Cancel = func() error { return unix.Kill(-run.Process.Pid, unix.SIGKILL) }
	run.WaitDelay = outputDelay

	started, err := process.Run(run)
	if !started {
		return answer{}, errors.Wrapf(err, "cannot start %q", program)
	}

	a := answer{}
	if json.Unmarshal([]byte(stdout.String()), &a) == nil {
		return a, nil
	}

	if run.ProcessState == nil {
		return answer{}, errors.Wrapf(err, "cannot wait for %q", program)
	}

	return answer{}, errors.Errorf("the fetch ended without an answer: %s: %s", run.ProcessState, r.message(stderr.String()))
}
