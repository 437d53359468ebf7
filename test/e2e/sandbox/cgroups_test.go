// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseHierarchies(t *testing.T) {
	t.Parallel()

	const (
		other = "proc /proc proc rw 0 0\ntmpfs /sys/fs/cgroup tmpfs rw 0 0\n"
		one   = "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\ncgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0\n"
	)

	cases := map[string]struct {
		reason string
		mounts string
		want   []hierarchy
		fails  bool
	}{
		"One": {
			reason: "Version 1 has a hierarchy for each controller.",
			mounts: other + one,
			want:   []hierarchy{{root: "/sys/fs/cgroup/memory", name: "e2e"}, {root: "/sys/fs/cgroup/pids", name: "e2e"}},
		},
		"Two": {
			reason: "Version 2 has one hierarchy.",
			mounts: other + "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
			want:   []hierarchy{{root: "/sys/fs/cgroup", name: "e2e", unified: true}},
		},
		"Both": {
			reason: "With both, the controllers are in those of version 1.",
			mounts: one + "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n",
			want:   []hierarchy{{root: "/sys/fs/cgroup/memory", name: "e2e"}, {root: "/sys/fs/cgroup/pids", name: "e2e"}},
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

func TestMissingControllers(t *testing.T) {
	t.Parallel()

	got := missingControllers("cpuset cpu io memory pids rdma\n", "cpu memory\n")
	if diff := cmp.Diff([]string{"cpuset", "pids"}, got); diff != "" {
		t.Errorf("A kubelet does not need io, and not hugetlb if this kernel has none. -want, +got:\n%s", diff)
	}
}
