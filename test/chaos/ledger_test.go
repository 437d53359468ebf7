// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestReadLedger(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		text   string
		want   []entry
		err    error
	}{
		"Entries": {
			reason: "Each line is an entry.",
			text:   "10 creating ws-1 x 5 uid-1\n20 created ws-1 x 5 uid-1\n",
			want: []entry{
				{time: 10, what: creating, id: "x", pid: 5, uid: "uid-1"},
				{time: 20, what: created, id: "x", pid: 5, uid: "uid-1"},
			},
		},
		"Empty":   {reason: "Nothing may have happened."},
		"Torn":    {reason: "A line that is not complete is no entry.", text: "10 creating ws-1\n", err: cmpopts.AnyError},
		"NoTime":  {reason: "A time is a number.", text: "now creating ws-1 x 5 uid-1\n", err: cmpopts.AnyError},
		"NoPID":   {reason: "A process id is a number.", text: "10 creating ws-1 x me uid-1\n", err: cmpopts.AnyError},
		"TooLong": {reason: "Two lines in one are no entry.", text: "10 creating ws-1 x 5 uid-1 20\n", err: cmpopts.AnyError},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			file := filepath.Join(t.TempDir(), "ledger")
			if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}

			got, err := readLedger(file)
			if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\n-want error, +got error:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(entry{})); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}

	if got, err := readLedger(filepath.Join(t.TempDir(), "ledger")); err != nil || got != nil {
		t.Errorf("a ledger that is not there: got %v, error %v", got, err)
	}
}

func TestReadVersion(t *testing.T) {
	t.Parallel()

	compressed := func(text string) []byte {
		b := &bytes.Buffer{}
		z := gzip.NewWriter(b)

		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}

		if err := z.Close(); err != nil {
			t.Fatal(err)
		}

		return b.Bytes()
	}

	cases := map[string]struct {
		reason string
		data   []byte
		want   version
		err    error
	}{
		"Resources": {
			reason: "A version has the resources of the ledger, and shows the tainted ones.",
			data: compressed(`{"lineage": "l", "serial": 3, "resources": [
				{"name": "revision", "instances": [{"attributes": {"id": "z"}}]},
				{"name": "thing", "instances": [{"attributes": {"id": "x"}}, {"status": "tainted", "attributes": {"id": "y"}}]}
			]}`),
			want: version{state: "ws-1", lineage: "l", serial: 3, things: map[string]bool{"x": false, "y": true}},
		},
		"NoResources": {
			reason: "A state may have none.",
			data:   compressed(`{"lineage": "l", "serial": 1}`),
			want:   version{state: "ws-1", lineage: "l", serial: 1},
		},
		"NoState": {
			reason: "There may be a place without a state.",
			want:   version{state: "ws-1"},
		},
		"NotCompressed": {reason: "The backend compresses states.", data: []byte(`{}`), err: cmpopts.AnyError},
		"NotJSON":       {reason: "A state is JSON.", data: compressed("state"), err: cmpopts.AnyError},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := readVersion("ws-1", tc.data)
			if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\n-want error, +got error:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(version{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
