// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestNotices(t *testing.T) {
	t.Parallel()

	type want struct {
		paths    []string
		licensed bool
	}

	cases := map[string]struct {
		reason string
		files  []string
		want   want
	}{
		"Names": {
			reason: "Modules name these files in many ways.",
			files:  []string{"COPYING", "LICENCE.md", "LICENSE-APACHE", "LICENSE.libyaml", "MIT-LICENSE.txt", "NOTICE.txt", "PATENTS", "UNLICENSE", "copyright", "license"},
			want: want{
				paths:    []string{"COPYING", "LICENCE.md", "LICENSE-APACHE", "LICENSE.libyaml", "MIT-LICENSE.txt", "NOTICE.txt", "PATENTS", "UNLICENSE", "copyright", "license"},
				licensed: true,
			},
		},
		"Code": {
			reason: "Code about licenses is no license.",
			files:  []string{"license.go", "check_license.sh", "license.yml", "notice_test.go", "licensing.md", "README.md"},
		},
		"Copied": {
			reason: "A module has code of others, which has a license of its own.",
			files:  []string{"LICENSE", "internal/json/LICENSE", "internal/json/AUTHORS"},
			want:   want{paths: []string{"LICENSE", "internal/json/AUTHORS", "internal/json/LICENSE"}, licensed: true},
		},
		"NotCompiled": {
			reason: "The go command compiles nothing in these directories.",
			files:  []string{"LICENSE", ".github/LICENSE", "_example/LICENSE", "a/testdata/LICENSE"},
			want:   want{paths: []string{"LICENSE"}, licensed: true},
		},
		"OnlyCopied": {
			reason: "The license of copied code is not that of the module.",
			files:  []string{"internal/json/LICENSE"},
			want:   want{paths: []string{"internal/json/LICENSE"}},
		},
		"OnlyNotice": {
			reason: "A notice has no terms.",
			files:  []string{"NOTICE", "AUTHORS"},
			want:   want{paths: []string{"AUTHORS", "NOTICE"}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tree := fstest.MapFS{}
			for _, f := range tc.files {
				tree[f] = &fstest.MapFile{}
			}

			paths, licensed, err := notices(tree)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, want{paths: paths, licensed: licensed}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
