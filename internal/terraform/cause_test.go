// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPredicates checks the answers of Terraform 1.5.7, 1.11.4 and OpenTofu 1.12.6 that no real
// run in another test produces.
func TestPredicates(t *testing.T) {
	t.Parallel()

	type want struct{ NeedsInit, NeedsStateInit, IsStalePlan, IsLocked, LacksWorkspaces, CannotLoadState, IsInitRace bool }

	cases := map[string]struct {
		reason          string
		op              string
		summary, detail string
		address, file   string
		want            want
	}{
		"OldBackend":       {reason: "as of an older Terraform", summary: `Backend initialization required: please run "terraform init"`, want: want{NeedsInit: true}},
		"Cloud":            {reason: "Terraform's cloud", summary: `HCP Terraform or Terraform Enterprise initialization required: please run "terraform init"`, want: want{NeedsInit: true}},
		"TofuCloud":        {reason: "the term of OpenTofu", summary: `Cloud backend initialization required: please run "tofu init"`, want: want{NeedsInit: true}},
		"ModuleSource":     {reason: "another source", summary: "Module source has changed", want: want{NeedsInit: true}},
		"ModuleVersion":    {reason: "another version", summary: "Module version requirements have changed", want: want{NeedsInit: true}},
		"Plugins":          {reason: "locked but not installed", summary: "Required plugins are not installed", want: want{NeedsInit: true}},
		"Checksum":         {reason: "installed, but with another checksum", summary: `failed to read schema for x: the cached package for y 0.14.2 (in .terraform/providers) does not match any of the checksums recorded in the dependency lock file, run tofu init to ensure all providers are correctly installed`, want: want{NeedsInit: true}},
		"StateProvider":    {reason: "the answer of Terraform", summary: "Missing required provider", detail: "This state requires provider registry.terraform.io/hashicorp/time, but that provider isn't available.", want: want{NeedsInit: true, NeedsStateInit: true}},
		"StateSchema":      {reason: "the answer of older versions and of OpenTofu", summary: `failed to read schema for time_static.x in r: failed to instantiate provider "r" to obtain schema: unavailable provider "r"`, want: want{NeedsInit: true, NeedsStateInit: true}},
		"StateOnDestroy":   {reason: "a destroy has it in the detail", summary: "Failed to load plugin schemas", detail: `Could not load the schema for provider r: unavailable provider "r"..`, want: want{NeedsInit: true, NeedsStateInit: true}},
		"InitItself":       {reason: "init cannot help init", op: opInit, summary: "Inconsistent dependency lock file"},
		"Lineage":          {reason: "a plan for another state is stale too", summary: "Saved plan does not match the given state", want: want{IsStalePlan: true}},
		"LockWhileLoading": {reason: "some backends lock before they read", summary: "error loading state: the state is already locked by another terraform client\nLock Info:\n  ID:   x", want: want{IsLocked: true, CannotLoadState: true}},
		"NestedLock":       {reason: "a script may run a CLI, which finds a lock", summary: "local-exec provisioner error", detail: "Output: Error acquiring the state lock\nLock Info:\n  ID:   x", address: "terraform_data.x", file: "main.tf"},
		"LockOfOutput":     {reason: "a module may have any text", summary: "Module output value precondition failed", detail: "Error acquiring the state lock\nLock Info:\n  ID:   x", file: "main.tf"},
		"NestedStale":      {reason: "the same is true of a plan", summary: "local-exec provisioner error", detail: "Output: Saved plan is stale", address: "terraform_data.x"},
		"NestedInit":       {reason: "a script may run a CLI without init", op: "destroy", summary: "local-exec provisioner error", detail: "Error running command 'terraform destroy': exit status 1. Output: \nError: Inconsistent dependency lock file\n", file: "main.tf"},
		"NestedWorkspaces": {reason: "or with another backend", summary: "local-exec provisioner error", detail: "Error running command 'terraform plan': exit status 1. Output: workspaces not supported", file: "main.tf"},
		"Unlock":           {reason: "a lock that could not be released is another problem", summary: "Error releasing the state lock"},
		"NoWorkspaces":     {reason: "the http backend has no workspaces", summary: "error loading state: workspaces not supported", want: want{LacksWorkspaces: true, CannotLoadState: true}},
		"BackendAway":      {reason: "the kubernetes backend, of both products", summary: `error loading state: Get "https://127.0.0.1:1/api/v1/namespaces/ns/secrets/tfstate-ws-x": dial tcp 127.0.0.1:1: connect: connection refused`, want: want{CannotLoadState: true}},
		"Pulled":           {reason: "a state pull says it in its own words", op: "state pull", summary: "Error loading the state: unexpected EOF", want: want{CannotLoadState: true}},
		"InitRace":         {reason: "two inits found no state and made its lock", op: opInit, summary: `leases.coordination.k8s.io "lock-tfstate-default-x" already exists`, want: want{IsInitRace: true}},
		"InitLocked":       {reason: "one init found the lock of another", op: opInit, summary: "Error acquiring the state lock", want: want{IsLocked: true, IsInitRace: true}},
		"PlanLocked":       {reason: "the lock of a run that takes its time is no race", summary: "Error acquiring the state lock", want: want{IsLocked: true}},
		"InitForbidden":    {reason: "a repetition is no remedy", op: opInit, summary: `secrets "tfstate-default-x" is forbidden`},
		"Other":            {reason: "most errors match no predicate", summary: "Unsupported argument"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if tc.op == "" {
				tc.op = "plan"
			}

			err := fmt.Errorf("wrapped: %w", &Error{Op: tc.op, Diagnostics: []Diagnostic{{Summary: tc.summary, Detail: tc.detail, Address: tc.address, File: tc.file}}})

			got := want{NeedsInit: NeedsInit(err), NeedsStateInit: NeedsStateInit(err), IsStalePlan: IsStalePlan(err), IsLocked: IsLocked(err), LacksWorkspaces: LacksWorkspaces(err), CannotLoadState: CannotLoadState(err), IsInitRace: IsInitRace(err)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}

	for _, err := range []error{nil, errors.New("Module not installed"), fmt.Errorf("x: %w", context.Canceled)} {
		if NeedsInit(err) || NeedsStateInit(err) || IsStalePlan(err) || IsLocked(err) || LacksWorkspaces(err) || CannotLoadState(err) {
			t.Errorf("%v is not of a CLI", err)
		}

		if _, ok := LockOf(err); ok {
			t.Errorf("%v has no lock", err)
		}
	}
}

func TestLacksBackendFields(t *testing.T) {
	t.Parallel()

	lacks := Diagnostic{Summary: `"key": required field is not set`}

	if !LacksBackendFields(&Error{Op: opInit, Diagnostics: []Diagnostic{lacks}}) {
		t.Error("a backend lacks a field: want true")
	}

	if LacksBackendFields(&Error{Op: opInit, Diagnostics: []Diagnostic{{Summary: "Duplicate backend configuration"}, lacks}}) {
		t.Error("one of two backends lacks a field: want false")
	}
}
