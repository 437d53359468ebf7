// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// recordsKubernetes is the answer of an init with this kubernetes backend.
func recordsKubernetes(suffix string) string {
	return `echo '{"version":3,"backend":{"type":"kubernetes","config":{"secret_suffix":"` + suffix + `","namespace":"states"}}}' > .terraform/terraform.tfstate`
}

// TestNames ensures that the message for a name that cannot be used has the value, the limit and the remedy.
func TestNames(t *testing.T) {
	t.Parallel()

	const (
		general    = "it may have only ASCII letters, digits, and any of -_.~$&+:=@"
		kubernetes = "the kubernetes backend takes at most 63 lowercase letters"
	)

	cases := map[string]struct {
		reason string
		name   string
		// general and kubernetes say whether the name is refused: with every backend, before any run; with a
		// kubernetes backend.
		general, kubernetes bool
	}{
		"Name":       {reason: "A name of a Workspace may have dots.", name: "eu.prod-1"},
		"Longest":    {reason: "This is the longest value of a label.", name: strings.Repeat("a", 63)},
		"Long":       {reason: "The name of a Workspace may be longer.", name: strings.Repeat("a", 64), kubernetes: true},
		"Upper":      {reason: "Names of Secrets are in lower case.", name: "Prod", kubernetes: true},
		"Underscore": {reason: "They have no underscores.", name: "eu_prod", kubernetes: true},
		"Dash":       {reason: "It is no argument, but also no value of a label.", name: "-prod", kubernetes: true},
		"DashLast":   {reason: "It would be valid in the name of the Secret.", name: "prod-", kubernetes: true},
		"Dots":       {reason: "There is nothing between the dots.", name: "a..b", kubernetes: true},
		"Space":      {reason: "The CLI refuses what has to be escaped in a URL.", name: "prod/eu 1", general: true},
		"Slash":      {reason: "A slash would be another directory.", name: "prod/eu", general: true},
		"Unicode":    {reason: "So it does with other letters.", name: "straße", general: true},
		"Percent":    {reason: "So it does with what looks escaped.", name: "a%20b", general: true},
		"NewLine":    {reason: "The message has one line.", name: "a\nb", general: true},
		"Parent":     {reason: "A local backend would write to the parent of its directory.", name: "..", general: true},
		"VeryLong":   {reason: "The message is bounded.", name: strings.Repeat("ä", 1000), general: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			expect := func(backend, limit string, refused, ran bool, answers ...string) {
				p := newPlace(t)
				p.answer(t, "init", answers...)

				r := p.stubbed(t, firstUID)
				r.Name = tc.name

				err := r.Prepare(t.Context())
				if (err != nil) != refused {
					t.Fatalf("\n%s\nPrepare(...) with a %s backend: want an error %t, got %v", tc.reason, backend, refused, err)
				}

				if got := len(p.records(t, ".args")) > 0; got != ran {
					t.Errorf("\n%s\nwith a %s backend: want a run %t, got %t", tc.reason, backend, ran, got)
				}

				if err == nil {
					return
				}

				for _, text := range []string{limit, "Set the annotation crossplane.io/external-name"} {
					if !strings.Contains(err.Error(), text) {
						t.Errorf("\n%s\nwant %q in %v", tc.reason, text, err)
					}
				}

				if !errors.As(err, &UnpreparedError{}) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 1000 {
					t.Errorf("\n%s\nwant one short line of an UnpreparedError, got %v", tc.reason, err)
				}
			}

			expect("local", general, tc.general, !tc.general)

			if !tc.general {
				expect("kubernetes", kubernetes, tc.kubernetes, true, recordsKubernetes("shared"))
			}
		})
	}
}

// TestNameOfKnownDirectory ensures that a name is also refused in a directory that an earlier reconcile has
// initialized, and after a run has asked for another init.
func TestNameOfKnownDirectory(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	p.answer(t, "init", recordsKubernetes("shared"))

	for _, when := range []string{"first", "second"} {
		r := p.stubbed(t, firstUID)
		r.Name = "Prod"

		if err := r.Prepare(t.Context()); err == nil {
			t.Errorf("want the %s reconcile to fail", when)
		}

		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}

	p = newPlace(t)
	p.answer(t, "init", "", recordsKubernetes("shared"))
	p.answer(t, "plan", fails("Backend initialization required"))

	r := p.stubbed(t, firstUID)
	r.Name = "Prod"

	if _, err := r.Plan(t.Context(), false); err == nil || !strings.Contains(err.Error(), "crossplane.io/external-name") {
		t.Errorf("want the plan to fail because of the name, got %v", err)
	}
}

