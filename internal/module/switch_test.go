// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"maps"
	"strings"
	"testing"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestStateSurvives ensures that a fetch does not change files of the CLI.
func TestStateSurvives(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	r := s.repo(t, "repo", files{"main.tf": "1", "envs/prod/main.tf": "1", "gone/main.tf": "1", "terraform.tfstate": "committed by mistake"})

	p := newPlace(t, "git::"+s.url+"/repo")
	p.request.Parameters.Entrypoint = "envs/prod"
	p.ensure(t)
	p.expect(t, files{"main.tf": "1", "envs/prod/main.tf": "1", "gone/main.tf": "1"})

	ours := files{
		"envs/prod/terraform.tfstate.d/ws/terraform.tfstate": "state", "envs/prod/.terraform/providers/x": "p", "envs/prod/.terraform.lock.hcl": "lock",
		"terraform.tfstate": "state", "gone/.terraform/x": "x",
	}
	filesystem.Write(t, p.dir.Path(), ours)

	r.commit(t, files{"main.tf": "2", "envs/prod/main.tf": "2"})
	p.ensure(t)

	want := files{"main.tf": "2", "envs/prod/main.tf": "2"}
	maps.Copy(want, ours)

	p.expect(t, want)

	// The remains of a directory that was deleted upstream are not a module.
	p.request.Parameters.Entrypoint = "gone"
	if got, want := p.ensureFails(t), `cannot use spec.forProvider.entrypoint "gone": the module has no configuration there, no file *.tf; the directories with a configuration: ., envs/prod`; !strings.Contains(got, want) {
		t.Errorf("Ensure(...): want error %q, got %q", want, got)
	}

	// Terraform does not read the files of OpenTofu, and would destroy everything.
	r.commit(t, files{"envs/prod/main.tofu": "3", "envs/prod/more.tofu.json": "3"})

	p.request.Parameters.Entrypoint = "envs/prod"
	if got, want := p.ensureFails(t), `cannot use spec.forProvider.entrypoint "envs/prod": the module has no configuration there`; !strings.Contains(got, want) {
		t.Errorf("Ensure(...): want error %q, got %q", want, got)
	}

	p.request.CLI = &terraform.CLI{Product: terraform.OpenTofu, Version: "1.12.6"}
	p.ensure(t)

	p.request.Parameters.Entrypoint = "../x"
	if got, want := p.ensureFails(t), `cannot use spec.forProvider.entrypoint "../x": it leaves the module`; !strings.Contains(got, want) {
		t.Errorf("Ensure(...): want error %q, got %q", want, got)
	}
}

// TestSwitchSource ensures that no files of an earlier source stay.
func TestSwitchSource(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	s.repo(t, "a", files{"main.tf": "a", "a.tf": "a"})
	s.repo(t, "b", files{"main.tf": "b"})

	p := newPlace(t, "git::"+s.url+"/a")
	p.ensure(t)
	p.request.Parameters.Module = "git::" + s.url + "/b"
	p.ensure(t)
	p.expect(t, files{"main.tf": "b"})

	filesystem.Write(t, p.dir.Path(), files{"terraform.tfstate": "state"})
	p.request.Parameters.Source = commonv1beta1.ModuleSourceInline

	if got := p.ensure(t); got != "" {
		t.Errorf("Ensure(...) of an inline module: want no address, got %q", got)
	}

	p.expect(t, files{"terraform.tfstate": "state"})

	p.request.Parameters.Source = "Other"
	if got, want := p.ensureFails(t), `spec.forProvider.source "Other" is not supported`; !strings.Contains(got, want) {
		t.Errorf("Ensure(...): want error %q, got %q", want, got)
	}
}
