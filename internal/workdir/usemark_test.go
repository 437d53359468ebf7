// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// useElsewhere uses a directory on another machine: its mark is visible here, its lock is not.
func useElsewhere(t *testing.T, d *Dir, host string, longest time.Duration) (done func()) {
	t.Helper()

	other := &Dir{root: &Root{host: host, longest: longest}, dir: d.dir}

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
				write(t, filepath.Join(d.Path(), useName), `{"host": "other", "lon`)
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
