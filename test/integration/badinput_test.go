// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBadInput starts instances with invalid input. Each ends with one line that names the
// flag or variable, its value, and the allowed values.
func TestBadInput(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatalf("cannot write file: %v", err)
	}

	empty := t.TempDir()

	cases := map[string]struct {
		reason string
		args   []string
		env    map[string]string
		want   []string
	}{
		"ShardName": {
			reason: "A shard name ends up in a label and in the name of a Lease.",
			args:   []string{"--shard-name=Team_A"},
			want:   []string{"--shard-name", `"Team_A"`, "lower-case letters", "63"},
		},
		"ShardNameOfEnvironment": {
			reason: "The source of the name does not matter.",
			env:    map[string]string{"SHARD_NAME": "Team_A"},
			want:   []string{"--shard-name", `"Team_A"`, "lower-case letters"},
		},
		"ShardNameTooLong": {
			reason: "A label value has at most 63 characters.",
			args:   []string{"--shard-name=" + strings.Repeat("a", 64)},
			want:   []string{"--shard-name", `"` + strings.Repeat("a", 64) + `"`, "63"},
		},
		"ReservedShardName": {
			reason: "This Lease is that of the instance that serves Workspaces without a label.",
			args:   []string{"--shard-name=catch-all"},
			want:   []string{"--shard-name", `"catch-all"`, "reserved"},
		},
		"NegativeGCInterval": {
			reason: "0 means never. Negative values have no meaning.",
			args:   []string{"--gc-interval=-1s"},
			want:   []string{"--gc-interval", "-1s", "0 or greater"},
		},
		"NoPollInterval": {
			reason: "Polling all the time is a busy loop.",
			args:   []string{"--poll=0s"},
			want:   []string{"--poll", "0s", "greater than 0"},
		},
		"NegativeTimeout": {
			reason: "Nothing would ever be in time.",
			args:   []string{"--timeout=-1m"},
			want:   []string{"--timeout", "-1m0s", "greater than 0"},
		},
		"NotADuration": {
			reason: "An unreadable value must not become a default.",
			args:   []string{"--poll=soon"},
			want:   []string{"--poll", "soon", "duration"},
		},
		"NotABoolean": {
			reason: "A switch has two values.",
			args:   []string{"--debug=yes"},
			want:   []string{"--debug", `"yes"`, "true or false"},
		},
		"NotAFlag": {
			reason: "A switch takes no other argument.",
			args:   []string{"--debug", "false"},
			want:   []string{"unexpected false", "only flags are expected"},
		},
		"NoWorkers": {
			reason: "The instance would have no worker.",
			args:   []string{"--max-reconcile-rate=0"},
			want:   []string{"--max-reconcile-rate", "0", "1 or greater"},
		},
		"LogEncoding": {
			reason: "There are two.",
			args:   []string{"--log-encoding=xml"},
			want:   []string{"--log-encoding", "xml", "console", "json"},
		},
		"UnknownFlag": {
			reason: "A misspelled flag must not be ignored.",
			args:   []string{"--shard=a"},
			want:   []string{"--shard", "unknown"},
		},
		"Argument": {
			reason: "There are no commands.",
			args:   []string{"shard-0"},
			want:   []string{"shard-0", "unexpected"},
		},
		"CLIMissing": {
			reason: "Every Workspace would fail.",
			args:   []string{"--cli=/no/such/program"},
			want:   []string{"--cli", `"/no/such/program"`},
		},
		"CLIOfEnvironmentMissing": {
			reason: "The source of the path does not matter.",
			env:    map[string]string{"TERRAFORM_CLI": "/no/such/program"},
			want:   []string{"--cli", `"/no/such/program"`},
		},
		"CLINotExecutable": {
			reason: "A file is not yet a program.",
			args:   []string{"--cli=" + file},
			want:   []string{"--cli", file},
		},
		"NoCLI": {
			reason: "Without --cli, one of the default programs has to be on PATH.",
			env:    map[string]string{"PATH": empty, "TERRAFORM_CLI": ""},
			want:   []string{"--cli", "terraform", "tofu", "PATH"},
		},
		"UnwritableRoot": {
			reason: "There has to be room for workdirs.",
			env:    map[string]string{"XP_TF_DIR": filepath.Join(file, "root")},
			want:   []string{"XP_TF_DIR", filepath.Join(file, "root")},
		},
		"UnwritablePluginCache": {
			reason: "The CLI would fail for every Workspace.",
			env:    map[string]string{"TF_PLUGIN_CACHE_DIR": filepath.Join(file, "cache")},
			want:   []string{"TF_PLUGIN_CACHE_DIR", filepath.Join(file, "cache")},
		},
		"NoLeaseNamespace": {
			reason: "A guess would let two instances of one shard hold a Lease each.",
			args:   []string{"--shard-name=a"},
			env:    map[string]string{"POD_NAMESPACE": ""},
			want:   []string{"--lease-namespace", "POD_NAMESPACE", "not set"},
		},
		"NoKubeconfig": {
			reason: "There is no control plane to be guessed either.",
			env:    map[string]string{"KUBECONFIG": filepath.Join(file, "kubeconfig")},
			want:   []string{"KUBECONFIG", filepath.Join(file, "kubeconfig")},
		},
		"NoConfiguration": {
			reason: "A user who tries the program sees one line, and no stack.",
			env:    map[string]string{"KUBECONFIG": ""},
			want:   []string{"Set KUBECONFIG", "run in a cluster"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()

			cmd := exec.CommandContext(ctx, shared.provider, append([]string{
				"--metrics-bind-address=0",
				"--health-probe-bind-address=0",
			}, tc.args...)...)
			cmd.Env = environment(t.TempDir(), map[string]string{
				// An instance that reads its kubeconfig has accepted the bad input. Its
				// error is a different one.
				"KUBECONFIG":    filepath.Join(empty, "kubeconfig"),
				"XP_TF_DIR":     t.TempDir(),
				"POD_NAMESPACE": "default",
				"TERRAFORM_CLI": shared.tofu(),
			}, tc.env)

			stdout, stderr := &bytes.Buffer{}, &bytes.Buffer{}
			cmd.Stdout, cmd.Stderr = stdout, stderr

			err := cmd.Run()

			if ctx.Err() != nil {
				t.Fatalf("%s: the instance started:\n%s", tc.reason, stderr)
			}

			if err == nil {
				t.Errorf("%s: want an exit code other than 0", tc.reason)
			}

			have := stderr.String()
			if strings.Count(have, "\n") != 1 || !strings.HasSuffix(have, "\n") {
				t.Errorf("%s: want one line on stderr, got:\n%s", tc.reason, have)
			}

			for _, want := range tc.want {
				if !strings.Contains(have, want) {
					t.Errorf("%s: want %q in:\n%s", tc.reason, want, have)
				}
			}

			if stdout.Len() > 0 {
				t.Errorf("%s: want nothing on stdout, got:\n%s", tc.reason, stdout)
			}
		})
	}
}

// TestHelpAndVersion runs the program with the arguments that need no cluster, no CLI and no other flag.
func TestHelpAndVersion(t *testing.T) {
	t.Parallel()

	for arg, want := range map[string]string{
		"--version": "provider-terraform ",
		"version":   "provider-terraform ",
		"--help":    "usage: ",
		"-h":        "usage: ",
		"help":      "usage: ",
	} {
		cmd := exec.CommandContext(t.Context(), shared.provider, arg)
		cmd.Env = []string{"CROSSPLANE_TERRAFORM_PROVIDER_VERSION=v1", "CROSSPLANE_TERRAFORM_PROVIDER_HELP=v1"}

		stderr := &bytes.Buffer{}
		cmd.Stderr = stderr

		out, err := cmd.Output()
		if err != nil || stderr.Len() > 0 || !strings.HasPrefix(string(out), want) {
			t.Errorf("%s: want a text that begins with %q, got %q, %q, %v", arg, want, out, stderr, err)
		}
	}
}
