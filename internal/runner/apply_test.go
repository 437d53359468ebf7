// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// TestApply ensures that an apply applies the plan that was made, and makes another one only if
// the state has changed since and is still that of the Workspace.
func TestApply(t *testing.T) {
	t.Parallel()

	const (
		empty   = `{"version":4}`
		state   = `{"version":4,"lineage":"l","serial":3,"resources":[{"mode":"managed","instances":[{}]}]}`
		outputs = `echo '{"type":"outputs","outputs":{"o":{"value":1,"type":"number"}}}'`
	)

	stale := fails("Saved plan is stale")

	// The plan adds something, and the apply does not.
	other := terraform.Warnings{First: []terraform.Diagnostic{{
		File: "spec.forProvider.planArgs and applyArgs", Summary: "Other changes than planned",
		Detail: "the plan had 1 to add, 0 to change and 0 to destroy, and the apply made 0, 0 and 0. It does not use planArgs: each poll plans the rest again. Give both the same arguments",
	}}}

	cases := map[string]struct {
		reason string
		change []func(s *subject)
		// states from which the plans are made.
		states []string
		// encrypted says that the plans do not show these states, but the backend does.
		encrypted bool
		// applies are the answers of apply.
		applies []string
		// refused is the error with which the caller refuses the state of another plan.
		refused error

		// ran after the first plan.
		ran []string
		// asked says that the caller was asked about that state.
		asked  bool
		err    string
		taken  bool
		warned terraform.Warnings
	}{
		"Planned": {
			reason: "The saved plan is applied.", states: []string{state}, applies: []string{outputs},
			ran: []string{applyRun},
		},
		"Arguments": {
			reason: "A saved plan has its variables already.", change: []func(*subject){variables, func(s *subject) { s.ApplyArgs = []string{"-parallelism=2"} }}, states: []string{state}, applies: []string{outputs},
			ran: []string{"apply -json -input=false -parallelism=2 RECORDS/run.tfplan"},
		},
		"ArgumentsOfPlan": {
			reason: "The plan leaves something out. The apply does not.", change: []func(*subject){variables, func(s *subject) { s.PlanArgs = []string{"-target=a"} }}, states: []string{state}, applies: []string{outputs},
			ran:    []string{"apply -json -input=false -var-file=DIR/crossplane-provider-terraform-vars.tfvars -var-file=DIR/crossplane-provider-terraform-0.tfvars -var-file=DIR/crossplane-provider-terraform-1.tfvars.json -auto-approve"},
			warned: other,
		},
		"ArgumentsOfAnotherPlan": {
			reason: "A saved plan would not heed them.", change: []func(*subject){func(s *subject) { s.ApplyArgs = []string{"-target=a"} }}, states: []string{state}, applies: []string{outputs},
			ran:    []string{"apply -json -input=false -target=a -auto-approve"},
			warned: other,
		},
		"EnvironmentOfAnotherPlan": {
			reason: "Nor those in the environment.", change: []func(*subject){environment("TF_CLI_ARGS_apply", "-target=a")}, states: []string{state}, applies: []string{outputs},
			ran: []string{"apply -json -input=false -auto-approve"},
		},
		"Ephemeral": {
			reason: "A saved plan does not contain the value of an ephemeral variable. The CLI would use the default.", states: []string{state}, applies: []string{outputs},
			change: []func(*subject){variables, inline(`variable "a" { ephemeral = true }`)},
			ran:    []string{"apply -json -input=false -var-file=DIR/crossplane-provider-terraform-vars.tfvars -var-file=DIR/crossplane-provider-terraform-0.tfvars -var-file=DIR/crossplane-provider-terraform-1.tfvars.json -auto-approve"},
		},
		"Fails": {
			reason: "Another error is no reason for another plan.", states: []string{state}, applies: []string{fails("boom")},
			ran: []string{applyRun}, err: "cannot apply: boom",
		},
		"FailsWithWarning": {
			reason: "The provider says in a warning what has failed.", states: []string{state},
			applies: []string{`echo '{"type":"diagnostic","diagnostic":{"severity":"warning","summary":"Helm release was created but has a failed status"}}'` +
				`; echo '{"type":"diagnostic","diagnostic":{"severity":"warning","summary":"Check block assertion failed"}}'; ` + fails("deadline exceeded")},
			ran: []string{applyRun}, err: "cannot apply: deadline exceeded: It failed.; warning: Helm release was created but has a failed status",
		},
		"Stale": {
			reason: "The state has changed, but it is still the right one.", states: []string{state, state}, applies: []string{stale, outputs},
			ran: []string{applyRun, planRun, applyRun}, asked: true,
		},
		"StaleAndEncrypted": {
			reason: "The state is still the right one, although no plan shows it.", states: []string{state, state}, encrypted: true, applies: []string{stale, outputs},
			ran: []string{applyRun, planRun, pullRun, applyRun}, asked: true,
		},
		"StaleTwice": {
			reason: "It is not repeated for ever.", states: []string{state, state}, applies: []string{stale, stale},
			ran: []string{applyRun, planRun, applyRun}, asked: true, err: "cannot apply: Saved plan is stale",
		},
		"StaleAndEmpty": {
			reason: "There is still no state.", states: []string{empty, empty}, applies: []string{stale, outputs},
			ran: []string{applyRun, planRun, applyRun}, asked: true,
		},
		"StaleAndLost": {
			reason: "The caller decides about a state that is empty now.", states: []string{state, empty}, applies: []string{stale}, refused: errors.New("lost"),
			ran: []string{applyRun, planRun}, asked: true, err: "lost",
		},
		"StaleAndTaken": {
			reason: "Another process has made the state.", states: []string{empty, state}, applies: []string{stale},
			ran: []string{applyRun, planRun}, err: "another process has created the state meanwhile", taken: true,
		},
		"StaleAndRefused": {
			reason: "The caller refuses the new state.", states: []string{state, state}, applies: []string{stale}, refused: errors.New("not ours"),
			ran: []string{applyRun, planRun}, asked: true, err: "not ours",
		},
		"StaleAndBroken": {
			reason: "The new plan fails.", states: []string{state, ""}, applies: []string{stale},
			ran: []string{applyRun, planRun}, err: "cannot plan: boom",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)

			var plans, pulls []string

			for _, s := range tc.states {
				switch {
				case s == "":
					plans = append(plans, fails("boom"))
				case tc.encrypted:
					plans = append(plans, planned)
					pulls = append(pulls, "echo '"+s+"'")
				default:
					plans = append(plans, p.answerPlan(t, s))
				}
			}

			p.answer(t, "plan", plans...)
			p.answer(t, "state", pulls...)
			p.answer(t, "apply", tc.applies...)

			r := p.stubbed(t, firstUID, tc.change...)

			plan, err := r.Plan(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}

			before := len(p.ran(t, r))
			asked := false
			again := func(p *terraform.Plan) error {
				asked = true

				if p.Prior == nil || p.Prior == plan.Prior {
					t.Errorf("\n%s\nstate of the new plan: got that of the first one, or none", tc.reason)
				}

				return tc.refused
			}

			got, err := r.Apply(t.Context(), plan, again, nil)
			expectError(t, tc.reason, tc.err, err)

			if taken := errors.Is(err, ErrStateTaken); taken != tc.taken {
				t.Errorf("\n%s\nErrStateTaken: want %t, got error %v", tc.reason, tc.taken, err)
			}

			var want *terraform.Applied
			if tc.err == "" {
				want = &terraform.Applied{Outputs: map[string]terraform.Output{"o": {Value: []byte("1")}}, Warnings: tc.warned}
			}

			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nApply(...): -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.ran, p.ran(t, r)[before:]); diff != "" {
				t.Errorf("\n%s\nruns: -want, +got:\n%s", tc.reason, diff)
			}

			if asked != tc.asked {
				t.Errorf("\n%s\nthe caller was asked about the state: want %t, got %t", tc.reason, tc.asked, asked)
			}
		})
	}
}

