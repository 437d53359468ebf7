// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// timeProvider returns the program of a provider that works.
func timeProvider(t *testing.T) []byte {
	t.Helper()

	dir := os.Getenv("PROVIDER_MIRROR")
	if dir == "" {
		t.Fatal("PROVIDER_MIRROR is not set: run `make test`, which builds what these tests need")
	}

	found, err := filepath.Glob(filepath.Join(dir, "registry.opentofu.org", "hashicorp", "time", "*", "*", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("PROVIDER_MIRROR has %q, %v: want one provider", found, err)
	}

	program, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}

	return program
}

// TestConcurrentRuns starts many runs with a cold plugin cache at once, all of which
// execute the provider as soon as they have it.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, c cli) {
		const runs = 20

		m, cache := newMirror(t), t.TempDir()
		m.add(t, "time", "0.14.2", timeProvider(t))

		var wg sync.WaitGroup

		for n := range runs {
			// Not all modules ask for it in the same way.
			text := `resource "time_static" "this" {}`
			if n%2 == 0 {
				text = require("time", "~> 0.14") + text
			}

			p := newPlace(t, c, m, cache, map[string]string{"main.tf": text})

			wg.Go(func() {
				if err := p.init(t.Context()); err != nil {
					t.Error(err)

					return
				}

				if err := p.exec(t.Context(), p.run.Env, "validate", "-no-color"); err != nil {
					t.Error(err)
				}
			})
		}

		wg.Wait()

		if diff := cmp.Diff(map[string]int{"time_0.14.2.zip": 1}, m.downloaded()); diff != "" {
			t.Errorf("downloads by %d runs that need the same provider: -want, +got:\n%s", runs, diff)
		}

		if got := stored(t, cache); len(got) != 1 {
			t.Errorf("packages in the store: want 1, got %q", got)
		}
	})
}

// TestNothingNewNeverWaits initializes directories while another one waits for a
// download that does not end.
func TestNothingNewNeverWaits(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, c cli) {
		m, cache := newMirror(t), t.TempDir()
		m.add(t, "slow", "1.0.0", []byte("1.0.0"))
		m.add(t, "slow", "2.0.0", []byte("2.0.0"))
		m.add(t, "other", "1.0.0", []byte("other"))

		newPlace(t, c, m, cache, map[string]string{"main.tf": require("slow", "1.0.0")}).mustInit(t)

		asked, release := make(chan struct{}), make(chan struct{})

		m.intercept(func(_ http.ResponseWriter, name string) {
			if name == "slow" {
				close(asked)
				<-release
			}
		})

		slow := newPlace(t, c, m, cache, map[string]string{"main.tf": require("slow", "2.0.0")})
		done := make(chan error, 1)

		go func() { done <- slow.init(t.Context()) }()

		<-asked

		// One that needs nothing new of the same provider, and one that needs another.
		newPlace(t, c, m, cache, map[string]string{"main.tf": require("slow", "~> 1.0")}).mustInit(t)
		newPlace(t, c, m, cache, map[string]string{"main.tf": require("other", "1.0.0")}).mustInit(t)

		select {
		case err := <-done:
			t.Errorf("the slow init ended before its download did: %v", err)
		default:
		}

		close(release)

		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestKilled kills an init in the middle of a download: nothing of it is ever seen
// by another one.
func TestKilled(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, c cli) {
		m, cache := newMirror(t), t.TempDir()
		m.add(t, "a", "1.0.0", []byte("complete"))

		ctx, kill := context.WithCancel(t.Context())

		m.intercept(func(w http.ResponseWriter, _ string) {
			_, _ = w.Write([]byte("half"))

			if f, ok := w.(http.Flusher); ok {
				f.Flush()
			}

			kill()
		})

		p := newPlace(t, c, m, cache, map[string]string{"main.tf": require("a", "1.0.0")})
		if err := p.init(ctx); err == nil {
			t.Fatal("Init(...) that was killed: want an error")
		}

		if diff := cmp.Diff([]string{}, stored(t, cache)); diff != "" {
			t.Errorf("packages after an init was killed: -want, +got:\n%s", diff)
		}

		// What a process leaves that is killed together with its CLI.
		write(t, filepath.Join(p.run.Private, c.registry, "hashicorp", "a", "1.0.0", runtime.GOOS+"_"+runtime.GOARCH, "terraform-provider-a_v1.0.0"), "half")
		m.intercept(func(http.ResponseWriter, string) {})
		p.mustInit(t)

		data, err := os.ReadFile(filepath.Join(p.provider(t, "a", "1.0.0"), "terraform-provider-a_v1.0.0"))
		if err != nil || string(data) != "complete" {
			t.Errorf("program of the provider: want %q, got %q, %v", "complete", data, err)
		}
	})
}

