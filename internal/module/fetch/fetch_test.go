// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMainOnlyFetches(t *testing.T) {
	t.Parallel()

	for _, args := range [][]string{{"provider"}, {"provider", "--debug"}, {"provider", command, "--help"}, {"provider", "x" + command}} {
		if handled, _ := Main(t.Context(), args, strings.NewReader(""), &bytes.Buffer{}); handled {
			t.Errorf("Main(%q): it is not for a fetch", args)
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
			reason:  "The message names a program that cannot be started.",
			program: "/none",
			want:    `cannot start "/none"`,
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
		"Recursion": {
			reason:  "A program that does not call Main, and starts another fetch, is stopped.",
			program: self,
			env:     []string{stubVariable + "=recurse"},
			want:    "the program does not call fetch.Main when it starts",
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
		"CROSSPLANE_FETCH=1",
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
		"GIT_CONFIG_KEY_1=maintenance.auto", "GIT_CONFIG_VALUE_1=false",
		"GIT_CONFIG_COUNT=2",
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

func TestLimitedDownload(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Path[1:])
		_, _ = w.Write(make([]byte, n))
	}))
	t.Cleanup(server.Close)

	client := &http.Client{Transport: &transport{base: http.DefaultTransport, check: &revisionCheck{}, limit: 10}}

	for length, want := range map[string]string{"9": "", "10": "", "11": "the download is longer than 10 bytes"} {
		resp, err := client.Get(server.URL + "/" + length)
		if err != nil {
			t.Fatal(err)
		}

		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()

		if (err == nil) != (want == "") || err != nil && said(err) != want {
			t.Errorf("download of %s of at most 10 bytes: want error %q, got %v", length, want, err)
		}
	}
}

// TestCredentialsMode ensures that no other user can read files with secrets, regardless of the
// umask.
func TestCredentialsMode(t *testing.T) {
	t.Parallel()

	a := &gitAccess{dir: t.TempDir()}
	if err := a.addCredentials([]byte("http://a:b@c")); err != nil {
		t.Fatal(err)
	}

	if err := a.useSSHKey("a2V5"); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{credentialsFile, sshKeyFile} {
		info, err := os.Stat(filepath.Join(a.dir, name))
		if err != nil {
			t.Fatal(err)
		}

		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("mode of %s: want 0600, got %o", name, got)
		}
	}
}
