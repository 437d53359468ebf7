// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestDestroyWithoutLock ensures that a destroy does without a lock where none can be made.
func TestDestroyWithoutLock(t *testing.T) {
	t.Parallel()

	const (
		destroyRun  = "destroy -json -auto-approve -input=false -parallelism=3"
		terminating = "leases are forbidden: unable to create new content in namespace n because it is being terminated"
	)

	cases := map[string]struct {
		answer string
		ran    []string
		err    string
	}{
		"Terminating": {answer: fails(terminating), ran: []string{destroyRun, destroyRun + " -lock=false"}},
		"Locked":      {answer: fails("Error acquiring the state lock"), ran: []string{destroyRun}, err: "Error acquiring the state lock"},
		"Began": {
			answer: `echo '{"type":"apply_start","hook":{"resource":{"addr":"a.b"},"action":"delete"}}'; ` + fails("Failed to save state: "+terminating),
			ran:    []string{destroyRun}, err: "Failed to save state",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			p.answer(t, "destroy", tc.answer)

			r := p.stubbed(t, firstUID, func(s *subject) { s.DestroyArgs = []string{"-parallelism=3"} })
			_, err := r.Destroy(t.Context(), func() error { return nil }, nil)
			expectError(t, name, tc.err, err)

			if diff := cmp.Diff(append([]string{initRun}, tc.ran...), p.ran(t, r)); diff != "" {
				t.Errorf("runs: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestDestroyInitializes ensures that nothing is destroyed after an init before the caller has
// checked the state again: the backend may be another one than before.
func TestDestroyInitializes(t *testing.T) {
	t.Parallel()

	const destroyRun = "destroy -json -auto-approve -input=false"

	cases := map[string]struct {
		again error
		ran   []string
	}{
		"Same":    {ran: []string{initRun, destroyRun, initRun, destroyRun}},
		"Changed": {again: errors.New("another state"), ran: []string{initRun, destroyRun, initRun}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			p.answer(t, "destroy", fails("Backend initialization required"))

			r := p.stubbed(t, firstUID)
			if _, err := r.Destroy(t.Context(), func() error { return tc.again }, nil); !errors.Is(err, tc.again) {
				t.Errorf("want the error %v, got %v", tc.again, err)
			}

			if diff := cmp.Diff(tc.ran, p.ran(t, r)); diff != "" {
				t.Errorf("runs: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestDestroyImports ensures that a CLI that imports before it destroys does not destroy what was never in the state.
func TestDestroyImports(t *testing.T) {
	t.Parallel()

	const (
		destroyRun = "destroy -json -auto-approve -input=false"
		listRun    = "state list -no-color"
		block      = "import {\n  to = t.n[\"a b\"]\n  id = 1\n}\n"
	)

	cases := map[string]struct {
		version, module, list string
		args                  []string
		ran                   []string
		err                   string
	}{
		"Imported":    {version: "Terraform v1.5.7", module: block, list: `printf 't.m\nt.n["a b"]\n'`, ran: []string{listRun, destroyRun}},
		"NotImported": {version: "Terraform v1.8.5", module: block, list: `echo 't.n["a"]'`, ran: []string{listRun, destroyRun + " -refresh=false"}},
		"OpenTofu":    {version: "OpenTofu v1.8.0", module: block, ran: []string{listRun, destroyRun + " -refresh=false"}},
		"Unknown":     {version: "OpenTofu v1.8.0", module: "import {\n  for_each = [1]\n  to = t.n[each.key]\n  id = 1\n}\n", ran: []string{listRun, destroyRun + " -refresh=false"}},
		"NoRefresh":   {version: "Terraform v1.5.7", module: block, args: []string{"-refresh=false"}, ran: []string{destroyRun + " -refresh=false"}},
		"Refresh":     {version: "Terraform v1.5.7", module: block, args: []string{"-refresh=true"}, ran: []string{listRun, destroyRun + " -refresh=true -refresh=false"}},
		"NoState":     {version: "Terraform v1.5.7", module: block, list: fails("No state file"), ran: []string{listRun}, err: "cannot read state: No state file"},
		"NoBlock":     {version: "Terraform v1.5.7", module: "output \"a\" { value = 1 }\n", ran: []string{destroyRun}},
		"Ignored":     {version: "Terraform v1.9.0", module: block, ran: []string{destroyRun}},
		"IgnoredToo":  {version: "OpenTofu v1.9.0-rc1", module: block, ran: []string{destroyRun}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			r := p.stubbed(t, firstUID, func(s *subject) { s.Module, s.DestroyArgs = tc.module, tc.args })
			r.CLI = p.cli(t, "other", tc.version)

			if tc.list != "" {
				p.answer(t, "state", tc.list)
			}

			_, err := r.Destroy(t.Context(), func() error { return nil }, nil)
			expectError(t, name, tc.err, err)

			if diff := cmp.Diff(append([]string{initRun}, tc.ran...), p.ran(t, r)); diff != "" {
				t.Errorf("runs: -want, +got:\n%s", diff)
			}
		})
	}
}
