// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// failed returns the errors that a run has reported.
func failed(ds ...Diagnostic) firsts[Diagnostic] {
	r := newReport(nil)
	for _, d := range ds {
		r.errors.add(d)
	}

	return r.errors
}

// TestErrorOrigin ensures that an error names the fields that files were written from, and no line that users do not know.
func TestErrorOrigin(t *testing.T) {
	t.Parallel()

	ws := Workspace{Dir: "/tf/ws", Origin: func(file string, line int) (string, int) {
		return map[string]string{"main.tf": "the module", "0.tfvars.json": "spec.values", ".terraformrc": "the settings"}[file], max(0, line-10)
	}}

	cases := map[string]struct {
		reason string
		d      Diagnostic
		want   string
	}{
		"Line":   {reason: "the line is that of the field", d: Diagnostic{Summary: "S", File: "/tf/ws/0.tfvars.json", Line: 12}, want: "spec.values, line 2: S"},
		"NoLine": {reason: "a field may have no lines", d: Diagnostic{Summary: "S", File: "main.tf", Line: 3, Context: "output \"o\""}, want: `the module: output "o": S`},
		"Text":   {reason: "texts name files, too", d: Diagnostic{Summary: `No ".terraformrc"`, Detail: "See /tf/ws/main.tf:1,1-13."}, want: `No "the settings": See the module:1,1-13.`},
		"Advice": {
			reason: "advice has the field already",
			d:      Diagnostic{Summary: "S", Detail: "from r.example.org: error looking up module versions: 401 Unauthorized."},
			want:   "S: from r.example.org: error looking up module versions: 401 Unauthorized: set or correct the token for this host in a file .terraformrc in spec.credentials of the ProviderConfig.",
		},
		"Unknown": {reason: "all other files keep their names", d: Diagnostic{Summary: "a/main.tf", Detail: "main.tfstate, xmain.tf, x.0.tfvars.json", File: "m/main.tf", Line: 1}, want: "m/main.tf:1: a/main.tf: main.tfstate, xmain.tf, x.0.tfvars.json"},
	}

	for name, tc := range cases {
		if got := newError("plan", ws, result{code: 1}, failed(tc.d)).Error(); got != tc.want {
			t.Errorf("%s: %s: want %q, got %q", name, tc.reason, tc.want, got)
		}
	}
}

