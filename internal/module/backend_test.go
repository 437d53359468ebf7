// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"strings"
	"testing"
)

func TestBackend(t *testing.T) {
	cases := map[string]struct {
		reason string
		src    string
		want   string
	}{
		"Backend": {
			reason: "A backend block declares a backend.",
			src:    "terraform {\n backend \"kubernetes\" {\n secret_suffix = \"x\"\n}\n}",
			want:   "kubernetes",
		},
		"Cloud": {
			reason: "So does a cloud block.",
			src:    "terraform {\n cloud {}\n}",
			want:   "cloud",
		},
		"SecondTerraformBlock": {
			reason: "There may be several terraform blocks.",
			src:    "terraform { required_version = \">= 1\" }\nterraform {\n backend \"local\" {}\n}",
			want:   "local",
		},
		"OnlyInComments": {
			reason: "A comment does not count.",
			src:    "terraform {\n/*\nbackend \"kubernetes\" {}\n*/\n# backend \"local\" {}\n}",
		},
		"ElsewhereOnly": {
			reason: "A block of that name in another place does not count.",
			src:    "backend \"x\" {}\nresource \"a\" \"b\" {\n backend {}\n}",
		},
		"Broken": {
			reason: "Configuration that cannot be parsed declares nothing.",
			src:    "terraform {\n backend \"kubernetes\" {",
		},
		"Nested": {
			reason: "So does configuration that the parser has no stack for. It would end the process.",
			src:    "terraform {\n backend \"kubernetes\" {}\n}\na = " + strings.Repeat("(", 1<<20),
		},
		"Empty": {
			reason: "An empty configuration declares nothing.",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := Backend([]byte(tc.src)); got != tc.want {
				t.Errorf("\n%s\nBackend(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
