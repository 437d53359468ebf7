// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestParseHierarchies(t *testing.T) {
	t.Parallel()

	const (
		other = "proc /proc proc rw 0 0\ntmpfs /sys/fs/cgroup tmpfs rw 0 0\n"
		one   = "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\ncgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0\n"
	)

	v1 := []hierarchy{
		{root: "/sys/fs/cgroup/memory", name: "e2e", version: 1, controllers: true},
		{root: "/sys/fs/cgroup/pids", name: "e2e", version: 1, controllers: true},
	}

	cases := map[string]struct {
		reason string
		mounts string
		want   []hierarchy
		fails  bool
	}{
		"One": {
			reason: "Version 1 has a hierarchy for each controller.",
			mounts: other + one,
			want:   v1,
		},
		"Two": {
			reason: "Version 2 has one hierarchy.",
			mounts: other + "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
			want:   []hierarchy{{root: "/sys/fs/cgroup", name: "e2e", version: 2, controllers: true}},
		},
		"Both": {
			reason: "With both, the controllers are in those of version 1, and runc creates cgroups in all of them.",
			mounts: one + "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n",
			want:   append(slices.Clone(v1), hierarchy{root: "/sys/fs/cgroup/unified", name: "e2e", version: 2}),
		},
		"None": {
			reason: "A kubelet needs cgroups.",
			mounts: other,
			fails:  true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := parseHierarchies(tc.mounts, "e2e")
			if (err != nil) != tc.fails {
				t.Errorf("%s: error %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(hierarchy{})); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestControllers checks that a hierarchy of version 2 gets the controllers that it lacks, and loses them
// in the end. The files of a kernel add up what is written to them.
func TestControllers(t *testing.T) {
	t.Parallel()

	h := hierarchy{root: t.TempDir(), name: "e2e", version: 2, controllers: true}
	file := filepath.Join(h.root, delegated)

	filesystem.Write(t, h.root, filesystem.Files{"cgroup.controllers": "cpuset cpu io memory pids\n", delegated: "cpu memory\n"})

	expect := func(want string) {
		t.Helper()

		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
	}

	if err := h.create(); err != nil {
		t.Fatal(err)
	}

	expect("+cpuset +pids")

	filesystem.Write(t, h.root, filesystem.Files{delegated: "cpuset cpu memory pids\n"})

	if err := h.disable("cpu memory\n"); err != nil {
		t.Fatal(err)
	}

	expect("-cpuset -pids")
}