func TestErrorMessage(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("é", maxMessage)

	cases := map[string]struct {
		reason   string
		res      result
		reported []string
		want     string
	}{
		"Reported": {
			reason:   "the message has the errors that the run reported",
			res:      result{code: 1, stderr: "Error: on stderr\n"},
			reported: []string{"S"},
			want:     "S",
		},
		"Several": {
			reason:   "few diagnostics are all named",
			res:      result{code: 1},
			reported: []string{"A", "B", "C"},
			want:     "A; B; C",
		},
		"Many": {
			reason:   "of many diagnostics the first ones are named, and the others are counted",
			res:      result{code: 1},
			reported: []string{"A", "B", "C", "D", "E"},
			want:     "A; B; C; and 2 more",
		},
		"TooMany": {
			reason: "those that are not kept are counted, too",
			res:    result{code: 1},
			reported: slices.Collect(func(yield func(string) bool) {
				for i := range 4 * maxErrors {
					if !yield(strconv.Itoa(i)) {
						return
					}
				}
			}),
			want: "0; 1; 2; and 397 more",
		},
		"Long": {
			reason:   "a long message is cut between two runes",
			res:      result{code: 1},
			reported: []string{long},
			want:     strings.Repeat("é", (maxMessage-3)/2) + "...",
		},
		"LongAndMany": {
			reason:   "the number of the others is not cut off",
			res:      result{code: 1},
			reported: []string{"A", long, "C", "D"},
			want:     "A; " + strings.Repeat("é", (maxMessage-len("A; ...; C; and 1 more"))/2) + "...; C; and 1 more",
		},
		"AllLong": {
			reason:   "each of those that are not counted as others is shown",
			res:      result{code: 1},
			reported: []string{"A" + long, "B" + long, "C" + long},
			want:     "A" + strings.Repeat("é", 164) + "...; B" + strings.Repeat("é", 164) + "...; C" + strings.Repeat("é", 164) + "...",
		},
		"Stderr": {
			reason: "a subcommand without JSON has them on stderr",
			res:    result{code: 1, stderr: "\nError: S\n\n  on /tf/ws/main.tf line 1:\n\nIn /tf/ws/m/x.tf\n"},
			want:   "main.tf:1: S: In m/x.tf",
		},
		"NoDiagnostic": {
			reason: "without any, the message has the last lines, except those of a log",
			res:    result{code: 1, stderr: "1\n2\n3\n4\n5\n2026-11-21T10:50:09.123Z [DEBUG] x\n\n  6\n"},
			want:   "2 3 4 5 6",
		},
		"LogInJSON": {
			reason: "a log may be JSON, and an entry may have several lines",
			res:    result{code: 1, stderr: "{\"@level\":\"debug\"}\n2026-11-21T10:50:09.123Z [TRACE] statemgr:\n  - read initial snapshot\nboom\n"},
			want:   "boom",
		},
		"Crash": {
			reason: "the trace differs each time",
			res:    result{code: 2, stderr: "fatal error: malformed GOMEMLIMIT; see `go doc runtime/debug.SetMemoryLimit`\n\ngoroutine 1 gp=0xc000002380 m=0\nmain()\n\t/usr/x.go:189 +0x2f\n"},
			want:   "fatal error: malformed GOMEMLIMIT: write it in spec.forProvider.env with a unit such as GiB",
		},
		"AdviceInLines": {
			reason: "Terraform reports a state pull that fails in lines, with advice",
			res:    result{code: 1, stderr: "Error loading the state: EOF\n\nPlease ensure that your Terraform state exists and that you've\nconfigured it properly. You can use the \"-state\" flag to point\nTerraform at another state file.\n"},
			want:   "Error loading the state: EOF",
		},
		"OnlyWarnings": {
			reason: "warnings are no more than lines",
			res:    result{code: 1, stderr: "Warning: W\n\nboom\n"},
			want:   "Warning: W boom",
		},
		"Silent": {
			reason: "it is never empty",
			res:    result{code: 1, status: "exit status 1"},
			want:   "plan ended with exit status 1",
		},
		"Killed": {
			reason: "another process killed the run",
			res:    result{code: -1, status: "signal: killed"},
			want:   "plan ended with signal: killed",
		},
		"Interrupted": {
			reason:   "the message of an interrupted run comes second",
			res:      result{code: 1, status: "exit status 1", interrupted: context.Canceled},
			reported: []string{"execution halted"},
			want:     "interrupted: execution halted",
		},
		"InterruptedAndSilent": {
			reason: "an interrupted run may print nothing",
			res:    result{code: 1, status: "exit status 1", interrupted: context.DeadlineExceeded},
			want:   "interrupted, because its time was up (--timeout), and the CLI said nothing: the backend, or another server that the run needs, may not answer",
		},
		"InterruptedAndKilled": {
			reason:   "a killed run may have left its lock, so the message says that it was killed",
			res:      result{code: -1, status: "signal: killed", interrupted: context.Canceled},
			reported: []string{"S"},
			want:     "interrupted (signal: killed): S",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var ds []Diagnostic
			for _, s := range tc.reported {
				ds = append(ds, Diagnostic{Summary: s})
			}

			err := newError("plan", Workspace{Dir: "/tf/ws"}, tc.res, failed(ds...))
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if len(err.Error()) > maxMessage || !utf8.ValidString(err.Error()) {
				t.Errorf("%s: %d bytes, valid: %t", tc.reason, len(err.Error()), utf8.ValidString(err.Error()))
			}

			if tc.res.interrupted != nil && !errors.Is(fmt.Errorf("x: %w", err), tc.res.interrupted) {
				t.Errorf("%s: want the error of the context, %v", tc.reason, tc.res.interrupted)
			}

			if tc.res.interrupted == nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
				t.Errorf("%s: it was not interrupted", tc.reason)
			}
		})
	}
}
