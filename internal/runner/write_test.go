// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestFiles ensures which inputs are on disk during a run, that only their owner can read them,
// and that no secret stays after it.
func TestFiles(t *testing.T) {
	t.Parallel()

	const secret = "sesame-sesame"

	cases := map[string]struct {
		reason string
		change []func(s *subject)
		// lasting and passing are the files that stay after Close and that do not.
		lasting, passing filesystem.Files
	}{
		"Inline": {
			reason:  "The module is written.",
			lasting: filesystem.Files{"main.tf": "# module"},
		},
		"ProviderConfig": {
			reason:  "Its files are beside the module.",
			change:  []func(*subject){configuration("# configuration"), partialBackend, credentials("creds", ".git-credentials", ".terraformrc")},
			lasting: filesystem.Files{"main.tf": "# module", "crossplane-provider-config.tf": "# configuration", "crossplane.remote.tfbackend": "path = 1"},
			passing: filesystem.Files{"creds": secret, ".git-credentials": secret, ".terraformrc": secret},
		},
		"Entrypoint": {
			reason:  "They are where the CLI runs.",
			change:  []func(*subject){entrypoint("/a//b/"), configuration("# configuration"), variables},
			lasting: filesystem.Files{"a/b/main.tf": `variable "a" {}`, "a/b/crossplane-provider-config.tf": "# configuration"},
			passing: filesystem.Files{
				"a/b/crossplane-provider-terraform-vars.tfvars":   "a = \"b\"\n",
				"a/b/crossplane-provider-terraform-0.tfvars":      "from-config-map\n",
				"a/b/crossplane-provider-terraform-1.tfvars.json": `{"a": "` + secret + `"}`,
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			r := p.stubbed(t, firstUID, tc.change...)

			uses := 0
			r.Use = func() func() {
				uses++

				return func() { uses-- }
			}

			for range 2 {
				if _, err := r.Plan(t.Context(), false); err != nil {
					t.Fatal(err)
				}
			}

			if uses != 1 {
				t.Errorf("\n%s\nuses of the state during runs: want 1, got %d", tc.reason, uses)
			}

			written := filesystem.Files{planFile: ""}
			maps.Copy(written, tc.lasting)
			maps.Copy(written, tc.passing)

			expectFiles(t, tc.reason+"\nduring the runs", r, written)

			for name := range written {
				path := pathIn(r, name)
				if name == planFile {
					path = filepath.Join(r.Dir.Records(), name)
				}

				info, err := os.Stat(path)
				if err != nil {
					t.Fatal(err)
				}

				if info.Mode().Perm() != 0o600 {
					t.Errorf("\n%s\nmode of %s: want 0600, got %o", tc.reason, name, info.Mode().Perm())
				}
			}

			path := r.Dir.Path()
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}

			expectFiles(t, tc.reason+"\nafter Close", r, tc.lasting)

			if uses != 0 {
				t.Errorf("\n%s\nuses of the state after Close: want 0, got %d", tc.reason, uses)
			}

			if err := r.Dir.Sync(nil); err == nil {
				t.Errorf("\n%s\nSync(...) in %s after Close: want an error", tc.reason, path)
			}
		})
	}
}

// expectFiles expects exactly these inputs in the directory, and this plan among the records.
func expectFiles(t *testing.T, what string, r *Runner, want filesystem.Files) {
	t.Helper()

	got := filesystem.Read(t, r.Dir.Path(), terraform.DataDir)
	maps.Copy(got, filesystem.Read(t, r.Dir.Records(), "manifest.json", "use"))

	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("\n%s: -want, +got:\n%s", what, diff)
	}
}

// TestFilesOfBadVariables ensures that variables which do not fit the module are an error that
// only the commands with variables return, and that a list is written as one.
func TestFilesOfBadVariables(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	r := p.stubbed(t, firstUID, inline(`variable "a" { type = list(string) }`), badVariable)
	expectError(t, "State(...)", "cannot use spec.forProvider.vars", callState(t.Context(), r))
	expectError(t, "Incomplete()", "cannot use spec.forProvider.vars", r.Incomplete())
	expectFiles(t, "without the variables", r, filesystem.Files{"main.tf": `variable "a" { type = list(string) }`})
}

