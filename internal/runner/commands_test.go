// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/redact"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// Commands that are the same in many tests.
const (
	initRun  = "init -input=false -no-color"
	planRun  = "plan -json -detailed-exitcode -input=false -lock=false -out=RECORDS/run.tfplan"
	applyRun = "apply -json -input=false RECORDS/run.tfplan"
	pullRun  = "state pull -no-color"
)

// variableFiles returns the arguments for the subject that variables makes, in this directory.
func variableFiles(dir string) string {
	return fmt.Sprintf(" -var-file=%s/%s -var-file=%s/%s -var-file=%s/%s", dir, varsFile, dir, varFileName(0, false), dir, varFileName(1, true))
}

// Calls of a Runner.

func callPlan(ctx context.Context, r *Runner) error {
	_, err := r.Plan(ctx, false)

	return err
}

func callLockedPlan(ctx context.Context, r *Runner) error {
	_, err := r.Plan(ctx, true)

	return err
}

// sameState says that the state is the one that it was before the init.
func sameState() error { return nil }

func callDestroy(ctx context.Context, r *Runner) error {
	_, err := r.Destroy(ctx, sameState, nil)

	return err
}

func callState(ctx context.Context, r *Runner) error {
	_, err := r.State(ctx)

	return err
}

func callUnlock(ctx context.Context, r *Runner) error { return r.Unlock(ctx, "id") }

func callDeleteWorkspace(ctx context.Context, r *Runner) error { return r.DeleteWorkspace(ctx) }

