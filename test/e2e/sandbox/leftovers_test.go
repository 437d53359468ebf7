// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestChanges(t *testing.T) {
	t.Parallel()

	before := machine{"kernel setting vm/overcommit_memory": "0", "file /etc/cni": "exists", "same": "1"}
	after := machine{"kernel setting vm/overcommit_memory": "1", "mount of tmpfs at /run/netns": "exists", "same": "1"}

	want := []string{
		"file /etc/cni: was exists, is not there",
		"kernel setting vm/overcommit_memory: was 0, is 1",
		"mount of tmpfs at /run/netns: was not there, is exists",
	}

	if diff := cmp.Diff(want, before.changes(after)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestCompare finds a cgroup that was not removed.
func TestCompare(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	group := hierarchy{root: dir, name: "e2e", version: 1, controllers: true}

	before, err := look(dir, []hierarchy{group})
	if err != nil {
		t.Fatal(err)
	}

	if err := before.compare(dir, []hierarchy{group}); err != nil {
		t.Errorf("nothing has changed: %v", err)
	}

	if err := errors.Join(group.create(), os.Mkdir(filepath.Join(group.path(), "kubepods"), 0o755)); err != nil {
		t.Fatal(err)
	}

	if err := before.compare(dir, []hierarchy{group}); err == nil {
		t.Error("the cgroup still exists")
	}

	if err := group.remove(t.Context()); err != nil {
		t.Error(err)
	}

	if err := before.compare(dir, []hierarchy{group}); err != nil {
		t.Errorf("the cgroup was removed: %v", err)
	}
}

// TestGone finds a process in a namespace: this one.
func TestGone(t *testing.T) {
	t.Parallel()

	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()

	if err := (&namespaces{own}).gone(ctx); err == nil {
		t.Error("this process is in the namespace")
	}

	if err := (&namespaces{"net:[0]"}).gone(t.Context()); err != nil {
		t.Errorf("no process is in the namespace: %v", err)
	}
}
