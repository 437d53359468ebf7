// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package incarnation

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

const (
	// identity of the process that a test starts.
	identity = "pod-0_abc"

	// variable names the directory of the process files of that process.
	variable = "INCARNATION_TEST_DIR"

	scope, session = "ns/lease", "session-a"
)

func TestMain(m *testing.M) {
	if dir, ok := os.LookupEnv(variable); ok {
		if err := play(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2) //nolint:forbidigo // This process is not the test.
		}

		os.Exit(0) //nolint:forbidigo // This process is not the test.
	}

	os.Exit(m.Run()) //nolint:forbidigo // It is the main of the tests.
}

// play makes a process file and starts a child, whose child goes on when both have ended. It does
// not end by itself.
func play(dir string) error {
	p, err := Create(dir, identity, scope)
	if err != nil {
		return err
	}

	if err := errors.Join(p.Record(session+"0"), p.Record(session)); err != nil {
		return err
	}

	// The lock does not depend on any variable.
	runtime.GC()
	runtime.GC()

	child := exec.Command("sh", "-c", "sh -c 'echo $$; exec sleep 3600' & wait")
	child.Stdout = os.Stdout

	return errors.Join(child.Start(), child.Wait())
}

// newDir returns a directory in memory.
func newDir(t *testing.T) string {
	t.Helper()

	dir, err := os.MkdirTemp(Dir, "test-") //nolint:usetesting // Other temporary directories are not in memory.
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = os.RemoveAll(dir) })

	return dir
}

// newDiskDir returns a directory that is not in memory.
func newDiskDir(t *testing.T) string {
	t.Helper()

	dir, fs := t.TempDir(), unix.Statfs_t{}
	if err := unix.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}

	if fs.Type == unix.TMPFS_MAGIC {
		t.Skip("temporary directories are in memory")
	}

	return dir
}

// deadIn returns the identity and the session of the dead process in a directory, or nothing.
func deadIn(dir string) string {
	var found []string

	for _, p := range Dead(dir, scope) {
		found = append(found, p.Identity+" "+p.Session)

		p.Close()
	}

	return strings.Join(found, ", ")
}

// TestDead stops and kills a process and its children. Only when the last of them has ended, the
// process counts as dead.
func TestDead(t *testing.T) {
	t.Parallel()

	dir := newDir(t)

	cmd := exec.CommandContext(t.Context(), os.Args[0])

	cmd.Env = append(os.Environ(), variable+"="+dir)
	cmd.Stderr = os.Stderr

	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	lines := bufio.NewScanner(out)
	lines.Scan()

	grandchild := 0
	if _, err := fmt.Sscan(lines.Text(), &grandchild); err != nil {
		t.Fatalf("cannot read the process ID of the grandchild: %v", err)
	}

	expectAlive := func(reason string) {
		t.Helper()

		if got := deadIn(dir); got != "" {
			t.Errorf("%s\nDead(...): want nothing, got %q", reason, got)
		}
	}

	expectAlive("The process runs.")

	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}

	expectAlive("A stopped process may continue.")

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	_, _ = cmd.Process.Wait()

	expectAlive("A grandchild of the dead process goes on.")

	if err := unix.Kill(grandchild, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}

	if err := wait.Until(t.Context(), wait.Patience, func() error {
		if got := deadIn(dir); got != identity+" "+session {
			return fmt.Errorf("Dead(...): got %q", got)
		}

		return nil
	}); err != nil {
		t.Error(err)
	}

	p := Dead(dir, scope)[0]
	if err := errors.Join(p.Keep(), p.Record("next")); err != nil {
		t.Error(err)
	}

	if got := deadIn(dir); got != "" {
		t.Errorf("the next process lives: want nothing, got %q", got)
	}

	p.Remove()

	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("want no process file, got %v, %v", files, err)
	}
}

// TestNoProof ensures that files that are no process files of a dead process prove nothing.
func TestNoProof(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		make   func(t *testing.T, path string) error
		want   string
	}{
		"None":      {reason: "That process was in another pod.", make: func(*testing.T, string) error { return nil }},
		"Complete":  {reason: "No process has locked it.", make: file(scope + "\n" + session + "\n"), want: identity + " " + session},
		"Longer":    {reason: "The rest of an earlier text does not count.", make: file(scope + "\n" + session + "\n9\n"), want: identity + " " + session},
		"Begun":     {reason: "That process has opened no session.", make: file(scope + "\n\n"), want: identity + " "},
		"Empty":     {reason: "That process has just made it.", make: file("")},
		"Cut":       {reason: "The name may not be complete.", make: file(scope + "\n" + session)},
		"Scope":     {reason: "It belongs to another instance.", make: file("ns/other\n" + session + "\n")},
		"Directory": {reason: "It is no file.", make: func(_ *testing.T, path string) error { return os.Mkdir(path, 0o700) }},
		"Pipe":      {reason: "A read of it would never end.", make: func(_ *testing.T, path string) error { return unix.Mkfifo(path, 0o600) }},
		"Disk": {
			reason: "Another machine may see that file system, or a backup may have brought the file.",
			make: func(t *testing.T, path string) error {
				t.Helper()

				dir := newDiskDir(t)

				return errors.Join(os.Remove(filepath.Dir(path)), os.Symlink(dir, filepath.Dir(path)), file(scope+"\n"+session+"\n")(t, path))
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			dir := filepath.Join(newDir(t), "files")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}

			if err := tc.make(t, filepath.Join(dir, prefix+identity)); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, deadIn(dir)); diff != "" {
				t.Errorf("%s\nDead(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func file(text string) func(*testing.T, string) error {
	return func(_ *testing.T, path string) error { return os.WriteFile(path, []byte(text), 0o600) }
}

// TestCreate ensures that there is no process file where it would prove nothing.
func TestCreate(t *testing.T) {
	t.Parallel()

	dir := newDiskDir(t)
	if _, err := Create(dir, identity, scope); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("Create(...) on a disk: got error %v", err)
	}

	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("Create(...) on a disk left %v, %v", files, err)
	}

	if _, err := Create(filepath.Join(dir, "missing"), identity, scope); err == nil {
		t.Error("Create(...) in a missing directory: want an error")
	}

	dir = newDir(t)
	if _, err := Create(dir, identity, scope); err != nil {
		t.Error(err)
	}

	if _, err := Create(dir, identity, scope); err == nil {
		t.Error("Create(...) of another process with the same identity: want an error")
	}
}