// TestRuns ensures that each call of a Runner runs the right commands in the right order, and says
// whether it failed before the CLI could plan.
func TestRuns(t *testing.T) {
	t.Parallel()

	const uninitialized = "Module not installed"

	cases := map[string]struct {
		reason  string
		change  []func(s *subject)
		answers map[string][]string
		call    func(ctx context.Context, r *Runner) error

		ran        []string
		err        string
		unprepared bool
	}{
		"Plan":       {reason: "A plan needs no lock. The stub saves no state in it.", call: callPlan, ran: []string{initRun, planRun, pullRun}},
		"LockedPlan": {reason: "It takes the lock on demand.", call: callLockedPlan, ran: []string{initRun, strings.Replace(planRun, "-lock=false", "-lock=true", 1), pullRun}},
		"Destroy":    {reason: "It needs no plan.", call: callDestroy, ran: []string{initRun, "destroy -json -auto-approve -input=false"}},
		"State":      {reason: "It is read.", call: callState, ran: []string{initRun, pullRun}},
		"Unlock":     {reason: "The lock is named.", call: callUnlock, ran: []string{initRun, "force-unlock -force -no-color -- id"}},
		"Delete":     {reason: "The Terraform workspace is deleted.", call: callDeleteWorkspace, ran: []string{initRun, "workspace delete -no-color -- ws"}},
		"Twice": {
			reason: "One Runner prepares the directory once.",
			call: func(ctx context.Context, r *Runner) error {
				if err := callPlan(ctx, r); err != nil {
					return err
				}

				return callState(ctx, r)
			},
			ran: []string{initRun, planRun, pullRun, pullRun},
		},

		"Arguments": {
			reason: "Each command gets its arguments, the last ones take precedence.", change: []func(*subject){arguments}, call: callPlan,
			ran: []string{initRun + " -get=false", strings.Replace(planRun, " -out", " -parallelism=1 -out", 1), pullRun},
		},
		"DestroyArguments": {
			reason: "So does destroy.", change: []func(*subject){arguments}, call: callDestroy,
			ran: []string{initRun + " -get=false", "destroy -json -auto-approve -input=false -parallelism=3"},
		},
		"Variables": {
			reason: "The files are named by absolute paths, those that take precedence last. Arguments come after them.", change: []func(*subject){variables, arguments}, call: callPlan,
			ran: []string{initRun + variableFiles("DIR") + " -get=false", strings.Replace(planRun, " -out", variableFiles("DIR")+" -parallelism=1 -out", 1), pullRun},
		},
		"DestroyVariables": {
			reason: "A destroy evaluates the configuration of providers.", change: []func(*subject){inline("")}, call: func(ctx context.Context, r *Runner) error {
				r.Inputs.varFiles = []string{"a.tfvars"}

				return callDestroy(ctx, r)
			},
			ran: []string{initRun + " -var-file=DIR/a.tfvars", "destroy -json -auto-approve -input=false -var-file=DIR/a.tfvars"},
		},
		"PartialBackend": {
			reason: "Init gets the file.", change: []func(*subject){partialBackend, arguments}, call: callState,
			ran: []string{initRun + " -backend-config=DIR/crossplane.remote.tfbackend -get=false", pullRun},
		},
		"Entrypoint": {
			reason: "All commands run there. The plan stays in the root, where no module can replace it.", change: []func(*subject){entrypoint("/a//b/"), partialBackend}, call: callPlan,
			ran: []string{"IN a/b " + initRun + " -backend-config=DIR/a/b/crossplane.remote.tfbackend", "IN a/b " + planRun, "IN a/b " + pullRun},
		},

		"InitFails": {
			reason: "The CLI cannot plan.", answers: map[string][]string{"init": {fails("boom")}}, call: callPlan,
			ran: []string{initRun}, err: "cannot initialize: boom", unprepared: true,
		},
		"InitRace": {
			reason: "Another init makes the empty state at this moment.", answers: map[string][]string{"init": {fails("Error acquiring the state lock")}}, call: callPlan,
			ran: []string{initRun, initRun, planRun, pullRun},
		},
		"InitAgain": {
			reason: "The module has another requirement.", answers: map[string][]string{"plan": {fails(uninitialized)}}, call: callPlan,
			ran: []string{initRun, planRun, initRun, planRun, pullRun},
		},
		"InitAgainInVain": {
			reason: "It is not repeated for ever.", answers: map[string][]string{"plan": {fails(uninitialized), fails(uninitialized)}}, call: callPlan,
			ran: []string{initRun, planRun, initRun, planRun}, err: "cannot plan: " + uninitialized,
		},
		"InitAgainFails": {
			reason: "The CLI cannot plan.", answers: map[string][]string{"init": {"", fails("boom")}, "plan": {fails(uninitialized)}}, call: callPlan,
			ran: []string{initRun, planRun, initRun}, err: "cannot initialize: boom", unprepared: true,
		},

		"PlanFails":    {reason: "The module is wrong.", answers: map[string][]string{"plan": {fails("boom")}}, call: callPlan, ran: []string{initRun, planRun}, err: "cannot plan: boom"},
		"DestroyFails": {reason: "A resource cannot be destroyed.", answers: map[string][]string{"destroy": {fails("boom")}}, call: callDestroy, ran: []string{initRun, "destroy -json -auto-approve -input=false"}, err: "cannot destroy: boom"},
		"StateFails":   {reason: "It cannot be read.", answers: map[string][]string{"state": {fails("boom")}}, call: callState, ran: []string{initRun, pullRun}, err: "cannot read state: boom"},
		"UnlockFails":  {reason: "There is no such lock.", answers: map[string][]string{"force-unlock": {fails("boom")}}, call: callUnlock, ran: []string{initRun, "force-unlock -force -no-color -- id"}, err: "cannot remove lock id: boom"},
		"DeleteFails":  {reason: "It is not empty.", answers: map[string][]string{"workspace": {fails("boom")}}, call: callDeleteWorkspace, ran: []string{initRun, "workspace delete -no-color -- ws"}, err: "cannot delete Terraform workspace: boom"},
		"Unavailable":  {reason: "The backend cannot be reached.", answers: map[string][]string{"plan": {fails("error loading state: boom")}}, call: callPlan, ran: []string{initRun, planRun}, err: "cannot plan: error loading state: boom", unprepared: true},
		"NoWorkspaces": {reason: "The error says what to change.", answers: map[string][]string{"plan": {fails("workspaces not supported")}}, call: callPlan, ran: []string{initRun, planRun}, err: `set annotation crossplane.io/external-name to "default"`, unprepared: true},

		"MissingVariable":     {reason: "No command that needs variables runs.", change: []func(*subject){missingVariables}, call: callPlan, err: "cannot resolve variables: spec.forProvider.varFiles[0]"},
		"UndeclaredVariables": {reason: "Variables that cannot be written are missing, too.", change: []func(*subject){inline(`variable "a" { type = list(string) }`), badVariable}, call: callPlan, err: "cannot use spec.forProvider.vars"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			r := p.stubbed(t, firstUID, tc.change...)

			for command, answers := range tc.answers {
				p.answer(t, command, answers...)
			}

			err := tc.call(t.Context(), r)
			expectError(t, tc.reason, tc.err, err)

			if got := errors.As(err, &UnpreparedError{}); got != tc.unprepared {
				t.Errorf("\n%s\n%v is an UnpreparedError: want %t, got %t", tc.reason, err, tc.unprepared, got)
			}

			if diff := cmp.Diff(tc.ran, p.ran(t, r)); diff != "" {
				t.Errorf("\n%s\nruns: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func badVariable(s *subject) { s.Vars = []commonv1beta1.Var{{Key: "a", Value: "["}} }

// TestChangedBackend ensures that another backend is used only while no state can be left behind
// in the first one.
func TestChangedBackend(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		stateless bool
		answer    string
		ran       []string
		err       string
	}{
		"Stateless":      {stateless: true, answer: "Backend configuration changed", ran: []string{initRun, initRun + " -reconfigure", pullRun}},
		"State":          {answer: "Backend configuration changed", ran: []string{initRun}, err: "Backend configuration changed"},
		"AnotherFailure": {stateless: true, answer: "boom", ran: []string{initRun}, err: "boom"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			p.answer(t, "init", fails(tc.answer))

			r := p.stubbed(t, firstUID)
			r.Stateless = tc.stateless

			expectError(t, "State(...)", tc.err, callState(t.Context(), r))

			if diff := cmp.Diff(tc.ran, p.ran(t, r)); diff != "" {
				t.Errorf("runs: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestPlan ensures that a plan returns the state that it was made from, from the plan file or else
// from the backend, and no secret in the addresses of resources.
func TestPlan(t *testing.T) {
	t.Parallel()

	const drift = `echo '{"type":"resource_drift","change":{"resource":{"addr":"a[\"sesame-sesame\"]"}}}'` + "\n" +
		`echo '{"type":"planned_change","change":{"resource":{"addr":"a[\"sesame-sesame\"]"},"action":"update"}}'` + "\n"

	p := newPlace(t)
	p.answer(t, "plan", drift+p.answerPlan(t, `{"version":4,"lineage":"l","serial":3}`), planned)
	p.answer(t, "state", `echo '{"version":4,"lineage":"l","serial":4}'`)

	r := p.stubbed(t, firstUID, credentials("creds"))

	plan, err := r.Plan(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(&terraform.State{Lineage: "l", Serial: 3}, plan.Prior); diff != "" {
		t.Errorf("state: -want, +got:\n%s", diff)
	}

	if shown := fmt.Sprint(plan.Drift, plan.Resources); len(plan.Drift) != 1 || len(plan.Resources) != 1 || strings.Contains(shown, "sesame") {
		t.Errorf("want one drifted and one planned address without the secret, got %s", shown)
	}

	if diff := cmp.Diff([]string{initRun, planRun}, p.ran(t, r)); diff != "" {
		t.Errorf("runs: -want, +got:\n%s", diff)
	}

	plan, err = r.Plan(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(&terraform.State{Lineage: "l", Serial: 4}, plan.Prior); diff != "" {
		t.Errorf("state that is not in the plan: -want, +got:\n%s", diff)
	}
}

// TestWarnOfInputs ensures that a plan warns of variables and of files that have no effect, unless they would change nothing, and of
// values that a state cannot have.
func TestWarnOfInputs(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		environ, env, files []string
		secret              string // The value of a Secret.
		want                []string
	}{
		"CLIConfig": {files: []string{".tofurc", cliConfigFile, "credentials.tfrc.json", "terraform.rc"}, want: []string{
			`spec.credentials of the ProviderConfig, filename ".tofurc": No effect: for each CLI, the name must be .terraformrc`,
			`spec.credentials of the ProviderConfig, filename "credentials.tfrc.json": No effect: the CLI does not read it here: write its tokens into blocks credentials of .terraformrc`,
			`spec.credentials of the ProviderConfig, filename "terraform.rc": No effect: for each CLI, the name must be .terraformrc`,
		}},
		"NamedCLIConfig": {env: []string{"TF_CLI_CONFIG_FILE=.tofurc"}, files: []string{".tofurc"}},
		"MissingCLIConfig": {env: []string{"TF_CLI_CONFIG_FILE=/no/rc"}, want: []string{
			`spec.forProvider.env TF_CLI_CONFIG_FILE: No such file: the CLI runs without its configuration, because "/no/rc" does not exist: give it as .terraformrc in spec.credentials of the ProviderConfig`,
		}},
		"MissingSecret": {env: []string{"TF_CLI_CONFIG_FILE=/no/rc/9kj3hf7"}, secret: "/no/rc/9kj3hf7", want: []string{
			`spec.forProvider.env TF_CLI_CONFIG_FILE: No such file: the CLI runs without its configuration, because "(sensitive)" does not exist: give it as .terraformrc in spec.credentials of the ProviderConfig`,
		}},
		"MissingOfTheProvider": {environ: []string{"TF_CLI_CONFIG_FILE=/no/rc"}, want: []string{
			`environment variable TF_CLI_CONFIG_FILE of the provider: No such file: the CLI runs without its configuration, because "/no/rc" does not exist: give it as .terraformrc in spec.credentials of the ProviderConfig`,
		}},
		"Another": {env: []string{"TF_WORKSPACE=secret", "TF_DATA_DIR=/x"}, want: []string{
			"spec.forProvider.env TF_DATA_DIR: No effect: the provider chooses the data directory",
			"spec.forProvider.env TF_WORKSPACE: No effect: the Terraform workspace is \"ws\". To use another one, set the annotation crossplane.io/external-name",
		}},
		"Latin1": {env: []string{"TF_VAR_a=M\xfcller", "A=M\xfcller"}, want: []string{"spec.forProvider.env TF_VAR_a: Not UTF-8: a state has another value, so that each plan may find a change. Save it as UTF-8, or encode it with base64, and use base64decode in the module"}},
		"PlanOnly": {env: []string{"TF_CLI_ARGS_plan=-var=a=b"}, want: []string{
			"spec.forProvider.destroyArgs: Variables without their values: planArgs, applyArgs or TF_CLI_ARGS_... set variables with -var or -var-file, and a deletion uses their defaults, perhaps in another region. Add these arguments",
		}},
		"TheSame":       {env: []string{"TF_WORKSPACE=ws", "TF_DATA_DIR="}},
		"OfTheProvider": {environ: []string{"TF_WORKSPACE=x", "TF_DATA_DIR=/x"}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			p.answerPlanned(t)

			r := p.stubbed(t, firstUID, credentials(tc.files...))
			r.Environ = append(r.Environ, tc.environ...)
			r.Inputs.env = tc.env
			r.Inputs.secrets = redact.New([]byte(tc.secret))

			plan, err := r.Plan(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, plan.Warnings.Texts()); diff != "" {
				t.Errorf("warnings: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestBackendFileWithoutBackend ensures that a plan warns of a partial backend configuration without a backend: the CLI
// says so in init only, and the state is on this disk.
func TestBackendFileWithoutBackend(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		answer string
		change []func(s *subject)
		want   []string
	}{
		"NoBackend": {change: []func(*subject){partialBackend}, want: []string{
			"spec.backendFile of the ProviderConfig: No backend: neither spec.configuration nor the module has a backend block, so that the state is on the disk of this instance only",
		}},
		"Backend":  {answer: recordsKubernetes("shared"), change: []func(*subject){partialBackend}},
		"Declared": {answer: recordsKubernetes("shared"), change: []func(*subject){configuration("terraform {\n  backend \"kubernetes\" {}\n}")}},
		"Overridden": {answer: recordsKubernetes("shared"), change: []func(*subject){configuration("terraform {\n  backend \"s3\" {}\n}")}, want: []string{
			`spec.configuration of the ProviderConfig: Another backend: an override file of the module, such as backend_override.tf, replaces the backend "s3" with "kubernetes", where the state is now`,
		}},
		"Neither": {},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			p.answer(t, "plan", planned)
			p.answer(t, "init", tc.answer)
			p.answer(t, "state", `echo '{"version":4,"lineage":"l","serial":4}'`)

			plan, err := p.stubbed(t, firstUID, tc.change...).Plan(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, plan.Warnings.Texts()); diff != "" {
				t.Errorf("warnings: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestDestroyed ensures that a destroy tells the number of resources that it has destroyed, and
// reports its progress.
func TestDestroyed(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	p.answer(t, "destroy", `echo '{"type":"apply_start","hook":{"resource":{"addr":"a.b"},"action":"delete"}}'
echo '{"type":"change_summary","changes":{"remove":3}}'`, fails("boom"))

	r := p.stubbed(t, firstUID)

	var progress []terraform.Progress

	n, err := r.Destroy(t.Context(), sameState, func(p terraform.Progress) { progress = append(progress, p) })
	if n.Destroy != 3 || err != nil {
		t.Errorf("Destroy(...): want 3, got %d and error %v", n.Destroy, err)
	}

	if diff := cmp.Diff([]terraform.Progress{{Event: "apply_start", Address: "a.b", Action: "delete"}}, progress); diff != "" {
		t.Errorf("progress: -want, +got:\n%s", diff)
	}

	if n, err := r.Destroy(t.Context(), sameState, nil); n.Destroy != 0 || err == nil {
		t.Errorf("Destroy(...) that fails: want 0 and an error, got %d and error %v", n.Destroy, err)
	}
}

// TestPushState ensures that the file of an unsaved state is removed if, and only if, its state
// was saved: there is no other copy.
func TestPushState(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	p.answer(t, "state", fails("boom"))

	r := p.stubbed(t, firstUID)
	filesystem.Write(t, r.Dir.Path(), filesystem.Files{terraform.ErroredStateFile: "{}"})
	path := pathIn(r, terraform.ErroredStateFile)

	expectError(t, "PushState(...)", "cannot save state: boom", r.PushState(t.Context(), path, nil))

	if _, err := os.Stat(path); err != nil {
		t.Errorf("state that was not saved: %v", err)
	}

	expectError(t, "PushState(...)", "", r.PushState(t.Context(), path, nil))

	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("state that was saved: want none, got error %v", err)
	}

	push := "state push -no-color -- DIR/errored.tfstate"
	if diff := cmp.Diff([]string{initRun, push, push}, p.ran(t, r)); diff != "" {
		t.Errorf("runs: -want, +got:\n%s", diff)
	}

	expectError(t, "PushState(...) of a missing file", "cannot remove state that was saved", r.PushState(t.Context(), path, nil))
}
