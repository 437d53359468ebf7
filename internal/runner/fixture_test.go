// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/module"
)

const (
	firstUID  = "11111111-1111-4111-8111-111111111111"
	secondUID = "22222222-2222-4222-8222-222222222222"
	thirdUID  = "33333333-3333-4333-8333-333333333333"
)

// A subject is the specification of a Workspace and of its ProviderConfig.
type subject struct {
	commonv1beta1.WorkspaceParameters

	config      commonv1beta1.ProviderConfigSpec
	credentials map[string][]byte
}

// gather returns the inputs of the subject after the changes, which may refer to the objects of kube.
func gather(t *testing.T, change ...func(s *subject)) (*Inputs, error) {
	t.Helper()

	s := &subject{}
	s.Source = commonv1beta1.ModuleSourceInline
	s.Module = "# module"

	for _, fn := range change {
		fn(s)
	}

	return Gather(t.Context(), kube(), s.WorkspaceParameters, s.config, s.credentials)
}

// stubbed returns the Runner of a Workspace with the supplied UID, whose CLI is a stub. Nothing is
// written yet.
func (p *place) stubbed(t *testing.T, uid string, change ...func(s *subject)) *Runner {
	t.Helper()

	in, err := gather(t, change...)
	if err != nil {
		t.Fatal(err)
	}

	dir, err := p.root.Dir(uid)
	if err != nil {
		t.Fatal(err)
	}

	return New(Options{
		Held:      &HeldStates{},
		CLI:       p.cli(t, "tofu", "OpenTofu v1.2.3"),
		Fetcher:   module.NewFetcher(nil, module.Options{Program: os.Args[0]}),
		InitCache: p.initCache,
		Environ:   []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.outside},
		Stop:      t.Context(),
	}, Target{Dir: dir, Inputs: in, Name: "ws", Use: func() (done func()) { return func() {} }})
}

// Changes of a subject.

func arguments(s *subject) {
	s.InitArgs = []string{"-get=false"}
	s.PlanArgs = []string{"-parallelism=1"}
	s.ApplyArgs = []string{"-parallelism=2"}
	s.DestroyArgs = []string{"-parallelism=3"}
}

// variables come from each kind of source. The module declares a.
func variables(s *subject) {
	ref := &commonv1beta1.KeyReference{Namespace: "ns", Name: "o", Key: "k"}
	json := commonv1beta1.FileFormatJSON

	s.Module = `variable "a" {}`
	s.Vars = []commonv1beta1.Var{{Key: "a", Value: "b"}}
	s.VarFiles = []commonv1beta1.VarFile{
		{Source: commonv1beta1.VarFileSourceConfigMapKey, ConfigMapKeyReference: ref},
		{Source: commonv1beta1.VarFileSourceSecretKey, SecretKeyReference: &commonv1beta1.KeyReference{Namespace: "ns", Name: "o", Key: "json"}, Format: &json},
	}
}

func secretVarFile(secret string, format commonv1beta1.FileFormat) func(s *subject) {
	return func(s *subject) {
		s.VarFiles = []commonv1beta1.VarFile{{
			Source:             commonv1beta1.VarFileSourceSecretKey,
			SecretKeyReference: &commonv1beta1.KeyReference{Namespace: "ns", Name: secret, Key: "k"},
			Format:             &format,
		}}
	}
}

func missingVariables(s *subject) {
	s.VarFiles = []commonv1beta1.VarFile{{
		Source:                commonv1beta1.VarFileSourceConfigMapKey,
		ConfigMapKeyReference: &commonv1beta1.KeyReference{Namespace: "ns", Name: "missing", Key: "k"},
	}}
}

func configuration(text string) func(s *subject) {
	return func(s *subject) { s.config.Configuration = &text }
}

func partialBackend(s *subject) { s.config.BackendFile = new("path = 1") }

func inline(text string) func(s *subject) { return func(s *subject) { s.Module = text } }

func entrypoint(dir string) func(s *subject) { return func(s *subject) { s.Entrypoint = dir } }

// remote is a module at the address.
func remote(address string) func(s *subject) {
	return func(s *subject) {
		s.Source = commonv1beta1.ModuleSourceRemote
		s.Module = address
	}
}

func credentials(names ...string) func(s *subject) {
	return func(s *subject) {
		s.credentials = map[string][]byte{}
		for _, name := range names {
			s.credentials[name] = []byte("sesame-sesame")
		}
	}
}

// expectError expects an error that contains text, or none if text is empty.
func expectError(t *testing.T, what, text string, err error) {
	t.Helper()

	if text == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("%s: want an error with %q, got %v", what, text, err)
	}
}

// pathIn returns the path of a file in the directory of the Workspace.
func pathIn(r *Runner, name string) string { return filepath.Join(r.Dir.Path(), name) }
