// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestEntrypoint(t *testing.T) {
	t.Parallel()

	type want struct {
		Path string
		Err  error
	}

	cases := map[string]struct {
		reason     string
		entrypoint string
		want       want
	}{
		"Empty":         {reason: "The module itself is the default.", entrypoint: "", want: want{Path: "."}},
		"Dot":           {reason: "A dot is the module itself.", entrypoint: ".", want: want{Path: "."}},
		"Directory":     {reason: "A directory of the module.", entrypoint: "envs/prod", want: want{Path: "envs/prod"}},
		"LeadingSlash":  {reason: "A leading slash has always meant the module itself.", entrypoint: "/envs/prod", want: want{Path: "envs/prod"}},
		"TrailingSlash": {reason: "A trailing slash changes nothing.", entrypoint: "envs/prod/", want: want{Path: "envs/prod"}},
		"RoundTrip":     {reason: "A path that stays inside as a whole is inside.", entrypoint: "envs/../envs/prod", want: want{Path: "envs/prod"}},
		"LinkInside":    {reason: "A link to a directory of the module is followed, and the path has no link left.", entrypoint: "link-inside/prod", want: want{Path: "envs/prod"}},
		"Parent":        {reason: "The parent is outside.", entrypoint: "..", want: want{Err: cmpopts.AnyError}},
		"Outside":       {reason: "Another Workspace's directory is outside.", entrypoint: "../" + uidB, want: want{Err: cmpopts.AnyError}},
		"OutsideSlash":  {reason: "A leading slash does not help to get out.", entrypoint: "/../" + uidB, want: want{Err: cmpopts.AnyError}},
		"Back":          {reason: "A path that leaves the directory and comes back would reveal names outside.", entrypoint: "../" + uidA + "/envs", want: want{Err: cmpopts.AnyError}},
		"Dots":          {reason: "A name of four dots, which a naive filter would turn into two, is an ordinary name.", entrypoint: "....//....//etc", want: want{Err: cmpopts.AnyError}},
		"LinkOutside":   {reason: "A link that leads out is refused.", entrypoint: "link-outside", want: want{Err: cmpopts.AnyError}},
		"LinkBelow":     {reason: "A path through a link that leads out is refused.", entrypoint: "link-outside/" + uidB, want: want{Err: cmpopts.AnyError}},
		"LinkAbsolute":  {reason: "A link to an absolute path is refused.", entrypoint: "link-absolute", want: want{Err: cmpopts.AnyError}},
		"Missing":       {reason: "A missing directory is reported.", entrypoint: "missing", want: want{Err: cmpopts.AnyError}},
		"File":          {reason: "A file is no directory.", entrypoint: "main.tf", want: want{Err: cmpopts.AnyError}},
	}

	r := openRoot(t)
	mkdir(t, filepath.Join(r.Path(), uidB), 0o700)
	d := dirOf(t, r, uidA)
	write(t, filepath.Join(d.Path(), "main.tf"), "")
	mkdir(t, filepath.Join(d.Path(), "envs", "prod"), 0o700)
	symlink(t, "envs", filepath.Join(d.Path(), "link-inside"))
	symlink(t, "..", filepath.Join(d.Path(), "link-outside"))
	symlink(t, filepath.Join(r.Path(), uidB), filepath.Join(d.Path(), "link-absolute"))

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got want

			got.Path, got.Err = d.ResolveEntrypoint(tc.entrypoint)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nResolveEntrypoint(%q): -want, +got:\n%s", tc.reason, tc.entrypoint, diff)
			}

			if got.Err != nil && strings.Count(got.Err.Error(), `"`+tc.entrypoint+`"`) != 1 {
				t.Errorf("%s\n%q does not name %q", tc.reason, got.Err, tc.entrypoint)
			}
		})
	}
}

// TestEntrypointBelowLinkedRoot has a root that is reached through a link, like some mounted
// volumes.
func TestEntrypointBelowLinkedRoot(t *testing.T) {
	t.Parallel()

	link := filepath.Join(t.TempDir(), "link")
	symlink(t, t.TempDir(), link)

	r, err := Open(link, maxUse)
	if err != nil {
		t.Fatal(err)
	}

	d := dirOf(t, r, uidA)
	mkdir(t, filepath.Join(d.Path(), "sub"), 0o700)

	got, err := d.ResolveEntrypoint("sub")
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff("sub", got); diff != "" {
		t.Errorf("the path is relative to that of the directory: -want, +got:\n%s", diff)
	}
}

// FuzzEntrypoint checks that no entrypoint leads out of the directory, with any links in it.
func FuzzEntrypoint(f *testing.F) {
	for _, entrypoint := range []string{"", ".", "/", "in", "/in/", "in/../in", "..", "a/../..", "....//....//etc", "out", "out/x", "link", "a\x00b", "a\\..\\b", "\xb2"} {
		f.Add(entrypoint)
	}

	f.Fuzz(func(t *testing.T, entrypoint string) {
		d := newDir(t)
		syncDir(t, d, map[string]File{"in/main.tf": text("a")})

		for link, target := range map[string]string{"out": "../..", "link": "in"} {
			symlink(t, target, filepath.Join(d.Path(), link))
		}

		rel, cleanErr := CleanEntrypoint(entrypoint)
		if cleanErr == nil && (!filepath.IsLocal(rel) || filepath.Clean(rel) != rel) {
			t.Errorf("CleanEntrypoint(%q): %q is not a clean path inside", entrypoint, rel)
		}

		path, err := d.ResolveEntrypoint(entrypoint)
		if err != nil {
			return
		}

		if cleanErr != nil {
			t.Errorf("ResolveEntrypoint(%q): %q, but CleanEntrypoint fails with %v", entrypoint, path, cleanErr)
		}

		if path != "." && path != "in" {
			t.Errorf("ResolveEntrypoint(%q): %q is neither of the two directories there are", entrypoint, path)
		}
	})
}