// TestFailureFreesWaiting makes the init fail that others wait for: they go on, and
// do not take turns in failing.
func TestFailureFreesWaiting(t *testing.T) {
	t.Parallel()

	cache := t.TempDir()

	// In its time everything that does not wait is over before anything else goes on.
	synctest.Test(t, func(t *testing.T) {
		take := func(ctx context.Context) (func(), error) {
			return newStore(cache, "origin").takeTurns(ctx, requirements{"example.org/x/y": nil}, func(pkg) bool { return false })
		}

		done, err := take(t.Context())
		if err != nil {
			t.Fatal(err)
		}

		const runs = 3

		freed := make(chan func(), runs)

		for range runs {
			go func() {
				done, err := take(t.Context())
				if err != nil {
					t.Error(err)
				}

				freed <- done
			}()
		}

		synctest.Wait()

		if len(freed) != 0 {
			t.Errorf("runs that did not wait: want none, got %d", len(freed))
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()

		if _, err := take(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("takeTurns(...) with a context that ends: want %v, got %v", context.DeadlineExceeded, err)
		}

		done()

		// All of them go on although none of them is done.
		all := make([]func(), 0, runs)
		for range runs {
			all = append(all, <-freed)
		}

		for _, done := range all {
			done()
		}
	})
}

// TestOrigin ensures that only those who would get a provider from the same place
// get it from each other.
func TestOrigin(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, c cli) {
		m, cache := newMirror(t), t.TempDir()
		m.add(t, "a", "1.0.0", []byte("a"))

		files := map[string]string{"main.tf": require("a", "1.0.0")}
		newPlace(t, c, m, cache, files).mustInit(t)

		same := newPlace(t, c, m, cache, files)
		same.run.Env = append(same.run.Env, "TF_VAR_x=y", "AWS_PROFILE=z")
		same.mustInit(t)

		if got := m.downloaded()["a_1.0.0.zip"]; got != 1 {
			t.Errorf("downloads with the same configuration of the CLI: want 1, got %d", got)
		}

		// The last three are the same again.
		for n, env := range [][]string{{"https_proxy="}, {"TF_TOKEN_example_org=t"}, {"XDG_DATA_HOME=/none"}} {
			other := newPlace(t, c, m, cache, files)
			other.run.Env = append(other.run.Env, env...)
			other.mustInit(t)

			if got, want := m.downloaded()["a_1.0.0.zip"], n+2; got != want {
				t.Errorf("downloads with %q: want %d, got %d", env, want, got)
			}
		}

		config := newPlace(t, c, m, cache, files)
		config.mustAppend(t, "cli.tfrc", "# by somebody else\n")
		config.mustInit(t)

		if got := m.downloaded()["a_1.0.0.zip"]; got != 5 {
			t.Errorf("downloads with another configuration of the CLI: want 5, got %d", got)
		}

		// What is downloaded again is the same, and there once.
		if got := stored(t, cache); len(got) != 1 {
			t.Errorf("packages in the store: want 1, got %q", got)
		}
	})
}

func (p *place) mustAppend(t *testing.T, name, text string) {
	t.Helper()

	path := filepath.Join(p.run.Root, name)

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	write(t, path, string(data)+text)
}

