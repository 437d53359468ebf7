// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestState(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		backend string
		env     []string
		want    string
	}{
		"Complete": {
			reason:  "The configuration says all.",
			backend: `{"backend": {"type": "kubernetes", "config": {"namespace": "x", "secret_suffix": "s"}}}`,
			env:     []string{"TF_WORKSPACE=ws", "KUBE_NAMESPACE=y"},
			want:    "kubernetes/x/s/ws",
		},
		"Completed": {
			reason:  "The environment completes the configuration.",
			backend: `{"backend": {"type": "kubernetes", "config": {"namespace": null, "secret_suffix": "s"}}}`,
			env:     []string{"TF_WORKSPACE=ws", "KUBE_NAMESPACE=y"},
			want:    "kubernetes/y/s/ws",
		},
		"Defaults": {
			reason:  "There are defaults of the CLI.",
			backend: `{"backend": {"type": "kubernetes", "config": {"secret_suffix": "s"}}}`,
			want:    "kubernetes/default/s/default",
		},
		"Disk": {
			reason:  "Another backend is that of the directory.",
			backend: `{"backend": {"type": "local", "config": {}}}`,
			env:     []string{"TF_WORKSPACE=ws"},
			want:    "disk/DIR/ws",
		},
		"None": {
			reason: "Without a backend the state is in the directory.",
			env:    []string{"TF_WORKSPACE=ws"},
			want:   "disk/DIR/ws",
		},
		"Torn": {
			reason:  "The state of an unreadable configuration is not known.",
			backend: `{`,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			dir := filepath.Join(t.TempDir(), "DIR")
			if err := os.MkdirAll(filepath.Join(dir, ".terraform"), 0o700); err != nil {
				t.Fatal(err)
			}

			if tc.backend != "" {
				if err := os.WriteFile(filepath.Join(dir, ".terraform", "terraform.tfstate"), []byte(tc.backend), 0o600); err != nil {
					t.Fatal(err)
				}
			}

			got, err := State(dir, tc.env)
			if err != nil {
				t.Fatalf("%s\nState(...): %v", tc.reason, err)
			}

			if rel, ok := strings.CutPrefix(got, "disk/"+filepath.Dir(dir)+"/"); ok {
				got = "disk/" + rel
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nState(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
