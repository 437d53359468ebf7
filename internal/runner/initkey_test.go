// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/initcache"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// place is the part of the machine that a Runner depends on.
type place struct {
	root      *workdir.Root
	initCache *initcache.Cache
	bin       string

	// outside is a directory that belongs to no Workspace.
	outside string
}

func newPlace(t *testing.T) *place {
	t.Helper()

	root, err := workdir.Open(t.TempDir(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}

	p := &place{root: root, initCache: initcache.New(filepath.Join(root.Path(), ".initialized"), func(bool) {}), bin: t.TempDir(), outside: t.TempDir()}
	p.writeFile(t, "backend.hcl", "path = 1")
	p.writeFile(t, "quoted.hcl", "path = 1")

	return p
}

func (p *place) writeFile(t *testing.T, name, text string) {
	t.Helper()

	if err := os.WriteFile(filepath.Join(p.outside, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// newRunner returns the Runner of a Workspace with the supplied UID, after the change, at the
// time when its inputs are written.
func (p *place) newRunner(t *testing.T, uid string, change func(r *Runner)) *Runner {
	t.Helper()

	r := p.stubbed(t, uid, inline("# module"))
	r.Environ = []string{"HOME=" + p.outside, "PATH=/bin", `TF_CLI_ARGS_init="-backend-config=` + filepath.Join(p.outside, "quoted.hcl") + `"`}
	r.Inputs.env = []string{"TF_VAR_a=" + uid, "KUBE_NAMESPACE=a"}
	r.Inputs.varFiles = []string{"values.tfvars"}
	r.Inputs.config["values.tfvars"] = workdir.File{Data: []byte("a = " + uid)}
	r.Inputs.parameters.InitArgs = []string{"-backend-config=" + filepath.Join(p.outside, "backend.hcl")}

	if change != nil {
		change(r)
	}

	path, err := r.writeInputs()
	if err != nil {
		t.Fatal(err)
	}

	r.run = &terraform.Workspace{Dir: path, Name: r.Name, Env: r.env(path)}

	return r
}

// file returns a change that adds a file to those beside the module.
func file(name, text string) func(r *Runner) {
	return func(r *Runner) { r.Inputs.config[name] = workdir.File{Data: []byte(text)} }
}

// inEnviron returns a change of the environment that all Workspaces have in common.
func inEnviron(kv string) func(r *Runner) {
	return func(r *Runner) { r.Environ = append(r.Environ, kv) }
}

// inEnv returns a change of the environment that the Workspace asks for.
func inEnv(kv string) func(r *Runner) {
	return func(r *Runner) { r.Inputs.env = append(r.Inputs.env, kv) }
}

// TestInitKey ensures that one Workspace reuses the result of init of another one if, and only
// if, no input of init differs.
func TestInitKey(t *testing.T) {
	t.Parallel()

	args := func(args *[]string, arg string) { *args = append(*args, arg) }
	module := func(name, text string) func(r *Runner) {
		return func(r *Runner) { r.Inputs.module[name] = workdir.File{Data: []byte(text)} }
	}

	cases := map[string]struct {
		reason string
		change func(r *Runner)
		// inPlace is a change of the machine. It returns one of the Runner.
		inPlace func(t *testing.T, p *place) func(r *Runner)
		want    bool
	}{
		"Same":          {reason: "Neither the UID nor the variables of the Workspace count.", want: true},
		"Variable":      {reason: "Variables are for plan.", want: true, change: func(r *Runner) { r.Inputs.parameters.Vars = []commonv1beta1.Var{{Key: "a", Value: "b"}} }},
		"VariableOfAll": {reason: "So are the variables of the provider.", want: true, change: inEnviron("TF_VAR_x=y")},
		"Unrelated":     {reason: "Each pod has variables of its own.", want: true, change: inEnviron("HOSTNAME=other")},
		"PlanArgs":      {reason: "They are for plan.", want: true, change: func(r *Runner) { args(&r.Inputs.parameters.PlanArgs, "-parallelism=1") }},
		"Module":        {reason: "Another module has other requirements.", change: module("main.tf", "other")},
		"LocalModule":   {reason: "Local modules have requirements, too.", change: module("a/main.tf", "other")},
		"Entrypoint":    {reason: "Another directory of it, too.", change: func(r *Runner) { r.Inputs.parameters.Entrypoint = "b" }},
		"Requirements":  {reason: "The configuration may have requirements and a backend.", change: file(configurationFile, "terraform {}")},
		"Lock":          {reason: "A lock file selects the providers.", change: file(".terraform.lock.hcl", "lock")},
		"Backend":       {reason: "The state is in another place.", change: file(backendFile, "path = 2")},
		"InitArgs":      {reason: "Arguments change the result.", change: func(r *Runner) { args(&r.Inputs.parameters.InitArgs, "-get=false") }},
		"Args":          {reason: "So do the arguments in the environment.", change: inEnviron("TF_CLI_ARGS_init=-get=false")},
		"CLIConfig":     {reason: "It says where to get providers.", change: file(cliConfigFile, "provider_installation {}")},
		"Git":           {reason: "A Workspace that may not fetch a module does not get it from another one.", change: file(gitCredentialsFile, "https://me@host")},
		"Env":           {reason: "The environment of the Workspace may have credentials.", change: inEnv("KUBE_NAMESPACE=b")},
		"Token":         {reason: "Those are credentials of a registry.", change: inEnviron("TF_TOKEN_host=secret")},
		"Proxy":         {reason: "Providers and modules may come from another place.", change: inEnviron("https_proxy=http://proxy")},
		"GitConfig":     {reason: "Modules may come from another place, too.", change: inEnviron("GIT_CONFIG_GLOBAL=/other")},
		"Role":          {reason: "Another instance may fetch other modules.", change: inEnviron("AWS_ROLE_ARN=other")},
		"HTTPBackend":   {reason: "It may also have another backend.", change: inEnviron("TF_HTTP_ADDRESS=https://other")},
		"Encryption":    {reason: "It may read other states.", change: inEnviron("TF_ENCRYPTION=# other")},
		"PluginCache":   {reason: "Providers are linked to the plugin cache or not.", change: func(r *Runner) { r.Inputs.pluginCache = false }},
		"Upgrade":       {reason: "It checks for newer versions.", change: func(r *Runner) { args(&r.Inputs.parameters.InitArgs, "-upgrade") }},
		"CLIConfigFile": {reason: "It may be anywhere.", inPlace: func(t *testing.T, p *place) func(*Runner) {
			t.Helper()
			p.writeFile(t, "rc", "provider_installation {}")

			return inEnviron("TF_CLI_CONFIG_FILE=" + filepath.Join(p.outside, "rc"))
		}},
		"NamedFile": {reason: "An argument may name a file outside of the directory.", inPlace: func(t *testing.T, p *place) func(*Runner) {
			t.Helper()
			p.writeFile(t, "backend.hcl", "path = 2")

			return nil
		}},
		"NamedFileInEnv": {reason: "So may an argument in the environment, in quotes.", inPlace: func(t *testing.T, p *place) func(*Runner) {
			t.Helper()
			p.writeFile(t, "quoted.hcl", "path = 2")

			return nil
		}},
		"Version": {reason: "Another version of the CLI has another result.", inPlace: otherCLI("tofu", "OpenTofu v1.2.4")},
		"Product": {reason: "So does another product.", inPlace: otherCLI("tofu", "Terraform v1.2.3")},
		"Path":    {reason: "So may another build.", inPlace: otherCLI("mine", "OpenTofu v1.2.3")},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			first := p.newRunner(t, "11111111-1111-4111-8111-111111111111", nil)

			key, restored, err := restore(first)
			if restored || err != nil {
				t.Fatalf("restoreInit(...) in the first directory: want false, got %t and error %v", restored, err)
			}

			if err := os.Mkdir(filepath.Join(first.run.Dir, terraform.DataDir), 0o700); err != nil {
				t.Fatal(err)
			}

			if err := first.InitCache.Store(key, first.Dir.Path(), first.run.Dir); err != nil {
				t.Fatal(err)
			}

			if tc.inPlace != nil {
				tc.change = tc.inPlace(t, p)
			}

			second := p.newRunner(t, "22222222-2222-4222-8222-222222222222", tc.change)

			_, got, err := restore(second)
			if got != tc.want || err != nil {
				t.Errorf("\n%s\nrestoreInit(...): want %t, got %t and error %v", tc.reason, tc.want, got, err)
			}
		})
	}
}

// restore the result of an earlier init, as prepareDir does.
func restore(r *Runner) (key string, restored bool, err error) {
	key, err = r.newInitKey()
	if err == nil {
		restored, err = r.restoreInit(key)
	}

	return key, restored, err
}

// otherCLI makes the Runner use a CLI with this name, product and version.
func otherCLI(name, version string) func(t *testing.T, p *place) func(r *Runner) {
	return func(t *testing.T, p *place) func(r *Runner) {
		t.Helper()

		cli := p.cli(t, name, version)

		return func(r *Runner) { r.CLI = cli }
	}
}

// TestOddFiles has an argument of init that names a special file, and a module with special
// files. No read of them blocks. The result of init is not shared, because the contents of such
// files are unknown.
func TestOddFiles(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	pipe := filepath.Join(p.outside, "pipe")

	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}

	for name, change := range map[string]func(r *Runner){
		"Argument":      withInitArgs("-backend-config=" + pipe),
		"Device":        withInitArgs("-backend-config=/dev/zero"),
		"Configuration": inEnv("TF_CLI_CONFIG_FILE=" + pipe),
	} {
		t.Run(name, func(t *testing.T) {
			r := p.newRunner(t, "11111111-1111-4111-8111-111111111111", change)

			if err := wait.Within(wait.Soon, func() {
				key, err := r.newInitKey()
				if want := name == "Configuration"; key != "" || want != (err != nil) {
					t.Errorf("newInitKey(): want none and an error: %t, got %q and %v", want, key, err)
				}
			}); err != nil {
				t.Fatal(err)
			}
		})
	}

	t.Run("Module", func(t *testing.T) {
		r := p.newRunner(t, "22222222-2222-4222-8222-222222222222", nil)
		if err := unix.Mkfifo(filepath.Join(r.Dir.Path(), "pipe.tf"), 0o600); err != nil {
			t.Fatal(err)
		}

		if err := wait.Within(wait.Soon, func() {
			if _, err := r.declared(); err != nil {
				t.Errorf("declared(): want the other declarations, got %v", err)
			}
		}); err != nil {
			t.Error(err)
		}
	})

	t.Run("State", func(t *testing.T) {
		r := p.newRunner(t, "33333333-3333-4333-8333-333333333333", nil)
		if err := unix.Mkfifo(filepath.Join(r.Dir.Path(), terraform.ErroredStateFile), 0o600); err != nil {
			t.Fatal(err)
		}

		if path, err := r.UnsavedState(); err == nil {
			t.Errorf("UnsavedState(): want an error, got %q", path)
		}
	})
}

// TestUpgrade ensures that an init that checks for newer versions always runs, and that its
// result is used only by Workspaces that ask for newer versions.
func TestUpgrade(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(r *Runner)
		want   bool
	}{
		"None":       {reason: "Other arguments are no reason."},
		"Upgrade":    {reason: "It asks for newer versions.", change: withInitArgs("-upgrade"), want: true},
		"Two":        {reason: "In another form, too.", change: withInitArgs("--upgrade=true"), want: true},
		"FromModule": {reason: "It downloads the module.", change: withInitArgs("-from-module=x"), want: true},
		"OfAll":      {reason: "It may be in the environment of all Workspaces.", change: inEnviron("TF_CLI_ARGS=-no-color -upgrade"), want: true},
		"OfInit":     {reason: "Or in that of one Workspace.", change: inEnv("TF_CLI_ARGS_init=-upgrade"), want: true},
		"OfPlan":     {reason: "It applies to plan, not to init.", change: inEnv("TF_CLI_ARGS_plan=-upgrade")},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			r := p.newRunner(t, "11111111-1111-4111-8111-111111111111", tc.change)

			if got := r.needsOwnInit(); got != tc.want {
				t.Errorf("\n%s\nneedsOwnInit(): want %t, got %t", tc.reason, tc.want, got)
			}

			key, err := r.newInitKey()
			if err != nil {
				t.Fatal(err)
			}

			if got := key == ""; got != tc.want {
				t.Errorf("\n%s\nits result is not shared: want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func withInitArgs(args ...string) func(r *Runner) {
	return func(r *Runner) { r.Inputs.parameters.InitArgs = args }
}

// TestInitDigest ensures that a directory is initialized again for another configuration of the
// backend, the providers or the CLI, and that Close of a Runner closes its directory.
func TestInitDigest(t *testing.T) {
	t.Parallel()

	const uid = "11111111-1111-4111-8111-111111111111"

	p := newPlace(t)
	plain := p.newRunner(t, uid, nil).initDigest()

	changes := map[string]func(r *Runner){
		"Configuration":      file(configurationFile, "#"),
		"Backend":            file(backendFile, "#"),
		"CLIConfig":          file(cliConfigFile, "#"),
		"Arguments":          func(r *Runner) { r.Inputs.parameters.InitArgs = nil },
		"ArgumentsInEnv":     inEnv("TF_CLI_ARGS_init=-backend-config=path=1"),
		"ArgumentsInEnviron": inEnviron("TF_CLI_ARGS=-backend-config=path=1"),
	}

	for name, change := range changes {
		r := p.newRunner(t, uid, change)
		if r.initDigest() == plain {
			t.Errorf("initDigest() of %s: want another digest", name)
		}

		if err := r.Close(); err != nil {
			t.Fatal(err)
		}

		if err := r.Dir.Sync(nil); err == nil {
			t.Error("Sync(...) after Close(): want an error")
		}
	}
}

// TestInitKeyOfToken ensures that another token of the same ServiceAccount makes no difference, and that of another one does.
func TestInitKeyOfToken(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	key := func(uid, namespace, token string) string {
		t.Helper()

		r := p.newRunner(t, uid, func(r *Runner) {
			r.Namespace, r.Inputs.tokens = namespace, tokens{"token": {Name: "terraform", Audience: "vault"}}
			file("token", token)(r)
		})

		k, err := r.newInitKey()
		if err != nil || k == "" {
			t.Fatalf("want a key, got %q, %v", k, err)
		}

		return k
	}

	first := key("11111111-1111-1111-1111-111111111111", "one", "first")
	if key("22222222-2222-2222-2222-222222222222", "one", "second") != first {
		t.Error("want the same key with the next token")
	}

	if key("33333333-3333-3333-3333-333333333333", "two", "first") == first {
		t.Error("want another key for the ServiceAccount of another namespace")
	}
}