// TestLockFile ensures that a package is only used with the checksum that is locked,
// and that it is never written to.
func TestLockFile(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, c cli) {
		m, cache := newMirror(t), t.TempDir()
		m.add(t, "a", "1.0.0", []byte("1.0.0"))

		files := map[string]string{"main.tf": require("a", "~> 1.0")}
		first := newPlace(t, c, m, cache, files)
		first.mustInit(t)

		lock, err := os.ReadFile(filepath.Join(first.run.Dir, ".terraform.lock.hcl"))
		if err != nil {
			t.Fatal(err)
		}

		// There is a new version, and the old one is not what it was.
		m.add(t, "a", "1.1.0", []byte("1.1.0"))
		m.add(t, "a", "1.0.0", []byte("other"))

		locked := newPlace(t, c, m, cache, map[string]string{"main.tf": files["main.tf"], ".terraform.lock.hcl": string(lock)})
		locked.mustInit(t)

		if got, want := locked.provider(t, "a", "1.0.0"), first.provider(t, "a", "1.0.0"); got != want {
			t.Errorf("package of a version that is locked: want that of the store, %q, got %q", want, got)
		}

		// An upgrade ignores what is locked.
		locked.mustInit(t, "-upgrade")
		locked.provider(t, "a", "1.1.0")

		// Without any checksum there is nothing to compare the package with.
		text := regexp.MustCompile(`(?s) *hashes = \[.*?\]\n`).ReplaceAllString(string(lock), "")
		unknown := newPlace(t, c, m, cache, map[string]string{"main.tf": files["main.tf"], ".terraform.lock.hcl": text})
		unknown.mustInit(t)

		if got, shared := unknown.provider(t, "a", "1.0.0"), first.provider(t, "a", "1.0.0"); got == shared {
			t.Errorf("package whose checksum is not locked: want a new one, got %q", got)
		}

		data, err := os.ReadFile(filepath.Join(first.provider(t, "a", "1.0.0"), "terraform-provider-a_v1.0.0"))
		if err != nil || string(data) != "1.0.0" {
			t.Errorf("program that was shared: want %q, got %q, %v", "1.0.0", data, err)
		}
	})
}

// TestBundled ensures that what a module brings along does not get to others.
func TestBundled(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, c cli) {
		m, cache := newMirror(t), t.TempDir()
		m.add(t, "a", "1.0.0", []byte("a"))

		p := newPlace(t, c, m, cache, map[string]string{"main.tf": require("a", "1.0.0"), "terraform.d/x": ""})
		p.mustInit(t)

		if diff := cmp.Diff([]string{}, stored(t, cache)); diff != "" {
			t.Errorf("packages of a module that may bring its own: -want, +got:\n%s", diff)
		}
	})
}

// TestForeign ensures that packages that somebody else put into the plugin cache are
// used if their checksum is locked, and not otherwise.
func TestForeign(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, c cli) {
		m, cache := newMirror(t), t.TempDir()
		m.add(t, "a", "1.0.0", []byte("a"))

		files := map[string]string{"main.tf": require("a", "1.0.0")}

		// Without this package the CLI fills the cache as it always did.
		p := newPlace(t, c, m, cache, files)
		if err := p.exec(t.Context(), p.run.Env, "init", "-no-color"); err != nil {
			t.Fatal(err)
		}

		lock, err := os.ReadFile(filepath.Join(p.run.Dir, ".terraform.lock.hcl"))
		if err != nil {
			t.Fatal(err)
		}

		locked := newPlace(t, c, m, cache, map[string]string{"main.tf": files["main.tf"], ".terraform.lock.hcl": string(lock)})
		locked.mustInit(t)

		if got, want := locked.provider(t, "a", "1.0.0"), p.provider(t, "a", "1.0.0"); got != want {
			t.Errorf("package whose checksum is locked: want %q, got %q", want, got)
		}

		chosen := newPlace(t, c, m, cache, files)
		chosen.run.Env = append(chosen.run.Env, mayBreakVariable+"=1")
		chosen.mustInit(t)

		if got := m.downloaded()["a_1.0.0.zip"]; got != 1 {
			t.Errorf("downloads where the package may be used: want 1, got %d", got)
		}

		newPlace(t, c, m, cache, files).mustInit(t)

		if got := m.downloaded()["a_1.0.0.zip"]; got != 2 {
			t.Errorf("downloads where nobody knows whether the package is complete: want 2, got %d", got)
		}
	})
}

