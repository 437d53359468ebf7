// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPicture checks that the picture in docs/ is that of the recorded run there.
func TestPicture(t *testing.T) {
	t.Parallel()

	docs, dir := filepath.Join(root, "docs"), t.TempDir()

	r, err := readRecord(docs)
	if err != nil {
		t.Fatal(err)
	}

	if err := r.publish(dir); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{recordFile, pictureFile} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}

		got, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("docs/%s differs from the output of `go run ./hack/demo -draw -picture docs`: -want, +got:\n%s", name, diff)
		}
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()

	r := &record{}
	r.add("a", 1249*time.Millisecond, map[string]sight{"x": {servedBy: pod1}, "y": {servedBy: pod0}, "z": {servedBy: pod0}})
	r.add("b", time.Second, map[string]sight{"x": {servedBy: pod1}, "y": {servedBy: pod2}, "z": {servedBy: pod1}})

	want := &record{Steps: []step{
		{What: "a", Seconds: 1.2, ServedBy: map[string]string{"x": pod1, "y": pod0, "z": pod0}},
		{What: "b", Seconds: 1, ServedBy: map[string]string{"x": pod1, "y": pod2, "z": pod1}},
	}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("add(...): -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff([]string{pod0, pod1, pod2}, r.servers()); diff != "" {
		t.Errorf("servers(): -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff([]string{"z", "y", "x"}, r.lanes()); diff != "" {
		t.Errorf("Workspaces of one instance are together, and those that move to one.\nlanes(): -want, +got:\n%s", diff)
	}
}
