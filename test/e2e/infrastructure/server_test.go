// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package infrastructure

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// A fixture is an Infrastructure and its server.
type fixture struct {
	Infrastructure

	url string
}

func start(t *testing.T) *fixture {
	t.Helper()

	f := &fixture{}

	s := httptest.NewServer(f.Handler())
	t.Cleanup(s.Close)

	f.url = s.URL

	return f
}

// send sends a request, and returns a channel with its result.
func (f *fixture) send(ctx context.Context, method, name, host string) <-chan error {
	done := make(chan error, 1)

	go func() {
		req, err := http.NewRequestWithContext(ctx, method, f.url+Path(name)+"?by="+host, nil)
		if err != nil {
			done <- err

			return
		}

		rsp, err := http.DefaultClient.Do(req)
		if err == nil {
			err = rsp.Body.Close()
		}

		done <- err
	}()

	return done
}

// do sends a request and waits for its result.
func (f *fixture) do(t *testing.T, method, name, host string) {
	t.Helper()

	if err := <-f.send(t.Context(), method, name, host); err != nil {
		t.Fatal(err)
	}
}

// expectWorking waits until the requests of the supplied hosts are in progress.
func (f *fixture) expectWorking(t *testing.T, name string, want ...string) {
	t.Helper()

	if err := wait.UntilTrue(t.Context(), "the requests are in progress", func() bool {
		return cmp.Equal(append([]string{}, want...), append([]string{}, f.Working(name)...))
	}); err != nil {
		t.Fatal(err, f.Working(name))
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()

	f := start(t)
	f.do(t, http.MethodPut, "a", "one")
	f.do(t, http.MethodPut, "b", "one")

	if err := f.History("a").Once(0); err != nil {
		t.Error(err)
	}

	f.do(t, http.MethodPut, "b", "two")
	f.do(t, http.MethodDelete, "a", "two")

	if err := f.History("a").Once(1); err != nil {
		t.Error(err)
	}

	if f.History("b").Once(0) == nil || f.History("a").Once(0) == nil || f.History("c").Once(0) == nil {
		t.Error("b was created twice, a was destroyed, and c was not created")
	}

	if diff := cmp.Diff(History{Created: []string{"one", "two"}}, f.History("b")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestHold(t *testing.T) {
	t.Parallel()

	f := start(t)
	release := f.Hold("a")

	killed, kill := context.WithCancel(t.Context())
	first := f.send(killed, http.MethodPut, "a", "one")

	f.expectWorking(t, "a", "one")
	kill()

	if err := <-first; err == nil {
		t.Error("the request was answered although it is held")
	}

	f.expectWorking(t, "a")

	second := f.send(t.Context(), http.MethodPut, "a", "two")

	f.expectWorking(t, "a", "two")

	if diff := cmp.Diff(History{}, f.History("a")); diff != "" {
		t.Errorf("nothing was created yet: -want, +got:\n%s", diff)
	}

	release()
	release()

	if err := <-second; err != nil {
		t.Error(err)
	}

	if diff := cmp.Diff(History{Created: []string{"two"}}, f.History("a")); diff != "" {
		t.Errorf("the client that ended has created nothing: -want, +got:\n%s", diff)
	}
}

func TestOverlap(t *testing.T) {
	t.Parallel()

	f := start(t)
	release := f.Hold("a")
	first := f.send(t.Context(), http.MethodPut, "a", "one")

	f.expectWorking(t, "a", "one")

	second := f.send(t.Context(), http.MethodDelete, "a", "two")

	f.expectWorking(t, "a", "one", "two")
	release()

	for _, done := range []<-chan error{first, second} {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}

	if f.History("a").Once(1) == nil {
		t.Error("two clients worked on it at the same time")
	}
}