// TestUnwritable ensures that a plugin cache that cannot be written to is no reason
// to fail.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, c cli) {
		m, cache := newMirror(t), t.TempDir()
		m.add(t, "a", "1.0.0", []byte("a"))
		write(t, filepath.Join(cache, storeDir), "not a directory")

		p := newPlace(t, c, m, cache, map[string]string{"main.tf": require("a", "1.0.0")})
		p.mustInit(t)

		if got := p.provider(t, "a", "1.0.0"); !strings.HasPrefix(got, p.run.Dir) {
			t.Errorf("package that cannot be shared: want it in %q, got %q", p.run.Dir, got)
		}

		// And again, with what is there.
		p.mustInit(t)

		if got := m.downloaded()["a_1.0.0.zip"]; got != 1 {
			t.Errorf("downloads: want 1, got %d", got)
		}
	})
}

// TestOtherDevice ensures that packages are shared where they cannot be moved to, in
// one piece as everywhere else.
func TestOtherDevice(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, c cli) {
		m, cache := newMirror(t), filesystem.Other(t)
		m.add(t, "time", "0.14.2", timeProvider(t))

		for range 2 {
			p := newPlace(t, c, m, cache, map[string]string{"main.tf": `resource "time_static" "this" {}`})
			p.mustInit(t)

			if err := p.exec(t.Context(), p.run.Env, "validate", "-no-color"); err != nil {
				t.Error(err)
			}

			if got, want := filepath.Dir(p.provider(t, "time", "0.14.2")), filepath.Join(cache, storeDir, packagesDir); got != want {
				t.Errorf("directory of the package: want %q, got %q", want, got)
			}
		}

		if diff := cmp.Diff(map[string]int{"time_0.14.2.zip": 1}, m.downloaded()); diff != "" {
			t.Errorf("downloads: -want, +got:\n%s", diff)
		}

		if left, err := os.ReadDir(filepath.Join(cache, storeDir, tempDir)); err != nil || len(left) != 0 {
			t.Errorf("what is left of copies: want nothing, got %v and error %v", left, err)
		}
	})
}

// TestWithout ensures that a directory that no longer uses the plugin cache does not
// write to what it has shared.
func TestWithout(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, c cli) {
		m, cache := newMirror(t), t.TempDir()
		m.add(t, "a", "1.0.0", []byte("a"))

		p := newPlace(t, c, m, cache, map[string]string{"main.tf": require("a", "1.0.0")})
		p.mustInit(t)

		if got := p.provider(t, "a", "1.0.0"); !strings.HasPrefix(got, cache) {
			t.Errorf("package: want it in the plugin cache %q, got %q", cache, got)
		}

		p.run.Env = environ.Without(p.run.Env, Variable)
		p.mustInit(t)

		own := p.provider(t, "a", "1.0.0")
		if !strings.HasPrefix(own, p.run.Dir) {
			t.Errorf("package without a plugin cache: want it in %q, got %q", p.run.Dir, own)
		}

		// A directory may also share a program by a hard link.
		program := filepath.Join(own, "terraform-provider-a_v1.0.0")
		link := filepath.Join(t.TempDir(), "program")

		if err := os.Link(program, link); err != nil {
			t.Fatal(err)
		}

		p.mustInit(t)

		linked, err := os.Stat(link)
		if err != nil {
			t.Fatal(err)
		}

		if info, err := os.Stat(program); err != nil || os.SameFile(info, linked) {
			t.Errorf("program after another init: want a new file, got the shared one, %v", err)
		}
	})
}
