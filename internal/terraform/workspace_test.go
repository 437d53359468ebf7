// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestEnviron(t *testing.T) {
	t.Parallel()

	always := []string{"CHECKPOINT_DISABLE=1", "TF_INPUT=0", "TF_IN_AUTOMATION=1"}

	cases := map[string]struct {
		reason string
		base   []string
		extra  []string
		want   []string
	}{
		"Empty": {
			reason: "these settings always tell the CLI that it runs in automation",
			want:   always,
		},
		"Dropped": {
			reason: "a variable must not choose the state or the files of a run",
			base:   []string{"TF_WORKSPACE=x", "TF_DATA_DIR=x", "TF_INPUT=1", "TF_IN_AUTOMATION=", "CHECKPOINT_DISABLE="},
			extra:  []string{"TF_WORKSPACE=y", "TF_DATA_DIR=y"},
			want:   always,
		},
		"KeptFromBase": {
			reason: "the operator's settings for all runs stay",
			base:   []string{"TF_CLI_ARGS_plan=-parallelism=3", "TF_LOG=TRACE", "TF_PLUGIN_CACHE_DIR=/p", "HOME=/h"},
			want: []string{
				"CHECKPOINT_DISABLE=1", "HOME=/h", "TF_CLI_ARGS_plan=-parallelism=3",
				"TF_INPUT=0", "TF_IN_AUTOMATION=1", "TF_LOG=TRACE", "TF_PLUGIN_CACHE_DIR=/p",
			},
		},
		"LastWins": {
			reason: "extra takes precedence over base, and later over earlier",
			base:   []string{"A=1", "A=2", "B=1", "C=1"},
			extra:  []string{"B=2", "B=3", "C=", "D=a=b"},
			want:   []string{"A=2", "B=3", "C=", "CHECKPOINT_DISABLE=1", "D=a=b", "TF_INPUT=0", "TF_IN_AUTOMATION=1"},
		},
		"ExtraDecides": {
			reason: "extra may set variables that base may not",
			extra:  []string{"TF_INPUT=1"},
			want:   []string{"CHECKPOINT_DISABLE=1", "TF_INPUT=1", "TF_IN_AUTOMATION=1"},
		},
		"NotVariables": {
			reason: "entries that are not KEY=VALUE are dropped",
			base:   []string{"", "A", "=B"},
			want:   always,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, Environ(tc.base, tc.extra...)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestForgetSelection ensures that a link in a module does not lead to another directory.
func TestForgetSelection(t *testing.T) {
	t.Parallel()

	outside := t.TempDir()
	filesystem.Write(t, outside, map[string]string{"environment": "old"})

	ws := Workspace{Dir: t.TempDir()}
	filesystem.Write(t, ws.Dir, map[string]string{".terraform": "-> " + outside})
	ws.forgetSelection()

	if _, err := os.Stat(filepath.Join(outside, "environment")); err != nil {
		t.Errorf("want the file elsewhere to stay, got %v", err)
	}
}
