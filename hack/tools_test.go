// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package hack tests the scripts that build tools, with a compiler that builds nothing.
package hack

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// stubGo is a compiler. It writes 30 lines to stderr, waits for a line in the named pipe
// if there is one, and exits with the code in the environment variable CODE.
const stubGo = `
case $1 in
env | list) echo v1 ;;
build)
	for n in $(seq 30); do echo "go: downloading $n" >&2; done
	if [ "$PIPE" ]; then read -r _ <"$PIPE"; fi
	exit "$CODE"
	;;
esac
`

// A tree is a repository with the scripts and the go.mod of one tool.
type tree struct {
	dir string
	env []string
}

// newTree returns a tree whose builds end with the supplied exit code. If pipe is not
// empty, each build waits until the test writes a line to the named pipe.
func newTree(t *testing.T, code, pipe string) tree {
	t.Helper()

	tr := tree{dir: t.TempDir()}
	bin := filepath.Join(tr.dir, "bin")

	for _, dir := range []string{bin, filepath.Join(tr.dir, "hack", "opentofu")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}

	for _, script := range []string{"build.sh", "build-folder.sh", "progress.sh", "tools.sh"} {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}

		if err := program.WriteScript(filepath.Join(tr.dir, "hack", script), string(text)); err != nil {
			t.Fatal(err)
		}
	}

	for _, name := range []string{"go.mod", "go.sum"} {
		if err := os.WriteFile(filepath.Join(tr.dir, "hack", "opentofu", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	if err := program.WriteScript(filepath.Join(bin, "go"), stubGo); err != nil {
		t.Fatal(err)
	}

	tr.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "CODE="+code, "PIPE="+pipe)

	return tr
}

// command returns the command that builds OpenTofu.
func (tr tree) command(t *testing.T) *exec.Cmd {
	t.Helper()

	return tr.build(t, "opentofu")
}

// build returns the command that builds a tool.
func (tr tree) build(t *testing.T, name string) *exec.Cmd {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), filepath.Join(tr.dir, "hack", "tools.sh"), name)
	cmd.Env = tr.env

	return cmd
}

// logs returns the paths of the logs of builds.
func (tr tree) logs(t *testing.T) []string {
	t.Helper()

	logs, err := filepath.Glob(filepath.Join(tr.dir, "_output", "log", "*"))
	if err != nil {
		t.Fatal(err)
	}

	return logs
}

// TestSlowBuild builds a tool slowly. Then it asks for the tool again.
func TestSlowBuild(t *testing.T) {
	t.Parallel()

	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := exec.CommandContext(t.Context(), "mkfifo", pipe).Run(); err != nil {
		t.Fatal(err)
	}

	tr, stdout := newTree(t, "0", pipe), &bytes.Buffer{}
	cmd := tr.command(t)
	cmd.Stdout = stdout

	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	lines := bufio.NewReader(stderr)

	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff("building OpenTofu ...\n", first); diff != "" {
		t.Errorf("A build in progress shows its start.\n-want, +got:\n%s", diff)
	}

	if err := os.WriteFile(pipe, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Wait(); err != nil {
		t.Fatalf("tools.sh: %v", err)
	}

	if !regexp.MustCompile(`^built OpenTofu in \d+ s\n$`).Match(rest) {
		t.Errorf("A build shows how long it took, and no output of the compiler. Got %q", rest)
	}

	if logs := tr.logs(t); len(logs) > 0 {
		t.Errorf("The log of a build is removed. Got %q", logs)
	}

	if info, err := os.Stat(strings.TrimSpace(stdout.String())); err != nil || !info.IsDir() {
		t.Errorf("The directory of the tool is on stdout. Got %q: %v", stdout, err)
	}

	// Another build would wait at the pipe.
	again, err := tr.command(t).Output()
	if err != nil {
		t.Fatalf("tools.sh: %v", err)
	}

	if diff := cmp.Diff(stdout.String(), string(again)); diff != "" {
		t.Errorf("A tool is built once.\n-want, +got:\n%s", diff)
	}
}

func TestFailedBuild(t *testing.T) {
	t.Parallel()

	tr, stdout, stderr := newTree(t, "3", ""), &bytes.Buffer{}, &bytes.Buffer{}
	cmd := tr.command(t)
	cmd.Stdout, cmd.Stderr = stdout, stderr

	if err := cmd.Run(); err == nil {
		t.Error("A failed build ends with an error. Got none")
	}

	if diff := cmp.Diff("", stdout.String()); diff != "" {
		t.Errorf("There is no directory of a tool whose build failed.\n-want, +got:\n%s", diff)
	}

	logs := tr.logs(t)
	if len(logs) != 1 {
		t.Fatalf("The log of a failed build stays. Got %q", logs)
	}

	// A slow machine shows the start of the build as well.
	_, message, _ := strings.Cut(stderr.String(), "building OpenTofu failed")
	lines := strings.Split(strings.TrimSpace(message), "\n")

	if first := lines[0]; !strings.Contains(first, logs[0]) {
		t.Errorf("The message names the tool and the log. Got %q", stderr)
	}

	if last := lines[len(lines)-1]; len(lines) != 21 || last != "go: downloading 30" {
		t.Errorf("The last 20 lines of the log follow. Got %d lines, the last of which is %q", len(lines)-1, last)
	}
}

// TestFolder builds a tool that has a script of its own, before and after a change of the script.
func TestFolder(t *testing.T) {
	t.Parallel()

	tr := newTree(t, "0", "")
	folder := filepath.Join(tr.dir, "hack", "cni")

	if err := os.CopyFS(folder, os.DirFS(filepath.Join(tr.dir, "hack", "opentofu"))); err != nil {
		t.Fatal(err)
	}

	dirs := map[string]bool{}

	for _, contents := range []string{"first", "second"} {
		if err := program.WriteScript(filepath.Join(folder, "build.sh"), "printf "+contents+" >\"$1/bridge\"\n"); err != nil {
			t.Fatal(err)
		}

		out, err := tr.build(t, "cni").Output()
		if err != nil {
			t.Fatalf("tools.sh: %v", err)
		}

		dir := strings.TrimSpace(string(out))
		dirs[dir] = true

		got, err := os.ReadFile(filepath.Join(dir, "bridge"))
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(contents, string(got)); diff != "" {
			t.Errorf("The script writes to the directory of the tool.\n-want, +got:\n%s", diff)
		}
	}

	if len(dirs) != 2 {
		t.Errorf("A tool is built again when its script has changed. Got %v", dirs)
	}
}

// TestDisplay checks that the process that shows the progress exists as long as the build. At the end, the script
// kills the process with its ID, which must not have become that of another one.
func TestDisplay(t *testing.T) {
	t.Parallel()

	tr := newTree(t, "0", "")
	cmd := exec.CommandContext(t.Context(), filepath.Join(tr.dir, "hack", "progress.sh"), "it", "sh", "-c", "sleep 3; cat /proc/$PPID/task/$PPID/children")

	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}

	if got := strings.Fields(string(out)); len(got) != 2 {
		t.Errorf("3 seconds after its start, the script has the processes %q, want that of the build and that of the display", got)
	}
}
