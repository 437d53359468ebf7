// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseStat(t *testing.T) {
	t.Parallel()

	type want struct {
		own, children float64
		err           error
	}

	cases := map[string]struct {
		reason string
		stat   string
		want   want
	}{
		"Times": {
			reason: "User and system time are added up, separately for the process and its children.",
			stat:   "7 (provider) S 1 7 7 0 -1 4194304 1 2 3 4 150 50 1000 200 20 0 9 0 100",
			want:   want{own: 2, children: 12},
		},
		"StrangeName": {
			reason: "The name of a program may contain parentheses and numbers.",
			stat:   "7 (a) S 1 (b)) S 1 7 7 0 -1 4194304 1 2 3 4 150 50 1000 200 20 0 9 0 100",
			want:   want{own: 2, children: 12},
		},
		"Short": {
			reason: "A missing value is an error, not a zero.",
			stat:   "7 (provider) S 1 7 7",
			want:   want{err: cmpopts.AnyError},
		},
		"NoNumber": {
			reason: "A value that is not a number is an error.",
			stat:   "7 (provider) S 1 7 7 0 -1 4194304 1 2 3 4 x 50 1000 200 20 0 9 0 100",
			want:   want{err: cmpopts.AnyError},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			own, children, err := parseStat(tc.stat)
			if diff := cmp.Diff(tc.want, want{own: own, children: children, err: err}, cmp.AllowUnexported(want{}), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("\n%s\nparseStat(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCPUTimes compares the CPU times that the system reports for this process with those
// that it reports for its children.
func TestCPUTimes(t *testing.T) {
	t.Parallel()

	_, before, err := cpuTimes(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}

	cmd := exec.CommandContext(t.Context(), "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}

	_, after, err := cpuTimes(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}

	used := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if got := after - before; got < used-2*clockTick {
		t.Errorf("children have used %g s, of which one has used %g s", got, used)
	}
}

func TestParseStatus(t *testing.T) {
	t.Parallel()

	type want struct {
		bytes uint64
		err   error
	}

	cases := map[string]struct {
		reason string
		text   string
		want   want
	}{
		"There":    {reason: "Sizes are in kilobytes.", text: "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n", want: want{bytes: 1 << 20}},
		"NotThere": {reason: "A process that has ended has no memory.", text: "Name:\tx\n", want: want{err: cmpopts.AnyError}},
		"NoNumber": {reason: "A value that is not a number is an error.", text: "VmRSS:\tx kB\n", want: want{err: cmpopts.AnyError}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			bytes, err := parseStatus(tc.text, "VmRSS")
			if diff := cmp.Diff(tc.want, want{bytes: bytes, err: err}, cmp.AllowUnexported(want{}), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("\n%s\nparseStatus(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSeries(t *testing.T) {
	t.Parallel()

	const text = `# HELP runs_total Runs.
# TYPE runs_total counter
runs_total{command="plan",result="error"} 1
runs_total{command="plan",result="success"} 20
runs_total{command="apply",result="success"} 3e+02
runs_total_created 5
heap 1.5e+07
`

	s, err := parseSeries(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}

	cases := map[string]struct {
		reason string
		name   string
		labels string
		want   float64
	}{
		"All":      {reason: "All series of a name count, and no others.", name: "runs_total", want: 321},
		"Labels":   {reason: "Labels choose.", name: "runs_total", labels: `command="plan"`, want: 21},
		"NoLabels": {reason: "A series may have no labels.", name: "heap", want: 1.5e7},
		"None":     {reason: "A missing counter is zero.", name: "polls_total", want: 0},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := s.sum(tc.name, tc.labels); got != tc.want {
				t.Errorf("\n%s\nsum(%q, %q): want %g, got %g", tc.reason, tc.name, tc.labels, tc.want, got)
			}
		})
	}
}
