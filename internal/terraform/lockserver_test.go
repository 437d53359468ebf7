// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// A lockServer is a backend of type http. It keeps a state, and a lock that may have been left
// behind.
type lockServer struct {
	url string

	mu          sync.Mutex
	state, lock []byte
	keeps       bool
	refuses     int // The answer to writes, if not 0.
}

func startLockServer(t *testing.T) *lockServer {
	t.Helper()

	s := &lockServer{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL

	return s
}

// backend that modules keep their state in.
func (s *lockServer) backend() string {
	return fmt.Sprintf("terraform {\n  backend \"http\" {\n    address = %q\n    lock_address = %q\n    unlock_address = %q\n  }\n}\n", s.url, s.url, s.url)
}

func (s *lockServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()

	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case r.Method == http.MethodGet && s.state == nil:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		_, _ = w.Write(s.state)
	case r.Method == http.MethodPost && s.refuses != 0:
		w.WriteHeader(s.refuses)
	case r.Method == http.MethodPost:
		s.state = body
	case r.Method == "LOCK" && s.lock != nil:
		w.WriteHeader(http.StatusLocked)
		_, _ = w.Write(s.lock)
	case r.Method == "LOCK":
		s.lock = body
	case r.Method == "UNLOCK" && s.keeps:
		w.WriteHeader(http.StatusInternalServerError)
	case r.Method == "UNLOCK":
		s.lock = nil
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// leave a lock of the supplied ID and owner.
func (s *lockServer) leave(id, who string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.lock = fmt.Appendf(nil, `{"ID":%q,"Operation":"OperationTypeApply","Who":%q,"Version":"1.0.0","Created":"2020-01-02T03:04:05.678Z","Path":""}`, id, who)
}

// refuse writes of the state with the status code.
func (s *lockServer) refuse(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.refuses = code
}

// keepLocks from now on.
func (s *lockServer) keepLocks() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.keeps = true
}

func (s *lockServer) locked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.lock != nil
}
