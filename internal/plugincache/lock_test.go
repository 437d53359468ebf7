// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestConcurrentRuns starts many runs with a cold plugin cache at once. Each executes the
// provider right after its init.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		const runs = 20

		f.add(t, "time", "0.14.2", timeProvider(t))

		var wg sync.WaitGroup

		for n := range runs {
			// Not all modules ask for it in the same way.
			text := `resource "time_static" "this" {}`
			if n%2 == 0 {
				text = require("time", "~> 0.14") + text
			}

			p := f.place(t, text)

			wg.Go(func() {
				if err := p.init(t.Context()); err != nil {
					t.Error(err)

					return
				}

				if err := p.exec(t.Context(), p.run.Env, "validate", "-no-color"); err != nil {
					t.Error(err)
				}
			})
		}

		wg.Wait()

		if diff := cmp.Diff(map[string]int{"time_0.14.2.zip": 1}, f.downloaded()); diff != "" {
			t.Errorf("downloads by %d runs that need the same provider: -want, +got:\n%s", runs, diff)
		}

		expectPackages(t, f.cache, "in the store", 1)
	})
}

// TestNothingNewNeverWaits initializes directories while another one waits for a
// download that does not end.
func TestNothingNewNeverWaits(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		f.add(t, "slow", "1.0.0", []byte("1.0.0"))
		f.add(t, "slow", "2.0.0", []byte("2.0.0"))
		f.add(t, "other", "1.0.0", []byte("other"))

		f.place(t, require("slow", "1.0.0")).mustInit(t)

		asked, release := make(chan struct{}), make(chan struct{})

		f.intercept(func(_ http.ResponseWriter, name string) {
			if name == "slow" {
				close(asked)
				<-release
			}
		})

		slow := f.place(t, require("slow", "2.0.0"))
		done := make(chan error, 1)

		go func() { done <- slow.init(t.Context()) }()

		<-asked

		// One needs nothing new of the same provider, and one needs another provider.
		f.place(t, require("slow", "~> 1.0")).mustInit(t)
		f.place(t, require("other", "1.0.0")).mustInit(t)

		select {
		case err := <-done:
			t.Errorf("the slow init ended before its download did: %v", err)
		default:
		}

		close(release)

		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestHangingInit makes an init hang that others wait for.
func TestHangingInit(t *testing.T) {
	t.Parallel()

	cache := t.TempDir()

	synctest.Test(t, func(t *testing.T) {
		take := func(ctx context.Context) (func(), error) {
			return newStore(cache, "origin").lockProviders(ctx, []string{"example.org/x/y", "example.org/x/z"})
		}

		done, err := take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer done()

		// The default of --timeout.
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
		defer cancel()

		began := time.Now()

		other, err := take(ctx)
		if err != nil {
			t.Fatalf("lockProviders(...): %v", err)
		}

		other()

		if got := time.Since(began); got < maxWait || got > maxWait+time.Second {
			t.Errorf("wait for two providers that another init has locked: want %s, got %s", maxWait, got)
		}
	})
}

// TestFailureFreesWaiting makes an init fail that others wait for. They continue, and do not fail
// one after the other.
func TestFailureFreesWaiting(t *testing.T) {
	t.Parallel()

	cache := t.TempDir()

	// In a bubble, everything that does not wait is over before the clock advances.
	synctest.Test(t, func(t *testing.T) {
		take := func(ctx context.Context) (func(), error) {
			return newStore(cache, "origin").lockProviders(ctx, []string{"example.org/x/y"})
		}

		done, err := take(t.Context())
		if err != nil {
			t.Fatal(err)
		}

		const runs = 3

		freed := make(chan func(), runs)

		for range runs {
			go func() {
				done, err := take(t.Context())
				if err != nil {
					t.Error(err)
				}

				freed <- done
			}()
		}

		synctest.Wait()

		if len(freed) != 0 {
			t.Errorf("runs that did not wait: want none, got %d", len(freed))
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()

		if _, err := take(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("lockProviders(...) with a context that ends: want %v, got %v", context.DeadlineExceeded, err)
		}

		done()

		// All of them continue although none has finished.
		all := make([]func(), 0, runs)
		for range runs {
			all = append(all, <-freed)
		}

		for _, done := range all {
			done()
		}
	})
}
