// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInitialized(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		do     func(t *testing.T, d *Dir)
		want   map[string]string
	}{
		"Never": {
			reason: "A new directory is not initialized.",
			do:     func(_ *testing.T, _ *Dir) {},
			want:   map[string]string{"": "", "sub": ""},
		},
		"NoMark": {
			reason: "The result of a failed init does not count.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				mkdir(t, filepath.Join(d.Path(), dataDir), 0o700)
			},
			want: map[string]string{"": "", "sub": ""},
		},
		"Marked": {
			reason: "The digest is that of the last successful init.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				mkdir(t, filepath.Join(d.Path(), dataDir), 0o700)
				mark(t, d, "", "one")
				mark(t, d, "", "two")
			},
			want: map[string]string{"": "two", ".": "two", "/": "two", "sub": ""},
		},
		"Nothing": {
			reason: "An init with nothing to install makes no directory.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				mark(t, d, "", "one")
			},
			want: map[string]string{"": "one", "sub": ""},
		},
		"Entrypoint": {
			reason: "Each entrypoint is initialized by itself.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				mkdir(t, filepath.Join(d.Path(), dataDir), 0o700)
				mkdir(t, filepath.Join(d.Path(), "sub", dataDir), 0o700)
				mark(t, d, "sub", "one")
			},
			want: map[string]string{"": "", "sub": "one", "/sub/": "one", "link": "one"},
		},
		"Gone": {
			reason: "A mark without the result of init does not count.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				mark(t, d, "", "one")

				if err := os.Remove(filepath.Join(d.Path(), dataDir)); err != nil {
					t.Fatal(err)
				}
			},
			want: map[string]string{"": ""},
		},
		"NotADirectory": {
			reason: "A file in the place of the result of init does not count.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				mark(t, d, "", "one")

				if err := os.Remove(filepath.Join(d.Path(), dataDir)); err != nil {
					t.Fatal(err)
				}

				write(t, filepath.Join(d.Path(), dataDir), "")
			},
			want: map[string]string{"": ""},
		},
		"Cleared": {
			reason: "A mark can be removed, more than once.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				mkdir(t, filepath.Join(d.Path(), dataDir), 0o700)
				mark(t, d, "", "one")

				for range 2 {
					if err := d.ClearInitialized(); err != nil {
						t.Error(err)
					}
				}
			},
			want: map[string]string{"": ""},
		},
		"Broken": {
			reason: "A mark that cannot be read does not count.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()
				mkdir(t, filepath.Join(d.Path(), dataDir), 0o700)
				write(t, filepath.Join(d.Records(), manifestName), "{")
			},
			want: map[string]string{"": ""},
		},
		"Outside": {
			reason: "An entrypoint that leaves the directory is never initialized.",
			do: func(t *testing.T, d *Dir) {
				t.Helper()

				if err := d.MarkInitialized("..", "one"); err == nil {
					t.Error("an entrypoint that leaves the directory was marked")
				}
			},
			want: map[string]string{"..": "", "missing": ""},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := newDir(t)
			mkdir(t, filepath.Join(d.Path(), "sub"), 0o700)
			symlink(t, "sub", filepath.Join(d.Path(), "link"))
			tc.do(t, d)

			got := map[string]string{}
			for entrypoint := range tc.want {
				got[entrypoint] = d.Initialized(entrypoint)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nInitialized by entrypoint: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRootInitialized(t *testing.T) {
	t.Parallel()

	const uninitialized = "ffffffff-ffff-4fff-bfff-ffffffffffff"

	r := openRoot(t)

	dirs := map[string]*Dir{}
	for _, uid := range []string{uidA, uidB, uninitialized} {
		dirs[uid] = dirOf(t, r, uid)
	}

	mkdir(t, filepath.Join(dirs[uidA].Path(), "sub"), 0o700)
	mark(t, dirs[uidA], "sub", "digest")
	mark(t, dirs[uidB], "", "digest")
	mark(t, dirs[uninitialized], "", "digest")

	if err := dirs[uninitialized].ClearInitialized(); err != nil {
		t.Fatal(err)
	}

	got, err := r.Initialized()
	if err != nil {
		t.Fatal(err)
	}

	want := []string{filepath.Join(dirs[uidA].Path(), "sub"), dirs[uidB].Path()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Initialized(): -want, +got:\n%s", diff)
	}

	// The record is in a place that modules can write to.
	write(t, filepath.Join(dirs[uidB].Records(), manifestName), `{"initialized": {"entrypoint": "../x", "digest": "d"}}`)

	if got, err = r.Initialized(); err != nil || len(got) != 1 {
		t.Errorf("Initialized(): want one without the entrypoint that leads out, got %q and error %v", got, err)
	}
}

func mark(t *testing.T, d *Dir, entrypoint, digest string) {
	t.Helper()

	if err := d.MarkInitialized(entrypoint, digest); err != nil {
		t.Fatal(err)
	}
}
