// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// swept returns the UIDs of the directories that a sweep visits.
func swept(t *testing.T, r *Root) []string {
	t.Helper()

	var uids []string

	_, err := r.Sweep(t.Context(), func(d *Dir) error {
		uids = append(uids, d.uid)

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	return uids
}

// reopened returns the root as another process sees it.
func reopened(t *testing.T, r *Root) *Root {
	t.Helper()

	other, err := Open(r.Path(), maxUse)
	if err != nil {
		t.Fatal(err)
	}

	return other
}

func TestSweep(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	used := dirOf(t, r, uidA)
	dirOf(t, r, uidB)

	done, err := used.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	again, err := used.Use(t.Context())
	if err != nil {
		t.Fatalf("users do not keep one another away: %v", err)
	}

	other := reopened(t, r)
	if diff := cmp.Diff([]string{uidB}, swept(t, other)); diff != "" {
		t.Errorf("one is in use: -want, +got:\n%s", diff)
	}

	done()

	if diff := cmp.Diff([]string{uidB}, swept(t, other)); diff != "" {
		t.Errorf("one is still in use: -want, +got:\n%s", diff)
	}

	again()

	if diff := cmp.Diff([]string{uidA, uidB}, swept(t, other)); diff != "" {
		t.Errorf("none is in use: -want, +got:\n%s", diff)
	}
}

func TestSweepFails(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	for _, uid := range []string{uidA, uidB} {
		dirOf(t, r, uid)
	}

	errBoom := errors.New("boom")
	n := 0

	_, err := r.Sweep(t.Context(), func(*Dir) error {
		n++

		return errBoom
	})
	if !errors.Is(err, errBoom) || n != 2 {
		t.Errorf("want the error of each of 2 directories, got %v of %d", err, n)
	}
}

// TestSweepCanceled ends the process during a sweep, which takes long on a slow volume.
func TestSweepCanceled(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	for _, uid := range []string{uidA, uidB} {
		dirOf(t, r, uid)
	}

	ctx, cancel := context.WithCancel(t.Context())
	n := 0

	_, err := r.Sweep(ctx, func(*Dir) error {
		n++

		cancel()

		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("want the sweep to end after the first of 2 directories, got %v after %d", err, n)
	}
}

// TestSweepVanished removes a directory between its listing and its sweep.
func TestSweepVanished(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	for _, uid := range []string{uidA, uidB} {
		dirOf(t, r, uid)
	}

	_, err := r.Sweep(t.Context(), func(*Dir) error {
		_, err := r.Remove(uidB)

		return err
	})
	if err != nil {
		t.Errorf("there is nothing to sweep: %v", err)
	}
}

// TestUseDuringSweep uses a directory that is being swept: it waits.
func TestUseDuringSweep(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	d := dirOf(t, r, uidA)
	ctx, cancel := context.WithCancel(t.Context())
	synctest.Test(t, func(t *testing.T) {
		used := make(chan error, 2)
		use := func(ctx context.Context) {
			done, err := d.Use(ctx)
			used <- err

			if err == nil {
				done()
			}
		}

		_, err := r.Sweep(t.Context(), func(*Dir) error {
			go use(t.Context())

			synctest.Wait()

			if len(used) > 0 {
				t.Error("it is used although it is being swept")
			}

			cancel()
			use(ctx)

			return nil
		})
		if err != nil {
			t.Error(err)
		}

		if err := <-used; !errors.Is(err, context.Canceled) {
			t.Errorf("want the one that was canceled, got %v", err)
		}

		if err := <-used; err != nil {
			t.Errorf("the sweep is over: %v", err)
		}
	})
}

// TestUseLink plants a link in place of the file that is locked.
func TestUseLink(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	d := dirOf(t, r, uidA)
	outside := filepath.Join(t.TempDir(), "file")
	symlink(t, outside, filepath.Join(d.Records(), useName))

	if done, err := d.Use(t.Context()); err == nil {
		done()
		t.Error("want what leads outside to be refused")
	}

	if _, err := os.Lstat(outside); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something outside was touched: %v", err)
	}
}

// useElsewhere uses a directory on another machine: its mark is visible here, its lock is not.
func useElsewhere(t *testing.T, d *Dir, host string, longest time.Duration) (done func()) {
	t.Helper()

	other := &Dir{root: &Root{host: host, longest: longest}, dir: d.dir, records: d.records}

	done, err := other.markUse()
	if err != nil {
		t.Fatal(err)
	}

	return done
}

// TestOtherHost sweeps, and removes, a directory that another machine uses or has used.
func TestOtherHost(t *testing.T) {
	t.Parallel()

	const longest = 20 * time.Minute

	elsewhere := func(t *testing.T, d *Dir) {
		t.Helper()
		useElsewhere(t, d, "other", longest)
	}

	cases := map[string]struct {
		reason string
		leave  func(t *testing.T, d *Dir)
		// again is called halfway.
		again func(t *testing.T, d *Dir)
		want  time.Duration
	}{
		"Nothing": {reason: "The directory is not used.", leave: func(*testing.T, *Dir) {}},
		"Used":    {reason: "A run on another machine keeps its secrets for its longest duration.", leave: elsewhere, want: longest},
		"UsedAgain": {
			reason: "The next run on another machine keeps them, too.",
			leave:  elsewhere,
			again:  elsewhere,
			want:   longest + longest/2,
		},
		"Released": {
			reason: "After the run the secrets are not needed.",
			leave: func(t *testing.T, d *Dir) {
				t.Helper()
				useElsewhere(t, d, "other", longest)()
			},
		},
		"Killed": {
			reason: "The lock covers all runs on this machine.",
			leave: func(t *testing.T, d *Dir) {
				t.Helper()
				useElsewhere(t, d, d.root.host, longest)
			},
		},
		"Absurd": {
			reason: "A mark that a module can write does not count for ever.",
			leave: func(t *testing.T, d *Dir) {
				t.Helper()
				useElsewhere(t, d, "other", 1000*longest)
			},
			want: maxUse,
		},
		"Broken": {
			reason: "Another machine may be writing it.",
			leave: func(t *testing.T, d *Dir) {
				t.Helper()
				write(t, filepath.Join(d.Records(), useName), `{"host": "other", "lon`)
			},
			want: maxUse,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := openRoot(t)
			d := dirOf(t, r, uidA)
			tc.leave(t, d)
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()

				next := func() time.Duration {
					wait, err := r.Sweep(t.Context(), func(*Dir) error { return nil })
					if err != nil {
						t.Fatal(err)
					}

					gone := wait == 0
					if got := len(swept(t, r)) == 1; got != gone {
						t.Errorf("%s\nSweep(...) after %s: swept %t, but says that it is in use for %s", tc.reason, time.Since(start), got, wait)
					}

					return wait
				}
				for wait := next(); wait > 0; wait = next() {
					if gone, err := r.Remove(uidA); gone || err != nil {
						t.Fatalf("%s\nRemove(...) after %s: want it to stay, got %t and error %v", tc.reason, time.Since(start), gone, err)
					}

					if tc.again != nil {
						wait /= 2
					}

					time.Sleep(wait)

					if tc.again != nil {
						tc.again(t, d)
						tc.again = nil
					}
				}

				if diff := cmp.Diff(tc.want, time.Since(start)); diff != "" {
					t.Errorf("%s\nkept for: -want, +got:\n%s", tc.reason, diff)
				}

				if gone, err := r.Remove(uidA); !gone || err != nil {
					t.Errorf("%s\nRemove(...): want it to go, got %t and error %v", tc.reason, gone, err)
				}
			})
		})
	}
}

// TestRecord ensures that a use is recorded from its beginning to its end, and that its end does
// not change the mark of another use.
func TestRecord(t *testing.T) {
	t.Parallel()

	d := newDir(t)
	recorded := func() bool {
		f, err := d.openUse()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()

		return len(readMark(f)) > 0
	}

	var got []bool

	done, err := d.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	got = append(got, recorded())

	again, err := d.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	done()

	got = append(got, recorded())

	again()

	got = append(got, recorded())
	if diff := cmp.Diff([]bool{true, true, false}, got); diff != "" {
		t.Errorf("recorded while one, the other, and none uses the directory: -want, +got:\n%s", diff)
	}
}