// TestDirectoryInPlaceOfFile ensures that the error about a directory with the name of a file beside the module names the field that
// the file is from.
func TestDirectoryInPlaceOfFile(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		change    []func(s *subject)
		dir, want string
	}{
		"Credentials": {
			change: []func(*subject){entrypoint("a"), credentials("creds")}, dir: "a/creds",
			want: `cannot write spec.credentials of the ProviderConfig, filename "creds": the module has a directory "a/creds": rename one of the two`,
		},
		"Configuration": {
			change: []func(*subject){configuration("# c")}, dir: configurationFile,
			want: `cannot write spec.configuration of the ProviderConfig: the module has a directory "crossplane-provider-config.tf": rename one of the two`,
		},
		"Variables": {
			change: []func(*subject){variables}, dir: varsFile,
			want: `cannot write spec.forProvider.vars: the module has a directory "crossplane-provider-terraform-vars.tfvars": rename one of the two`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			r := p.stubbed(t, firstUID, tc.change...)
			filesystem.Write(t, r.Dir.Path(), filesystem.Files{tc.dir + "/file": "x"})

			if err := callState(t.Context(), r); err == nil || err.Error() != tc.want {
				t.Errorf("State(...): want error %q, got %v", tc.want, err)
			}
		})
	}
}

// TestUnusedClose ensures that Close of a Runner that did not run anything removes no file: another
// process may use the directory.
func TestUnusedClose(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	r := p.stubbed(t, firstUID)
	filesystem.Write(t, r.Dir.Records(), filesystem.Files{planFile: "plan"})

	if err := r.Close(); err != nil {
		t.Fatal(err)
	}

	expectFiles(t, "after Close", r, filesystem.Files{planFile: "plan"})
}

// TestRemoveSecrets ensures that everything secret that a killed process left is removed, and what
// only its run could use, and that a directory which it cannot clean is an error.
func TestRemoveSecrets(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	r := p.stubbed(t, firstUID)
	filesystem.Write(t, r.Dir.Records(), filesystem.Files{planFile: "plan"})
	filesystem.Write(t, r.Dir.Path(), filesystem.Files{
		stateOnlyDir + "/.terraform/terraform.tfstate": "secret", privatePlugins + "/r/n/a/1.0.0/p": "-> /package", "kept": "k",
	})

	for range 2 {
		if err := RemoveSecrets(r.Dir); err != nil {
			t.Fatal(err)
		}
	}

	expectFiles(t, "after RemoveSecrets", r, filesystem.Files{"kept": "k"})

	// A run can leave anything in place of the plan.
	filesystem.Write(t, r.Dir.Records(), filesystem.Files{planFile + "/in/the/way": "x"})
	filesystem.Write(t, r.Dir.Path(), filesystem.Files{stateOnlyDir: "secret"})

	if err := RemoveSecrets(r.Dir); err != nil {
		t.Error(err)
	}

	expectFiles(t, "after a directory in place of the plan", r, filesystem.Files{"kept": "k"})

	filesystem.Write(t, r.Dir.Records(), filesystem.Files{planFile: "plan", "manifest.json": "broken"})
	expectError(t, "RemoveSecrets(...)", "cannot remove secrets", RemoveSecrets(r.Dir))
}

