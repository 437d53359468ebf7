// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// crashVariable has the path of the root in which TestReplaceTreeCrash replaces trees until it is
// killed.
const crashVariable = "WORKDIR_TEST_CRASH"

// TestReplaceTreeCrash repeatedly kills a process during the replacement of one tree by another.
func TestReplaceTreeCrash(t *testing.T) {
	trees := map[string]files{"a": {}, "b": {}}
	for i := range 300 {
		trees["a"][fmt.Sprintf("both/%d.tf", i)] = "a"
		trees["b"][fmt.Sprintf("both/%d.tf", i)] = "b"
		trees["a"][fmt.Sprintf("only-a-%d/x.tf", i)] = "a"
		trees["b"][fmt.Sprintf("only-b-%d/x.tf", i)] = "b"
	}

	if path := os.Getenv(crashVariable); path != "" {
		r, err := Open(path, maxUse)
		if err != nil {
			t.Fatal(err)
		}

		d := dirOf(t, r, uidA)
		for {
			replaceTree(t, d, "a", trees["a"])
			replaceTree(t, d, "b", trees["b"])
		}
	}

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	rounds := 5
	if testing.Short() {
		rounds = 1
	}

	d := newDir(t)
	for range rounds {
		child := exec.CommandContext(t.Context(), self, "-test.run=^TestReplaceTreeCrash$")

		child.Env = append(os.Environ(), crashVariable+"="+filepath.Dir(d.Path()))
		child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		output := &bytes.Buffer{}

		child.Stdout = output
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		// The file is always complete: a rename replaces it.
		deadline := time.Now().Add(30 * time.Second)
		for !bytes.HasPrefix(record(d), []byte(`{"module":{"files"`)) {
			if time.Now().After(deadline) {
				t.Fatalf("the child does not replace anything: %s", output)
			}

			_ = wait.For(t.Context(), time.Millisecond)
		}

		_ = child.Process.Kill()
		_ = child.Wait()

		if got := d.TreeRevision(); got != "" {
			if diff := cmp.Diff(trees[got], treeContent(t, d)); diff != "" {
				t.Fatalf("the tree counts as complete: -want, +got:\n%s", diff)
			}
		}

		replaceTree(t, d, "a", trees["a"])

		if diff := cmp.Diff(trees["a"], treeContent(t, d)); diff != "" {
			t.Fatalf("after the next ReplaceTree: -want, +got:\n%s", diff)
		}
	}
}

// record returns the record of the tree as it is on disk.
func record(d *Dir) []byte {
	data, _ := os.ReadFile(filepath.Join(d.Records(), manifestName))

	return data
}
