// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A doorState selects how a door answers requests.
type doorState int

const (
	// doorOpen answers all requests.
	doorOpen doorState = iota

	// doorShut refuses all requests.
	doorShut

	// doorBreaks answers all requests, but breaks downloads off in the middle.
	doorBreaks

	// doorHolds answers no request until the client closes the connection.
	doorHolds
)

// A door is a proxy in front of a server of modules. It counts downloads, which are
// answers with a module in them, and can inject faults. It is safe for concurrent use.
type door struct {
	url     string
	handler http.Handler

	mu        sync.Mutex
	state     doorState
	downloads int
	held      int

	// password that has to be given as that of a user named git, if there is one.
	passwords map[string]string
}

// newDoor serves the supplied handler until the test ends.
func newDoor(t *testing.T, h http.Handler) *door {
	t.Helper()

	d := &door{handler: h, passwords: map[string]string{}}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	d.url = server.URL

	return d
}

// host of the door, with its port.
func (d *door) host() string { return strings.TrimPrefix(d.url, "http://") }

// set how the door answers requests from now on.
func (d *door) set(s doorState) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.state = s
}

// restrict the repository of the supplied name to clients with the password.
func (d *door) restrict(name, password string) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.passwords[name] = password
}

// count returns how many downloads there were, complete or not.
func (d *door) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()

	return d.downloads
}

// waiting returns how many came to a door that held them.
func (d *door) waiting() int {
	d.mu.Lock()
	defer d.mu.Unlock()

	return d.held
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	state := d.state

	if state == doorHolds {
		d.held++
	}

	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	want, restricted := d.passwords[first]
	d.mu.Unlock()

	if _, have, _ := r.BasicAuth(); restricted && have != want {
		w.Header().Set("WWW-Authenticate", `Basic realm="modules"`)
		w.WriteHeader(http.StatusUnauthorized)

		return
	}

	if state == doorHolds {
		<-r.Context().Done()

		return
	}

	if state == doorShut {
		w.WriteHeader(http.StatusServiceUnavailable)

		return
	}

	rec := httptest.NewRecorder()
	d.handler.ServeHTTP(rec, r)

	body := rec.Body.Bytes()
	maps.Copy(w.Header(), rec.Header())
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(rec.Code)

	if isDownload(rec) {
		d.mu.Lock()
		d.downloads++
		d.mu.Unlock()

		if state == doorBreaks {
			// The server ends the connection when the length was a lie.
			body = body[:len(body)/2]
		}
	}

	_, _ = w.Write(body)
}

// isDownload says whether the answer has a module in it: git says a lot before.
func isDownload(rec *httptest.ResponseRecorder) bool {
	if rec.Code != http.StatusOK {
		return false
	}

	return !strings.HasPrefix(rec.Header().Get("Content-Type"), "application/x-git-") || bytes.Contains(rec.Body.Bytes(), []byte("PACK"))
}