// TestEnviron ensures which environment the commands have.
func TestEnviron(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		change  []func(s *subject)
		environ []string
		env     []string
		answers map[string][]string
		// want are variables of each run. A variable without a value must be absent.
		want []map[string]string
	}{
		"Workspace": {
			reason: "Init has no Terraform workspace, so that its result fits all of them.",
			want:   []map[string]string{{"TF_WORKSPACE": ""}, {"TF_WORKSPACE": "ws"}},
		},
		"StateInit": {
			reason:  "Only an init for the providers of the state has one.",
			answers: map[string][]string{"state": {fails("This state requires provider x")}},
			want:    []map[string]string{{"TF_WORKSPACE": ""}, {"TF_WORKSPACE": "ws"}, {"TF_WORKSPACE": "ws"}, {"TF_WORKSPACE": "ws"}},
		},
		"ModuleInit": {
			reason:  "Another one has none.",
			answers: map[string][]string{"state": {fails("Module not installed")}},
			want:    []map[string]string{{"TF_WORKSPACE": ""}, {"TF_WORKSPACE": "ws"}, {"TF_WORKSPACE": ""}, {"TF_WORKSPACE": "ws"}},
		},
		"Precedence": {
			reason: "The Workspace overrides the provider.", environ: []string{"A=provider", "B=provider"}, env: []string{"A=workspace"},
			want: []map[string]string{{"A": "workspace", "B": "provider", "TF_INPUT": "0"}, {"A": "workspace", "B": "provider", "TF_INPUT": "0"}},
		},
		"Reserved": {
			reason: "Neither may choose another data directory or Terraform workspace.", environ: []string{"TF_DATA_DIR=/x", "TF_WORKSPACE=x"}, env: []string{"TF_DATA_DIR=/y", "TF_WORKSPACE=y"},
			want: []map[string]string{{"TF_DATA_DIR": "", "TF_WORKSPACE": ""}, {"TF_DATA_DIR": "", "TF_WORKSPACE": "ws"}},
		},
		"CLIConfig": {
			reason: "Credentials of that name configure the CLI.", change: []func(*subject){credentials(".terraformrc")}, environ: []string{"TF_CLI_CONFIG_FILE=/x"},
			want: []map[string]string{{"TF_CLI_CONFIG_FILE": "DIR/.terraformrc", "GIT_CRED_DIR": ""}, {"TF_CLI_CONFIG_FILE": "DIR/.terraformrc", "GIT_CRED_DIR": ""}},
		},
		"NoCLIConfig": {
			reason: "Other credentials do not.", change: []func(*subject){credentials("creds")}, environ: []string{"TF_CLI_CONFIG_FILE=/x"},
			want: []map[string]string{{"TF_CLI_CONFIG_FILE": "/x"}, {"TF_CLI_CONFIG_FILE": "/x"}},
		},
		"Git": {
			reason: "Init fetches modules with them.", change: []func(*subject){credentials(".git-credentials"), entrypoint("a")},
			want: []map[string]string{
				{"GIT_CRED_DIR": "DIR/a", "GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "credential.helper", "GIT_CONFIG_VALUE_0": "", "GIT_CONFIG_KEY_1": "credential.helper", "GIT_CONFIG_VALUE_1": environ.GitCredentialHelper("$GIT_CRED_DIR/.git-credentials")},
				{"GIT_CRED_DIR": "DIR/a", "TF_CLI_CONFIG_FILE": ""},
			},
		},
		"GitElsewhere": {
			reason: "Not those that another Workspace may have.", change: []func(*subject){credentials(".git-credentials")}, env: []string{"GIT_CRED_DIR=/tmp"},
			want: []map[string]string{{"GIT_CRED_DIR": "DIR"}, {"GIT_CRED_DIR": "DIR"}},
		},
		"PluginCache": {
			reason: "It is used. The directory does not exist, so the CLI says what is wrong.", environ: []string{"TF_PLUGIN_CACHE_DIR=/x"},
			want: []map[string]string{{"TF_PLUGIN_CACHE_DIR": "/x"}, {"TF_PLUGIN_CACHE_DIR": "/x"}},
		},
		"NoPluginCache": {
			reason: "The ProviderConfig forbids it.", change: []func(*subject){func(s *subject) { s.config.PluginCache = new(false) }}, environ: []string{"TF_PLUGIN_CACHE_DIR=/x"},
			want: []map[string]string{{"TF_PLUGIN_CACHE_DIR": ""}, {"TF_PLUGIN_CACHE_DIR": ""}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			r := p.stubbed(t, firstUID, tc.change...)
			r.Environ = append(r.Environ, tc.environ...)
			r.Inputs.env = tc.env

			for command, answers := range tc.answers {
				p.answer(t, command, answers...)
			}

			if _, err := r.State(t.Context()); err != nil {
				t.Fatal(err)
			}

			environs := p.environs(t)
			if len(environs) != len(tc.want) {
				t.Fatalf("\n%s\nwant %d runs, got %d", tc.reason, len(tc.want), len(environs))
			}

			for n, want := range tc.want {
				for name, value := range want {
					if rest, ok := strings.CutPrefix(value, "DIR"); ok {
						value = r.Dir.Path() + rest
					}

					if got := environs[n][name]; got != value {
						t.Errorf("\n%s\n%s in run %d: want %q, got %q", tc.reason, name, n, value, got)
					}
				}
			}
		})
	}
}

// TestLog ensures that the output of a run is logged without secrets.
func TestLog(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	p.answer(t, "init", "echo password sesame-sesame.")

	r := p.stubbed(t, firstUID, credentials("creds"))

	var lines []string

	r.Log = func(line string) { lines = append(lines, line) }

	if _, err := r.State(t.Context()); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]string{"password (sensitive)."}, lines); diff != "" {
		t.Errorf("lines: -want, +got:\n%s", diff)
	}
}
