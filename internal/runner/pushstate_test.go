// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestEncryptedUnsavedState ensures that an encrypted state is decrypted to be saved, that this does not reach the
// disk, and that the file stays until it is saved.
func TestEncryptedUnsavedState(t *testing.T) {
	t.Parallel()

	const (
		local     = `echo '{"backend":{"type":"local","config":{"workspace_dir":"'${TF_DATA_DIR%/*}/states'"}}}' > "$TF_DATA_DIR/terraform.tfstate"`
		encrypted = "Unsupported state file format: This state file is encrypted and can not be read without an encryption configuration"
		push      = "state push -no-color -- DIR/errored.tfstate"
		pull      = "state pull -no-color"
	)

	for name, tc := range map[string]struct {
		reason string
		states []string
		err    string
		ran    []string
	}{
		"Saved": {
			reason: "Only a backend is read with the encryption.",
			states: []string{`[ -n "$TF_DATA_DIR" ] && echo decrypted || exit 1`, `[ -z "$TF_DATA_DIR" ] && [ "$(cat)" = decrypted ] && ! grep -r decrypted . || exit 1`},
			ran:    []string{initRun, push, initRun, pull, "state push -no-color -- -"},
		},
		"OtherKey": {
			reason: "The key was replaced meanwhile.",
			states: []string{fails("decryption failed for all provided methods")},
			err:    "cannot decrypt the state: decryption failed",
			ran:    []string{initRun, push, initRun, pull},
		},
		"Refused": {
			reason: "The backend does not take it.",
			states: []string{"echo decrypted", fails("boom")},
			err:    "cannot save state: boom",
			ran:    []string{initRun, push, initRun, pull, "state push -no-color -- -"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			r := p.stubbed(t, firstUID)
			path := pathIn(r, "errored.tfstate")

			p.answer(t, "init", "true", local)
			p.answer(t, "state", append([]string{fails(encrypted)}, tc.states...)...)
			filesystem.Write(t, r.Dir.Path(), filesystem.Files{"errored.tfstate": "kept"})

			expectError(t, tc.reason, tc.err, r.PushState(t.Context(), path, nil))

			if diff := cmp.Diff(tc.ran, p.ran(t, r)); diff != "" {
				t.Errorf("%s: runs: -want, +got:\n%s", tc.reason, diff)
			}

			if _, err := os.Stat(path); os.IsNotExist(err) != (tc.err == "") {
				t.Errorf("%s: want the file to stay until its state is saved, got %v", tc.reason, err)
			}
		})
	}
}

// TestPushFindsLineage has a backend without a state, in which a push makes a new lineage.
func TestPushFindsLineage(t *testing.T) {
	t.Parallel()

	const (
		resources = `"resources":[{"mode":"managed","type":"a","name":"b","instances":[{"attributes":{"n":12345678901234567890}}]}]`

		saved   = `{"version":4,"lineage":"a","serial":3,"outputs":{"o":{"value":1,"type":"number"}},` + resources + `}`
		copied  = `{"version":4,"lineage":"b","serial":1,"terraform_version":"1.5.7",` + resources + `,"outputs":{"o":{"type":"number","value":1}},"check_results":null}`
		changed = `{"version":4,"lineage":"b","serial":2,"outputs":{"o":{"value":1,"type":"number"}},` + resources + `}`
		other   = `{"version":4,"lineage":"b","serial":1,"outputs":{"o":{"value":2,"type":"number"}},` + resources + `}`

		push = "state push -no-color -- DIR/errored.tfstate"
		pull = "state pull -no-color"
	)

	unrelated := fails("cannot import state with lineage a over unrelated state with lineage b")
	prints := func(text string) string { return "echo '" + text + "'" }
	looked := []string{initRun, push, pull}

	for name, tc := range map[string]struct {
		reason  string
		lineage string
		states  []string
		adopted string
		err     string
		ran     []string
	}{
		"Lost":       {reason: "The push has made another lineage.", states: []string{"true", prints(copied)}, adopted: "b", ran: looked},
		"LostBefore": {reason: "So has one before, whose process died.", states: []string{unrelated, prints(copied)}, adopted: "b", ran: looked},
		"Kept":       {reason: "There was a state, which had this lineage.", states: []string{"true", prints(saved)}, ran: looked},
		"Known":      {reason: "The run began with that state.", lineage: "a", states: []string{"true"}, ran: []string{initRun, push}},
		"Other":      {reason: "What is there is another state.", states: []string{unrelated, prints(other)}, err: "over unrelated state", ran: looked},
		"Later":      {reason: "Another process has made it.", states: []string{unrelated, prints(changed)}, err: "over unrelated state", ran: looked},
		"Changed":    {reason: "Another process has written since.", states: []string{"true", prints(other)}, ran: looked},
		"Unreadable": {reason: "The file stays, and the next attempt looks again.", states: []string{unrelated, fails("boom")}, err: "cannot read the state that was saved: boom", ran: looked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			r := p.stubbed(t, firstUID)
			path := pathIn(r, "errored.tfstate")

			p.answer(t, "state", tc.states...)
			filesystem.Write(t, r.Dir.Path(), filesystem.Files{"errored.tfstate": saved})

			if err := r.WriteRunRecord(RunRecord{StateSummary: commonv1beta1.StateSummary{Lineage: tc.lineage}}); err != nil {
				t.Fatal(err)
			}

			adopted := ""

			err := r.PushState(t.Context(), path, func(found *terraform.State) error {
				adopted = found.Lineage

				return nil
			})
			expectError(t, tc.reason, tc.err, err)

			if terraform.IsUnrelatedState(err) != (tc.err == "over unrelated state") {
				t.Errorf("%s: a person is told to correct the backend: %v", tc.reason, err)
			}

			if adopted != tc.adopted {
				t.Errorf("%s: want the lineage %q, got %q", tc.reason, tc.adopted, adopted)
			}

			if diff := cmp.Diff(tc.ran, p.ran(t, r)); diff != "" {
				t.Errorf("%s: runs: -want, +got:\n%s", tc.reason, diff)
			}

			if _, err := os.Stat(path); os.IsNotExist(err) != (tc.err == "") {
				t.Errorf("%s: want the file to stay until its state is saved, got %v", tc.reason, err)
			}
		})
	}
}
