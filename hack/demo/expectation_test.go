// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

var errBoom = errors.New("boom")

// newScreenFor returns a screen of the supplied width with a stopped clock, and its
// output.
func newScreenFor(width int) (*screen, *bytes.Buffer) {
	out := &bytes.Buffer{}

	return &screen{out: out, width: func() int { return width }, now: func() time.Time { return time.Time{} }}, out
}

func TestMeet(t *testing.T) {
	t.Parallel()

	type want struct {
		err     error
		message string
		mark    string
	}

	cases := map[string]struct {
		reason string
		within time.Duration
		cause  error
		check  func(ctx context.Context) error
		want   want
	}{
		"Met": {
			reason: "An expectation that is met gets a check mark.",
			within: time.Hour,
			check:  func(context.Context) error { return nil },
			want:   want{mark: "✓ a thing (0.0s)\n"},
		},
		"NotMet": {
			reason: "The error names the expectation and says why.",
			within: time.Hour,
			check:  func(context.Context) error { return errBoom },
			want:   want{err: errBoom, message: "not seen: a thing: boom", mark: "✗ a thing (0.0s)\n"},
		},
		"NotInTime": {
			reason: "The error has the time limit and the last error of the check.",
			within: time.Nanosecond,
			check: func(ctx context.Context) error {
				<-ctx.Done()

				return until(ctx, func(string) {}, func(context.Context) error { return errBoom })
			},
			want: want{err: cmpopts.AnyError, message: "not seen: a thing: not within 1ns", mark: "✗ a thing (0.0s)\n"},
		},
		"Interrupted": {
			reason: "An interrupted expectation is not a failed one, so there is no cross.",
			within: time.Hour,
			cause:  errInterrupted,
			check:  func(ctx context.Context) error { return ctx.Err() },
			want:   want{err: errInterrupted, message: "interrupted", mark: "- a thing (0.0s)\n"},
		},
		"Aborted": {
			reason: "The cause of the abort is the error of the expectation.",
			within: time.Hour,
			cause:  errBoom,
			check:  func(ctx context.Context) error { return ctx.Err() },
			want:   want{err: errBoom, message: "not seen: a thing: boom", mark: "✗ a thing (0.0s)\n"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)

			if tc.cause != nil {
				cancel(tc.cause)
			}

			s, out := newScreenFor(plainWidth)
			err := expectation{title: "a thing", within: tc.within, check: tc.check}.meet(ctx, s)

			if diff := cmp.Diff(tc.want.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nmeet(...): -want error, +got error:\n%s", tc.reason, diff)
			}

			if err != nil && !strings.HasPrefix(err.Error(), tc.want.message) {
				t.Errorf("%s\nmeet(...): error %q, want %q", tc.reason, err, tc.want.message)
			}

			if diff := cmp.Diff(tc.want.mark, out.String()); diff != "" {
				t.Errorf("%s\nmeet(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUntil(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)

	var progress []string

	checks := 0
	err := until(ctx, func(s string) { progress = append(progress, s) }, func(context.Context) error {
		if checks++; checks == 2 {
			cancel(errors.New("out of time"))

			return errors.New("second")
		}

		return errors.New("first")
	})

	if diff := cmp.Diff([]string{"first"}, progress); diff != "" {
		t.Errorf("An error after the end of the context is not about the condition.\nuntil(...): -want progress, +got progress:\n%s", diff)
	}

	if diff := cmp.Diff("out of time: first", err.Error()); diff != "" {
		t.Errorf("The error has the last error of the condition.\nuntil(...): -want error, +got error:\n%s", diff)
	}
}
