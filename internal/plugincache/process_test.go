// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// start a process that initializes the directory. It has a process group of its own.
func (p *place) start(t *testing.T) *exec.Cmd {
	t.Helper()

	data, err := json.Marshal(job{Root: p.run.Root, Private: p.run.Private, Env: p.run.Env, Registry: p.run.Registry, CLI: p.cli.path})
	if err != nil {
		t.Fatal(err)
	}

	cmd := exec.Command(os.Args[0])

	cmd.Env = append(os.Environ(), envProcess+"="+string(data))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = &bytes.Buffer{}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })

	return cmd
}

// expectDone waits until the processes have initialized the directories, and executes
// the providers there.
func expectDone(t *testing.T, places []*place, cmds []*exec.Cmd) {
	t.Helper()

	for n, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("init: %v: %s", err, cmd.Stderr)

			continue
		}

		if err := places[n].exec(t.Context(), places[n].run.Env, "validate", "-no-color"); err != nil {
			t.Error(err)
		}
	}
}

// TestProcesses has several processes with one plugin cache. The first one is killed while it
// downloads the provider that the others need: the others never find a part of the provider, and
// no longer wait. When no process is killed, one of them downloads a provider for all.
func TestProcesses(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, f *fixture) {
		const processes = 4

		f.add(t, "time", "0.14.2", timeProvider(t))

		var once sync.Once

		asked, killed := make(chan struct{}), make(chan struct{})

		f.intercept(func(w http.ResponseWriter, _ string) {
			once.Do(func() {
				_, _ = w.Write([]byte("half"))

				if flusher, ok := w.(http.Flusher); ok {
					flusher.Flush()
				}

				close(asked)
				<-killed
			})
		})

		start := func(version string) (places []*place, cmds []*exec.Cmd) {
			for range processes {
				p := f.place(t, require("time", version)+`resource "time_static" "this" {}`)
				places = append(places, p)
				cmds = append(cmds, p.start(t))
			}

			return places, cmds
		}

		killedPlace := f.place(t, require("time", "0.14.2")+`resource "time_static" "this" {}`)
		first := killedPlace.start(t)

		<-asked

		places, cmds := start("0.14.2")

		if diff := cmp.Diff([]string{}, stored(t, f.cache)); diff != "" {
			t.Errorf("packages while one is downloaded: -want, +got:\n%s", diff)
		}

		if err := syscall.Kill(-first.Process.Pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}

		_ = first.Wait()

		close(killed)

		// It also has half of a package in its private plugin cache.
		write(t, filepath.Join(killedPlace.run.Private, f.cli.registry, "hashicorp", "time", "0.14.2", runtime.GOOS+"_"+runtime.GOARCH, "half"), "half")
		expectDone(t, append(places, killedPlace), append(cmds, killedPlace.start(t)))

		// Another version with the same program is another package.
		f.add(t, "time", "0.14.3", append(timeProvider(t), 0))

		places, cmds = start("0.14.3")
		expectDone(t, places, cmds)

		if got := f.downloaded()["time_0.14.3.zip"]; got != 1 {
			t.Errorf("downloads by %d processes that need the same provider: want 1, got %d", processes, got)
		}

		expectPackages(t, f.cache, "in the store", 2)
	})
}
