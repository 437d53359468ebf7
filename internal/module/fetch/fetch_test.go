// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestServeOnlyFetches(t *testing.T) {
	t.Parallel()

	for _, args := range [][]string{{"provider"}, {"provider", "--debug"}, {"provider", command, "--help"}, {"provider", "x" + command}} {
		if handled, _ := Serve(t.Context(), args, strings.NewReader(""), &bytes.Buffer{}, nil); handled {
			t.Errorf("Serve(%q): it is not for a fetch", args)
		}
	}
}

func TestRunFails(t *testing.T) {
	t.Parallel()

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	cases := map[string]struct {
		reason  string
		program string
		env     []string
		want    string
	}{
		"NoProgram": {
			reason:  "The message names a program that cannot be started, and the remedy.",
			program: "/none",
			want:    `cannot start "/none": it must be beside the program of the provider, as in the image: fork/exec /none: no such file or directory`,
		},
		"Crash": {
			reason:  "The message contains the output of a crash, in one line.",
			program: self,
			env:     []string{stubVariable + "=crash"},
			want:    "the fetch ended without an answer: exit status 2: panic: at the disco; goroutine 1 [running]",
		},
		"Silence": {
			reason:  "A program that does not fetch ends without an answer.",
			program: "/bin/true",
			want:    "the fetch ended without an answer: exit status 0",
		},
		"Environment": {
			reason:  "A broken environment is refused.",
			program: self,
			env:     []string{"GIT_CONFIG_COUNT=many"},
			want:    `the environment variable GIT_CONFIG_COUNT is "many": it must be a number`,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := Run(t.Context(), tc.program, tc.env, Request{Address: "/none", Dir: t.TempDir()})
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s\nRun(...): want error %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()

	ours := []string{
		"TMPDIR=/w/x/tmp",
		"CROSSPLANE_FETCH_CREDENTIALS=/w/x/credentials",
		"LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=",
		"SSH_ASKPASS=",
		"GIT_CEILING_DIRECTORIES=/w",
	}
	config := []string{
		"GIT_CONFIG_KEY_0=include.path", "GIT_CONFIG_VALUE_0=/w/x/gitconfig",
		"GIT_CONFIG_KEY_1=http.lowSpeedLimit", "GIT_CONFIG_VALUE_1=1",
		"GIT_CONFIG_KEY_2=http.lowSpeedTime", "GIT_CONFIG_VALUE_2=60",
		"GIT_CONFIG_KEY_3=maintenance.auto", "GIT_CONFIG_VALUE_3=false",
		"GIT_CONFIG_COUNT=4",
	}

	cases := map[string]struct {
		reason string
		base   []string
		want   []string
	}{
		"Nothing": {
			reason: "There is always a home directory, an empty one.",
			want:   slices.Concat([]string{"HOME=/w/x/home"}, ours, config),
		},
		"Kept": {
			reason: "Settings of the caller are kept, even an empty home directory.",
			base:   []string{"HOME=", "AWS_REGION=r", "GIT_SSH_COMMAND=s"},
			want:   slices.Concat([]string{"HOME=", "AWS_REGION=r", "GIT_SSH_COMMAND=s"}, ours, config),
		},
		"Repository": {
			reason: "No repository exists yet.",
			base:   []string{"GIT_DIR=/x", "HOME=/h", "GIT_WORK_TREE=/y", "GIT_INDEX_FILE=z"},
			want:   slices.Concat([]string{"HOME=/h"}, ours, config),
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := environment(tc.base, "/w/x")
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nenvironment(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