// TestRemotePlan ensures that a plan that a backend makes elsewhere is applied, whether it is saved or
// not.
func TestRemotePlan(t *testing.T) {
	t.Parallel()

	const (
		unsavedPlanRun  = "plan -json -detailed-exitcode -input=false -lock=false"
		unsavedApplyRun = "apply -json -input=false -auto-approve"
	)

	notSaved := fails("Saving a generated plan is currently not supported")

	cases := map[string]struct {
		reason string
		plans  []string
		want   bool
		ran    []string
		err    string
	}{
		"NotSaved":   {reason: "The apply makes its own plan.", plans: []string{notSaved, "exit 2"}, want: true, ran: []string{planRun, unsavedPlanRun, pullRun, unsavedApplyRun}},
		"NoChanges":  {reason: "A plan without changes is none.", plans: []string{notSaved, "exit 0"}, ran: []string{planRun, unsavedPlanRun, pullRun}},
		"Fails":      {reason: "The remote run failed.", plans: []string{notSaved, fails("boom")}, ran: []string{planRun, unsavedPlanRun}, err: "cannot plan: boom"},
		"Panics":     {reason: "A CLI that panics ends with the code of a plan with changes.", plans: []string{notSaved, "echo 'goroutine 1 [running]:' >&2; exit 2"}, ran: []string{planRun, unsavedPlanRun}, err: "cannot plan: goroutine 1"},
		"Saved":      {reason: "The plan is a file that names the remote run, which prints no summary here.", plans: []string{`echo x > "$out"; exit 2`}, want: true, ran: []string{planRun, pullRun, applyRun}},
		"SavedNever": {reason: "A CLI that panics ends with the code of a plan with changes, and writes no plan.", plans: []string{"exit 2"}, ran: []string{planRun}, err: "cannot plan: "},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			p.answer(t, "plan", tc.plans...)
			p.answer(t, "state", `echo '{"version":4}'`)

			r := p.stubbed(t, firstUID)

			plan, err := r.Plan(t.Context(), false)
			expectError(t, tc.reason, tc.err, err)

			if err == nil && plan.Changes != tc.want {
				t.Errorf("\n%s\nPlan(...): want changes %t", tc.reason, tc.want)
			}

			if err == nil && tc.want {
				if _, err := r.Apply(t.Context(), plan, func(*terraform.Plan) error { return nil }, nil); err != nil {
					t.Errorf("\n%s\nApply(...): %v", tc.reason, err)
				}
			}

			if diff := cmp.Diff(append([]string{initRun}, tc.ran...), p.ran(t, r)); diff != "" {
				t.Errorf("\n%s\nruns: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