// TestUnreadableState ensures that a message says which state a run could not read.
func TestUnreadableState(t *testing.T) {
	t.Parallel()

	const where = ` (the state of the Terraform workspace "prod" of the backend, in the Secret states/tfstate-prod-shared`

	for name, tc := range map[string]struct{ says, want string }{
		"Damaged":   {says: "error loading state: unexpected EOF", want: where + ")"},
		"Encrypted": {says: "error loading state: encountered unencrypted payload without unencrypted method configured", want: where + ": the state encryption of the module needs the method that the state was written with, as its fallback, until an apply with changes has written the state again)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			p.answer(t, "init", recordsKubernetes("shared"))
			p.answer(t, "plan", fails(tc.says))

			r := p.stubbed(t, firstUID)
			r.Name = "prod"

			if _, err := r.Plan(t.Context(), false); err == nil || !strings.HasPrefix(err.Error(), "cannot plan: "+tc.says) || !strings.HasSuffix(err.Error(), tc.want) {
				t.Errorf("want %q, got %v", tc.want, err)
			}
		})
	}
}

// TestStateOfInit ensures that a message says which state an init could not read.
func TestStateOfInit(t *testing.T) {
	t.Parallel()

	const where = `This is the state of the Terraform workspace "default" of the backend`

	cases := map[string]struct {
		reason  string
		answer  string
		want    string
		without string
	}{
		"Encrypted": {
			reason: "A Workspace without encryption uses the backend of encrypted ones.",
			answer: recordsKubernetes("shared") + "\n" + fails("Error loading state: Unsupported state file format: This state file is encrypted and can not be read without an encryption configuration"),
			want:   where + ", in the Secret states/tfstate-default-shared, which each init reads: Workspaces with different state encryptions, or without one, need different backends, such as a secret_suffix of their own. If the encryption was changed, and no Workspace has the external name default, delete that state",
		},
		"Corrupted": {
			reason:  "Encryption has nothing to do with it.",
			answer:  fails("Error refreshing state: unexpected end of JSON input"),
			want:    where + ", which each init reads",
			without: "encryption",
		},
		"Forbidden": {
			reason:  "The state that init reads has a name that no person has chosen.",
			answer:  recordsKubernetes("shared") + "\n" + fails("Error loading state: leases.coordination.k8s.io is forbidden: User sa cannot create resource leases"),
			want:    ": grant the provider all rights on Secrets and Leases in that namespace, or set another namespace in the backend of the ProviderConfig",
			without: "default",
		},
		"Suffix": {
			reason: "A suffix that no Secret can have makes all states fail.",
			answer: recordsKubernetes("Team_A") + "\n" + fails("Error loading state: the secret name tfstate-default-Team_A is invalid"),
			want:   `cannot initialize: cannot use the secret_suffix "Team_A" of the kubernetes backend: it takes at most 63 lowercase letters`,
		},
		"LongSuffix": {
			reason: "It is the value of a label, too.",
			answer: recordsKubernetes(strings.Repeat("a", 64)) + "\n" + fails("Error loading state: found '<', expected: !, identifier, or 'end of string'"),
			want:   `cannot initialize: cannot use the secret_suffix "` + strings.Repeat("a", 64) + `" of the kubernetes backend: it takes at most 63 lowercase letters`,
		},
		"UnreadSuffix": {
			reason:  "Init has read no state. The name is not to blame.",
			answer:  recordsKubernetes(strings.Repeat("a", 64)),
			want:    "cannot use the secret_suffix",
			without: "external-name",
		},
		"LongestSuffix": {
			reason:  "The label can have it.",
			answer:  recordsKubernetes(strings.Repeat("a", 63)) + "\n" + fails("Error loading state: unexpected EOF"),
			want:    where,
			without: "cannot use the secret_suffix",
		},
		"Other": {
			reason:  "Another failure has no state.",
			answer:  fails("Invalid backend configuration argument"),
			want:    "cannot initialize: Invalid backend configuration argument",
			without: where,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			p.answer(t, "init", tc.answer)

			err := p.stubbed(t, firstUID).Prepare(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) || tc.without != "" && strings.Contains(err.Error(), tc.without) {
				t.Errorf("\n%s\nPrepare(...): want %q and not %q, got %v", tc.reason, tc.want, tc.without, err)
			}
		})
	}
}
