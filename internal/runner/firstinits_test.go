// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

func TestFirstInits(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		err    error

		// blocked is how many of two later inits wait.
		blocked int
	}{
		"Succeeded": {reason: "The state is there: no init waits any more."},
		"Failed":    {reason: "The state may be missing: the next init runs alone.", err: errors.New("boom"), blocked: 1},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := &FirstInits{}
				running := atomic.Int32{}
				begin := func(backend string) {
					go func() {
						if _, _, err := f.begin(t.Context(), backend); err == nil {
							running.Add(1)
						}
					}()

					synctest.Wait()
				}

				_, end, err := f.begin(t.Context(), "a")
				if err != nil {
					t.Fatal(err)
				}

				begin("a")
				begin("a")

				if running.Load() != 0 {
					t.Errorf("two inits beside the first one: want both to wait, %d run", running.Load())
				}

				begin("b")

				if running.Load() != 1 {
					t.Error("an init with another backend: want it not to wait")
				}

				end(tc.err)
				synctest.Wait()

				if running.Load() != 3 {
					t.Errorf("the first init has ended: want both that waited to run, %d run", running.Load()-1)
				}

				begin("a")
				begin("a")

				if got := 5 - int(running.Load()); got != tc.blocked {
					t.Errorf("%s\nlater inits: want %d to wait, got %d", tc.reason, tc.blocked, got)
				}
			})
		})
	}
}

// TestFirstInitsHang ensures that a first init that hangs, because of its module for example, delays
// others only for a short time.
func TestFirstInitsHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &FirstInits{}
		if _, _, err := f.begin(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}

		start := time.Now()

		for _, want := range []bool{true, false} {
			waited, end, err := f.begin(t.Context(), "a")
			if waited != want || err != nil {
				t.Errorf("want it to wait: %t, got %t, %v", want, waited, err)
			}

			end(errors.New("boom"))
		}

		if got := time.Since(start); got != maxFirstInit {
			t.Errorf("want one init to wait for %s, got %s", maxFirstInit, got)
		}
	})
}

// TestFirstInitsStop ensures that nothing waits for an init after the end of its context.
func TestFirstInitsStop(t *testing.T) {
	t.Parallel()

	f := &FirstInits{}
	if _, _, err := f.begin(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if _, _, err := f.begin(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("want the error of the context, got %v", err)
	}
}

// TestFirstInitOfMany initializes many directories at the same time, with a stub that makes an
// empty state as the kubernetes backend does. No init fails, and the result of the first one is
// used where it fits.
func TestFirstInitOfMany(t *testing.T) {
	t.Parallel()

	const many = 6

	cases := map[string]struct {
		reason string
		module func(n int) string
		inits  int
	}{
		"SameModule": {reason: "All use the result of the first init.", module: func(int) string { return "# module" }, inits: 1},
		"OwnModules": {reason: "Each needs an init, and none comes in the way of the first one.", module: func(n int) string { return fmt.Sprint("# module ", n) }, inits: many},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			log := filepath.Join(p.outside, "log")
			cli := filepath.Join(p.bin, "tofu-with-backend")

			if err := program.WriteScript(cli, fmt.Sprintf(`
[ "$1" = init ] || { echo OpenTofu v1.2.3; exit; }
cd '%s'
echo init >>log
if [ ! -e state ]; then
  mkdir lock || { echo 'Error: locked' >&2; exit 1; }
  sleep 0.2
  touch state
  rmdir lock
fi
mkdir -p "$OLDPWD/.terraform"
`, p.outside)); err != nil {
				t.Fatal(err)
			}

			stub, err := terraform.Find(t.Context(), cli, terraform.Options{})
			if err != nil {
				t.Fatal(err)
			}

			first := &FirstInits{}
			runners := make([]*Runner, many)
			keys := make([]string, many)
			errs := make([]error, many)

			for n := range many {
				r := p.newRunner(t, fmt.Sprintf("00000000-0000-0000-0000-%012d", n), func(r *Runner) {
					r.CLI, r.FirstInits = stub, first
					r.Inputs.module["main.tf"] = workdir.File{Data: []byte(tc.module(n))}
				})

				key, restored, err := restore(r)
				if restored || err != nil {
					t.Fatalf("want no result of an earlier init, got %t, %v", restored, err)
				}

				runners[n], keys[n] = r, key
			}

			var wg sync.WaitGroup
			for n, r := range runners {
				wg.Go(func() { errs[n] = r.firstInit(t.Context(), keys[n]) })
			}

			wg.Wait()

			if err := errors.Join(errs...); err != nil {
				t.Error(err)
			}

			data, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}

			if got := strings.Count(string(data), "init"); got != tc.inits {
				t.Errorf("%s\nwant %d runs of init, got %d", tc.reason, tc.inits, got)
			}
		})
	}
}
