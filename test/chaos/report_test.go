// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBefore(t *testing.T) {
	t.Parallel()

	v := violation{workspace: "ws-1", time: at(30000), instances: []string{"a#2", "b#1"}}

	cases := map[string]struct {
		reason string
		note   note
		want   bool
	}{
		"Workspace":      {reason: "It is about the Workspace.", note: note{time: at(29000), subject: "ws-1"}, want: true},
		"Instance":       {reason: "The note is about an instance, with any process.", note: note{time: at(29000), subject: "a"}, want: true},
		"AllInstances":   {reason: "The note is about all instances.", note: note{time: at(29000)}, want: true},
		"OtherWorkspace": {reason: "It is about another Workspace.", note: note{time: at(29000), subject: "ws-11"}},
		"OtherInstance":  {reason: "It is about another instance.", note: note{time: at(29000), subject: "a2"}},
		"Later":          {reason: "It happened later.", note: note{time: at(30001), subject: "ws-1"}},
		"LongBefore":     {reason: "It happened long before.", note: note{time: at(9999), subject: "ws-1"}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := len(before([]note{tc.note}, v)) == 1; got != tc.want {
				t.Errorf("%s\nshown: %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestKilled(t *testing.T) {
	t.Parallel()

	notes := []note{
		{time: 1, kind: kill, subject: "a"},
		{time: 2, subject: "a", killed: "a#1"},
		{time: 3, subject: "b"},
		{time: 4, subject: "a", killed: "a#3"},
	}

	if diff := cmp.Diff(map[string]int64{"a#1": 2, "a#3": 4}, killed(notes)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestNumbered(t *testing.T) {
	t.Parallel()

	if diff := cmp.Diff("a2#10", numbered("a2", 10)); diff != "" {
		t.Errorf("numbered: -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff("a2", unnumbered("a2#10")); diff != "" {
		t.Errorf("unnumbered: -want, +got:\n%s", diff)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()

	r := &report{
		seed:      7,
		lasted:    time.Minute,
		settled:   1600 * time.Millisecond,
		runs:      []run{{command: "plan"}, {command: "apply"}, {command: "plan"}},
		resources: []*resource{{saved: true}, {}, {state: "disk/uid-1"}},
		notes:     []note{{time: at(1500), kind: kill, text: "kill a"}, {time: at(1600), text: "a has ended"}},
		rules:     []rule{{name: "overlapping runs"}, {name: "orphan locks"}},
	}

	if !r.ok() {
		t.Errorf("a report without violations is not ok")
	}

	r.rules[1].violations = []violation{{workspace: "ws-1", time: at(2000), text: "one\ntwo"}}

	if r.ok() {
		t.Errorf("a report with a violation is ok")
	}

	want := `
orphan locks: ws-1
  one
  two
    +1.500s kill a
    +1.600s a has ended
seed               7
elastic shards     false
faults for         1m0s
all Ready after    2s
faults             1: 1 kill
runs of the CLI    3: 2 plan, 1 apply
resources created  3; on a disk 1; in no state 1: 1 without excuse
overlapping runs   0
orphan locks       1
`
	got := &strings.Builder{}
	r.details(got)
	r.figures(got)

	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestReportIsBounded(t *testing.T) {
	t.Parallel()

	r := &report{rules: []rule{{name: "orphan locks", violations: make([]violation, detailed+3)}}}
	got := &strings.Builder{}
	r.details(got)

	if n := strings.Count(got.String(), "orphan locks: all Workspaces"); n != detailed {
		t.Errorf("%d violations are written out, want %d", n, detailed)
	}

	if !strings.HasSuffix(got.String(), "\norphan locks: 3 more\n") {
		t.Errorf("the report does not say how many more there are:\n%s", got)
	}
}
