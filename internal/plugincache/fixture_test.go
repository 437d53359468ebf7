// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// configName is the file with the configuration of the CLI.
const configName = "cli.tfrc"

// A cli is a program to test with.
type cli struct {
	name, path, registry string
}

// A fixture is a CLI, a mirror that it gets providers from, and a plugin cache.
type fixture struct {
	*mirror

	cli   cli
	cache string
}

// eachCLI runs a test with every CLI on this machine.
func eachCLI(t *testing.T, run func(t *testing.T, f *fixture)) {
	t.Helper()

	registries := map[string]string{"tofu": "registry.opentofu.org", "terraform": "registry.terraform.io"}

	for name, path := range program.CLIs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, &fixture{mirror: newMirror(t), cli: cli{name: name, path: path, registry: registries[name]}, cache: t.TempDir()})
		})
	}
}

// A place is a directory for runs, with a plugin cache.
type place struct {
	cli cli
	run Run
}

// place returns a directory with a module, whose CLI gets providers from the mirror.
func (f *fixture) place(t *testing.T, module string) *place {
	t.Helper()

	root := t.TempDir()
	p := &place{cli: f.cli, run: Run{
		Root:     root,
		Dir:      root,
		Private:  filepath.Join(root, ".private"),
		Registry: f.cli.registry,
		Env: []string{
			"HOME=" + os.DevNull, "PATH=" + os.Getenv("PATH"), "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1",
			"SSL_CERT_FILE=" + f.certificate, "TF_CLI_CONFIG_FILE=" + filepath.Join(root, configName), Variable + "=" + f.cache,
		},
	}}
	p.write(t, configName, fmt.Sprintf("provider_installation {\n  network_mirror {\n    url = %q\n  }\n}\n", f.URL+"/"))
	p.write(t, "main.tf", module)

	return p
}

func (p *place) write(t *testing.T, name, text string) {
	t.Helper()
	write(t, filepath.Join(p.run.Root, name), text)
}

func (p *place) read(t *testing.T, name string) string {
	t.Helper()

	text, err := os.ReadFile(filepath.Join(p.run.Root, name))
	if err != nil {
		t.Fatal(err)
	}

	return string(text)
}

// init initializes the directory.
func (p *place) init(ctx context.Context, args ...string) error {
	return Init(ctx, p.run, func(env []string) error {
		return p.exec(ctx, env, append([]string{"init", "-input=false", "-no-color"}, args...)...)
	})
}

// mustInit initializes the directory, which has to succeed.
func (p *place) mustInit(t *testing.T, args ...string) {
	t.Helper()

	if err := p.init(t.Context(), args...); err != nil {
		t.Fatal(err)
	}
}

func (p *place) exec(ctx context.Context, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, p.cli.path, args...)
	cmd.Dir = p.run.Dir
	cmd.Env = env

	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %q: %s: %w", p.cli.name, args, out, err)
	}

	return nil
}

// provider returns the resolved target of the link to a provider.
func (p *place) provider(t *testing.T, name, version string) string {
	t.Helper()

	link := filepath.Join(p.run.Dir, providersDir, p.cli.registry, "hashicorp", name, version, runtime.GOOS+"_"+runtime.GOARCH)

	path, err := filepath.EvalSymlinks(link)
	if err != nil {
		t.Fatal(err)
	}

	return path
}

// stored returns the names of the packages in the store of a plugin cache.
func stored(t *testing.T, cache string) []string {
	t.Helper()

	entries, err := os.ReadDir(filepath.Join(cache, storeDir, packagesDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}

	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}

	return names
}

// expectStored fails the test unless the store has exactly the packages of these names.
func expectStored(t *testing.T, cache, what string, want ...string) {
	t.Helper()

	if diff := cmp.Diff(want, stored(t, cache), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("packages %s: -want, +got:\n%s", what, diff)
	}
}

// expectPackages fails the test unless the store has this number of packages.
func expectPackages(t *testing.T, cache, what string, want int) {
	t.Helper()

	if got := stored(t, cache); len(got) != want {
		t.Errorf("packages %s: want %d, got %q", what, want, got)
	}
}

// require returns a module that requires a provider, by name and version.
func require(provider, version string) string {
	return fmt.Sprintf("terraform {\n  required_providers {\n    %s = {\n      source  = \"hashicorp/%[1]s\"\n      version = %q\n    }\n  }\n}\n", provider, version)
}

func write(t *testing.T, path, text string) {
	t.Helper()

	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// timeProvider returns the program of a provider that works.
func timeProvider(t *testing.T) []byte {
	t.Helper()

	found, err := filepath.Glob(filepath.Join(program.Need(t, "PROVIDER_MIRROR"), "registry.opentofu.org", "hashicorp", "time", "*", "*", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("PROVIDER_MIRROR has %q, %v: want one provider", found, err)
	}

	program, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}

	return program
}
