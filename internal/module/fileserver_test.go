// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// A fileServer serves files over HTTP, and counts the files that it sends.
type fileServer struct {
	url string

	mu        sync.Mutex
	content   map[string][]byte
	headers   map[string]http.Header
	requests  []*http.Request
	downloads int

	handle func(w http.ResponseWriter, r *http.Request) bool
}

func newFileServer(t *testing.T) *fileServer {
	t.Helper()

	s := &fileServer{content: map[string][]byte{}, headers: map[string]http.Header{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL

	return s
}

// serve content at a path, with headers as alternating names and values.
func (s *fileServer) serve(path string, content []byte, headers ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.content[path] = content
	s.headers[path] = http.Header{}

	for kv := range slices.Chunk(headers, 2) {
		s.headers[path].Set(kv[0], kv[1])
	}
}

// intercept requests: handle may answer them, and returns whether it did.
func (s *fileServer) intercept(handle func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.handle = handle
}

func (s *fileServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Clone(r.Context()))
	content, ok := s.content[r.URL.Path]
	maps.Copy(w.Header(), s.headers[r.URL.Path])
	handle := s.handle
	s.mu.Unlock()

	if handle != nil && handle(w, r) {
		return
	}

	if !ok {
		http.NotFound(w, r)

		return
	}

	etag, modified := w.Header().Get("ETag"), w.Header().Get("Last-Modified")
	since, _ := http.ParseTime(r.Header.Get("If-Modified-Since"))

	if at, err := http.ParseTime(modified); etag != "" && r.Header.Get("If-None-Match") == etag || etag == "" && err == nil && !at.After(since) {
		w.WriteHeader(http.StatusNotModified)

		return
	}

	s.mu.Lock()
	s.downloads++
	s.mu.Unlock()

	_, _ = w.Write(content)
}

// counts returns the number of requests since the last call, and how many of them were downloads.
func (s *fileServer) counts() (requests, downloads int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	requests, downloads = len(s.requests), s.downloads
	s.requests, s.downloads = nil, 0

	return requests, downloads
}

// expectDownloads fails the test unless there was this number of downloads since the last call.
func (s *fileServer) expectDownloads(t *testing.T, what string, want int) {
	t.Helper()

	if _, got := s.counts(); got != want {
		t.Errorf("downloads %s: want %d, got %d", what, want, got)
	}
}
