// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package infrastructure is a cloud for tests. Modules create and destroy things in it with HTTP
// requests. It counts them, so that a test can say that a thing was created once, and destroyed
// once. A test can hold the requests for a thing: then the apply that sends them is in progress
// until the test lets it continue.
package infrastructure

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// Path is the path of the thing of the supplied name. A PUT request creates the thing, and a DELETE
// request destroys it. The query has the host of the client: ?by=<host>.
func Path(name string) string { return "/things/" + name }

// A History says what was done to a thing. Its lists have the hosts of the clients.
type History struct {
	Created, Destroyed []string

	// Overlaps describes requests that arrived while another one was in progress.
	Overlaps []string
}

// Once returns an error unless the thing was created exactly once, and destroyed as often as the
// caller says, and never two clients worked on it at the same time.
func (h History) Once(destroyed int) error {
	if len(h.Created) != 1 || len(h.Destroyed) != destroyed || len(h.Overlaps) > 0 {
		return fmt.Errorf("want it to be created once and destroyed %d times: created by %q, destroyed by %q, at the same time: %q",
			destroyed, h.Created, h.Destroyed, h.Overlaps)
	}

	return nil
}

// A thing and the requests for it.
type thing struct {
	history History

	// working are the hosts of the requests in progress.
	working []string

	// held is closed when requests may continue. It is nil if they are not held.
	held chan struct{}
}

// Infrastructure has the things. Its zero value is empty and ready for use.
type Infrastructure struct {
	mu     sync.Mutex
	things map[string]*thing
}

// Handler answers the requests of modules.
func (i *Infrastructure) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT "+Path("{name}"), i.change(func(h *History, host string) { h.Created = append(h.Created, host) }))
	mux.HandleFunc("DELETE "+Path("{name}"), i.change(func(h *History, host string) { h.Destroyed = append(h.Destroyed, host) }))

	return mux
}

// change handles a request that changes a thing. A client that ends while its request is held has
// changed nothing.
func (i *Infrastructure) change(note func(*History, string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name, host := r.PathValue("name"), r.URL.Query().Get("by")

		held := i.begin(name, host)
		defer i.end(name, host)

		select {
		case <-held:
		case <-r.Context().Done():
			return
		}

		i.mu.Lock()
		defer i.mu.Unlock()

		note(&i.thing(name).history, host)
		w.WriteHeader(http.StatusNoContent)
	}
}

// begin records that a request is in progress, and returns a channel that is closed when it may
// continue.
func (i *Infrastructure) begin(name, host string) <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()

	t := i.thing(name)
	for _, other := range t.working {
		t.history.Overlaps = append(t.history.Overlaps, other+" and "+host)
	}

	t.working = append(t.working, host)

	if t.held != nil {
		return t.held
	}

	open := make(chan struct{})
	close(open)

	return open
}

func (i *Infrastructure) end(name, host string) {
	i.mu.Lock()
	defer i.mu.Unlock()

	t := i.thing(name)
	at := slices.Index(t.working, host)
	t.working = slices.Delete(t.working, at, at+1)
}

// thing returns the thing of the supplied name. The caller has locked mu.
func (i *Infrastructure) thing(name string) *thing {
	if i.things == nil {
		i.things = map[string]*thing{}
	}

	if i.things[name] == nil {
		i.things[name] = &thing{}
	}

	return i.things[name]
}

// Hold holds the next requests for the named thing. The returned function lets them continue.
func (i *Infrastructure) Hold(name string) (release func()) {
	i.mu.Lock()
	defer i.mu.Unlock()

	held := make(chan struct{})
	i.thing(name).held = held

	return sync.OnceFunc(func() {
		i.mu.Lock()
		defer i.mu.Unlock()

		close(held)
		i.thing(name).held = nil
	})
}

// Working returns the hosts whose requests for the named thing are in progress.
func (i *Infrastructure) Working(name string) []string {
	i.mu.Lock()
	defer i.mu.Unlock()

	return slices.Clone(i.thing(name).working)
}

// History returns what was done to the named thing.
func (i *Infrastructure) History(name string) History {
	i.mu.Lock()
	defer i.mu.Unlock()

	h := i.thing(name).history

	return History{Created: slices.Clone(h.Created), Destroyed: slices.Clone(h.Destroyed), Overlaps: slices.Clone(h.Overlaps)}
}
