// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A stuckServer accepts requests and never answers.
type stuckServer struct {
	url string

	// arrived gets a value for every request, and gone one when its client has disconnected.
	arrived, gone chan struct{}
}

func newStuckServer(t *testing.T) *stuckServer {
	t.Helper()

	s := &stuckServer{arrived: make(chan struct{}, 10), gone: make(chan struct{}, 10)}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s.arrived <- struct{}{}

		<-r.Context().Done()

		s.gone <- struct{}{}
	}))
	t.Cleanup(server.Close)
	s.url = server.URL

	return s
}

func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()

	select {
	case <-c:
	case <-time.After(20 * time.Second):
		t.Fatalf("waited too long: %s", what)
	}
}

// TestInterrupted ends the context of a fetch while git waits for a server.
func TestInterrupted(t *testing.T) {
	t.Parallel()

	s := newStuckServer(t)
	ok := newGitServer(t)
	ok.repo(t, "repo", files{"main.tf": "m"})

	for _, address := range []string{"git::" + s.url + "/repo", s.url + "/module.tar.gz"} {
		p := newPlace(t, "git::"+ok.url+"/repo")
		p.ensure(t)
		p.request.Parameters.Module = address

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)

		go func() {
			_, err := p.fetcher.Ensure(ctx, p.request)
			done <- err
		}()

		await(t, "the request of "+address, s.arrived)
		cancel()

		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Ensure(...): want %v, got %v", context.Canceled, err)
		}

		await(t, "the program that made the request ends", s.gone)
		p.expect(t, files{"main.tf": "m"})
	}
}

// TestParentDies kills the process that fetches, while git waits for a server.
func TestParentDies(t *testing.T) {
	t.Parallel()

	s := newStuckServer(t)

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	parent := exec.CommandContext(t.Context(), self)
	parent.Env = environment(t, parentAddress+"=git::"+s.url+"/repo", parentRoot+"="+t.TempDir())
	parent.Stdout, parent.Stderr = os.Stdout, os.Stderr
	parent.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}

	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}

	await(t, "the request", s.arrived)

	_ = parent.Process.Kill()
	_ = parent.Wait()

	await(t, "git ends", s.gone)
}

// TestBrokenClone cuts the connection in the middle of a clone.
func TestBrokenClone(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "repo", files{"main.tf": "1"})

	var broken atomic.Bool

	s.before = func(w http.ResponseWriter, _ *http.Request, fetching bool) {
		if broken.Load() && fetching {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
			_, _ = io.WriteString(w, "000dpackfile\n")
			_ = http.NewResponseController(w).Flush()

			panic(http.ErrAbortHandler)
		}
	}

	p := newPlace(t, "git::"+s.url+"/repo")
	p.ensure(t)
	r.commit(t, files{"main.tf": "2"})

	broken.Store(true)
	p.ensureFails(t)
	p.expect(t, files{"main.tf": "1"})

	// It counts as an old module, and is replaced as soon as possible.
	broken.Store(false)
	p.ensure(t)
	p.expect(t, files{"main.tf": "2"})
}
