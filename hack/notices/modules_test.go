// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/module"
)

func TestModulesIn(t *testing.T) {
	t.Parallel()

	ours := debug.Module{Path: project, Version: "(devel)"}
	standard := module.Version{Path: std, Version: "go1.26.8"}

	cases := map[string]struct {
		reason string
		main   debug.Module
		deps   []*debug.Module
		want   []module.Version
		failed bool
	}{
		"Ours": {
			reason: "The provider consists of the Go standard library and its dependencies.",
			main:   ours,
			deps:   []*debug.Module{{Path: "example.org/a", Version: "v1.0.0", Sum: "h1:a"}},
			want:   []module.Version{standard, {Path: "example.org/a", Version: "v1.0.0"}},
		},
		"CLI": {
			reason: "The main module of a CLI has a license as well.",
			main:   debug.Module{Path: "example.org/cli", Version: "v1.2.3", Sum: "h1:cli"},
			want:   []module.Version{standard, {Path: "example.org/cli", Version: "v1.2.3"}},
		},
		"Replaced": {
			reason: "The code is that of the replacement.",
			main:   ours,
			deps: []*debug.Module{{
				Path: "example.org/a", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v1.0.1", Sum: "h1:fork"},
			}},
			want: []module.Version{standard, {Path: "example.org/fork", Version: "v1.0.1"}},
		},
		"Directory": {
			reason: "Nothing says which version of a module a directory has.",
			main:   ours,
			deps:   []*debug.Module{{Path: "example.org/a", Version: "v1.0.0", Replace: &debug.Module{Path: "../a"}}},
			failed: true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := modulesIn(&debug.BuildInfo{GoVersion: standard.Version, Main: tc.main, Deps: tc.deps})
			if failed := err != nil; failed != tc.failed {
				t.Fatalf("%s Got error: %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
