// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package fetch downloads a module in a separate process. It has both ends of the pipe to that
// process. Package child has the downloads.
//
// The getters of go-getter, and git, which they run, take their credentials from the environment
// of the process. A process that serves many tenants cannot have an environment for each of them.
// So each fetch is a process of its own, with an environment that is made for that fetch. The program
// calls Serve: see cmd/fetch.
package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/crossplane-contrib/provider-terraform/internal/process"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

const (
	// ProgramName is the name of the program that downloads modules: see cmd/fetch.
	ProgramName = "crossplane-terraform-fetch"

	// command is the argument that makes the program fetch a module.
	command = "fetch-module"

	// Limits of the output of the process.
	maxAnswer = 1 << 20
	maxStderr = 64 << 10

	// outputDelay limits the wait for output after the process has ended. A program that left its
	// process group, as ssh does to share a connection, may keep the pipe open for hours.
	outputDelay = 2 * time.Second
)

// A Request says what to fetch. It is passed through a pipe, so that it does not appear in the
// arguments of any process.
type Request struct {
	// Address of the module: any address of go-getter for a directory, except relative paths.
	Address string `json:"address,omitempty"`

	// Artifact to fetch instead of an address.
	Artifact *Artifact `json:"artifact,omitempty"`

	// Known is the revision that an earlier fetch of the same address returned. If the source
	// still has that revision, nothing is downloaded. It is empty to download any revision.
	Known string `json:"known,omitempty"`

	// RevisionOnly asks for the revision only. A source that does not tell its revision without a
	// download is downloaded nevertheless.
	RevisionOnly bool `json:"revisionOnly,omitempty"`

	// GitCredentials is the content of a .git-credentials file. If it is not empty, or the address
	// has credentials, git uses none of the configured credential helpers: a helper would learn
	// the credentials of another tenant.
	GitCredentials []byte `json:"gitCredentials,omitempty"`

	// Dir is an empty directory. It belongs to the fetch until the fetch ends, and the caller
	// removes it afterwards. It may contain credentials.
	Dir string `json:"dir"`

	// Private is a directory of this machine from which nothing may be fetched: it has the
	// modules, states and credentials of other tenants. Dir is below it.
	Private string `json:"private"`

	// Redact, if not nil, hides secrets in errors, before they are cut. It must ignore white
	// space. The process of the fetch does not know the secrets.
	Redact func(text string) string `json:"-"`
}

// An Artifact is a file that a Flux source offers for download.
type Artifact struct {
	// URL of a .tar.gz file, HTTP or HTTPS.
	URL string `json:"url"`

	// Digest of the file: algorithm, colon, hexadecimal digits.
	Digest string `json:"digest"`
}

// CommitPrefix begins the revision of a source with a known commit.
const CommitPrefix = "commit "

// Immutable reports whether an address with this revision has it for ever: the address contains
// the full name of the commit.
func Immutable(address, revision string) bool {
	commit, ok := strings.CutPrefix(revision, CommitPrefix)
	_, query, _ := strings.Cut(address, "?")

	return ok && slices.Contains(strings.Split(query, "&"), "ref="+commit)
}

// A Result is the result of a fetch.
type Result struct {
	// Dir contains the complete download, and nothing else. It is below the directory of the
	// request. It is empty if nothing was downloaded: the source still has the known revision, or
	// only the revision was requested.
	Dir string `json:"dir,omitempty"`

	// Sub is the directory of the module in Dir. It may be a pattern.
	Sub string `json:"sub,omitempty"`

	// Source is the address without that directory. It may contain credentials.
	Source string `json:"source,omitempty"`

	// Revision of the source right before or during the download. The same source with the same
	// revision has the same files. It is empty if the source does not tell it, so that every fetch
	// is a download.
	Revision string `json:"revision,omitempty"`
}

// An answer is the output of the process.
type answer struct {
	Result

	Error string `json:"error,omitempty"`
}

// Program returns the path of the program that downloads modules. It is in the directory of the
// program that is running.
func Program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find the program that is running: %w", err)
	}

	return filepath.Join(filepath.Dir(self), ProgramName), nil
}

// Run fetches a module. program is the path of a program that calls Serve. env is the environment of
// the fetch. Run only replaces what would make git ask for input, or use other directories, repositories
// or credentials than those of this fetch.
//
// When ctx ends, the process is killed, and with it git and all other programs that it started.
// The same happens when this process dies. The error is one line, without credentials.
func Run(ctx context.Context, program string, env []string, r Request) (Result, error) {
	env, err := environment(env, r.Dir)
	if err != nil {
		return Result{}, err
	}

	request, err := json.Marshal(r)
	if err != nil {
		return Result{}, fmt.Errorf("cannot encode request: %w", err)
	}

	stdout, stderr := &process.Tail{Max: maxAnswer}, &process.Tail{Max: maxStderr}

	run := exec.CommandContext(ctx, program, command)
	run.Dir = r.Dir
	run.Env = env
	run.Stdin = bytes.NewReader(request)
	run.Stdout = stdout
	run.Stderr = stderr
	// A separate session is also a separate process group, and has no terminal at which ssh could
	// ask for a passphrase. The process ends its group when it gets SIGTERM.
	run.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
	run.WaitDelay = outputDelay

	// A maintenance of the repository may outlive git: killed, it would leave locks of git behind.
	started, err := process.Run(run, "")

	a := answer{}
	isAnswer := json.Unmarshal([]byte(stdout.String()), &a) == nil

	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Result{}, fmt.Errorf("interrupted, because its time was up (--timeout): %w", ctx.Err())
	case ctx.Err() != nil:
		return Result{}, fmt.Errorf("interrupted: %w", ctx.Err())
	case !started:
		return Result{}, fmt.Errorf("cannot start %q: it must be beside the program of the provider, as in the image: %w", program, err)
	case isAnswer && a.Error != "":
		return Result{}, errors.New(r.message(a.Error))
	case isAnswer:
		return a.Result, nil
	case run.ProcessState == nil:
		return Result{}, fmt.Errorf("cannot wait for %q: %w", program, err)
	case outOfMemory.MatchString(stderr.String()):
		return Result{}, fmt.Errorf("the fetch needs more than %s of memory, which is the limit: use a smaller module, or another format of archive", regular.Size(maxMemory))
	}

	return Result{}, fmt.Errorf("the fetch ended without an answer: %s: %s", run.ProcessState, r.message(stderr.String()))
}
