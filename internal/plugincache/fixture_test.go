// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A cli is a program to test with.
type cli struct {
	name, path, registry string
}

// eachCLI runs a test with every CLI that there is.
func eachCLI(t *testing.T, run func(t *testing.T, c cli)) {
	t.Helper()

	tofu := os.Getenv("TOFU_BIN")
	if tofu == "" {
		t.Fatal("TOFU_BIN is not set: run `make test`, which builds what these tests need")
	}

	clis := []cli{{name: "tofu", path: tofu, registry: "registry.opentofu.org"}}
	if path, err := exec.LookPath("terraform"); err == nil {
		clis = append(clis, cli{name: "terraform", path: path, registry: "registry.terraform.io"})
	}

	for _, c := range clis {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run(t, c)
		})
	}
}

// A mirror serves providers over HTTPS, and counts what is downloaded.
type mirror struct {
	*httptest.Server

	certificate string

	mu        sync.Mutex
	versions  map[string][]string
	archives  map[string][]byte
	downloads map[string]int

	// before is called before each download.
	before func(w http.ResponseWriter, provider string)
}

func newMirror(t *testing.T) *mirror {
	t.Helper()

	m := &mirror{
		versions:  map[string][]string{},
		archives:  map[string][]byte{},
		downloads: map[string]int{},
		before:    func(http.ResponseWriter, string) {},
	}
	m.Server = httptest.NewTLSServer(m)
	t.Cleanup(m.Close)

	m.certificate = filepath.Join(t.TempDir(), "ca.pem")
	write(t, m.certificate, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: m.Certificate().Raw})))

	return m
}

// add a version of a provider of the namespace hashicorp.
func (m *mirror) add(t *testing.T, name, version string, program []byte) {
	t.Helper()

	b := &bytes.Buffer{}
	z := zip.NewWriter(b)

	h := &zip.FileHeader{Name: "terraform-provider-" + name + "_v" + version, Method: zip.Store}
	h.SetMode(0o755)

	f, err := z.CreateHeader(h)
	if err == nil {
		_, err = f.Write(program)
	}

	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}

	m.mu.Lock()
	defer m.mu.Unlock()

	m.versions[name] = append(m.versions[name], version)
	m.archives[name+"_"+version+".zip"] = b.Bytes()
}

// intercept downloads.
func (m *mirror) intercept(before func(w http.ResponseWriter, provider string)) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.before = before
}

// downloaded returns how often each archive was asked for.
func (m *mirror) downloaded() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()

	return maps.Clone(m.downloads)
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// HOST/hashicorp/NAME/FILE
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) != 4 {
		http.NotFound(w, r)

		return
	}

	name, file := parts[2], parts[3]

	m.mu.Lock()
	archive, isArchive := m.archives[file]
	before, versions := m.before, slices.Clone(m.versions[name])

	// Terraform asks whether it is there first.
	if isArchive && r.Method == http.MethodGet {
		m.downloads[file]++
	}
	m.mu.Unlock()

	var answer any

	switch version, isVersion := strings.CutSuffix(file, ".json"); {
	case isArchive && r.Method == http.MethodHead:
		return
	case isArchive:
		before(w, name)

		_, _ = w.Write(archive)

		return
	case file == "index.json" && len(versions) > 0:
		all := map[string]any{}
		for _, v := range versions {
			all[v] = map[string]any{}
		}

		answer = map[string]any{"versions": all}
	case isVersion:
		platform := runtime.GOOS + "_" + runtime.GOARCH
		answer = map[string]any{"archives": map[string]any{platform: map[string]any{"url": name + "_" + version + ".zip"}}}
	default:
		http.NotFound(w, r)

		return
	}

	w.Header().Set("Content-Type", "application/json")

	_ = json.NewEncoder(w).Encode(answer)
}

// A place is a directory for runs, with a plugin cache.
type place struct {
	cli cli
	run Run
}

// newPlace returns a directory in which the CLI gets providers from the mirror.
func newPlace(t *testing.T, c cli, m *mirror, cache string, files map[string]string) *place {
	t.Helper()

	root := t.TempDir()
	config := filepath.Join(root, "cli.tfrc")
	write(t, config, fmt.Sprintf("provider_installation {\n  network_mirror {\n    url = %q\n  }\n}\n", m.URL+"/"))

	for name, text := range files {
		write(t, filepath.Join(root, name), text)
	}

	return &place{cli: c, run: Run{
		Root:     root,
		Dir:      root,
		Private:  filepath.Join(root, ".private"),
		Registry: c.registry,
		Env: []string{
			"HOME=" + os.DevNull, "PATH=" + os.Getenv("PATH"), "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1",
			"SSL_CERT_FILE=" + m.certificate, "TF_CLI_CONFIG_FILE=" + config, Variable + "=" + cache,
		},
	}}
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

	out, err := cmd.CombinedOutput()

	return errors.Wrapf(err, "%s %q: %s", p.cli.name, args, out)
}

// provider returns where the link to a provider leads, resolved.
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
