// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// TestOriginOfOddFiles configures the CLI with a special file.
func TestOriginOfOddFiles(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	pipe, large := filepath.Join(dir, "pipe"), filepath.Join(dir, "large")

	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(large, make([]byte, maxConfig+1), 0o600); err != nil {
		t.Fatal(err)
	}

	cases := map[string]struct {
		reason, path, err string
	}{
		"Missing":   {reason: "The CLI complains about it.", path: filepath.Join(dir, "none")},
		"Pipe":      {reason: "A pipe can be read only once.", path: pipe, err: "it is a pipe"},
		"Device":    {reason: "A device may have no end.", path: "/dev/zero", err: `cannot use configuration file of the CLI: cannot read "/dev/zero": it is a device, and only regular files on a disk are read: use one of them`},
		"Kernel":    {reason: "A file of the kernel has other content for each process.", path: "/proc/self/environ", err: "the kernel makes it up"},
		"Large":     {reason: "A real configuration is smaller.", path: large, err: "more than 1.0 MiB"},
		"Directory": {reason: "The CLI ignores a directory, too.", path: dir},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var err error

			if blocked := wait.Within(wait.Soon, func() { _, err = Origin([]string{configVariable + "=" + tc.path}, dir) }); blocked != nil {
				t.Fatalf("\n%s\nOrigin(...): %v", tc.reason, blocked)
			}

			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("\n%s\nOrigin(...): want an error with %q, got %v", tc.reason, tc.err, err)
			}
		})
	}
}

// TestOriginOfRelativePath ensures that a configuration counts which the CLI finds in the module.
func TestOriginOfRelativePath(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct{ env, file string }{
		"File":        {env: configVariable + "=cli.tfrc", file: "cli.tfrc"},
		"Home":        {env: "HOME=home", file: "home/.terraformrc"},
		"XDG":         {env: "XDG_CONFIG_HOME=xdg", file: "xdg/opentofu/tofurc"},
		"Credentials": {env: "XDG_CONFIG_HOME=xdg", file: "xdg/opentofu/credentials.tfrc.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			seen := map[string]bool{}

			for _, content := range []string{"", "# one", "# two"} {
				dir := t.TempDir()
				write(t, filepath.Join(dir, tc.file), content)

				origin, err := Origin([]string{tc.env}, dir)
				if err != nil {
					t.Fatal(err)
				}

				if seen[origin] {
					t.Errorf("Origin(...) with %q in the file: want another one than with other contents", content)
				}

				seen[origin] = true
			}
		})
	}
}

// TestPluginDir ensures that packages of a module are not shared.
func TestPluginDir(t *testing.T) {
	t.Parallel()

	cache, dir := t.TempDir(), t.TempDir()
	for _, tc := range []struct {
		args, env string
		want      bool
	}{
		{args: "-plugin-dir=plugins"},
		{args: "--plugin-dir"},
		{args: "-upgrade", want: true},
		{env: `TF_CLI_ARGS_init="-plugin-dir=plugins"`},
		{env: "TF_CLI_ARGS=-plugin-dir=plugins"},
		{env: "TF_CLI_ARGS_plan=-plugin-dir=plugins", want: true},
	} {
		r := Run{Root: dir, Dir: dir, Private: filepath.Join(dir, "private"), Env: []string{Variable + "=" + cache, tc.env}, Args: []string{tc.args}}

		err := Init(t.Context(), r, func(env []string) error {
			if _, got := environ.Lookup(env, Variable); got != tc.want {
				t.Errorf("init with %s %s: want a plugin cache: %t, got %t", tc.args, tc.env, tc.want, got)
			}

			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
