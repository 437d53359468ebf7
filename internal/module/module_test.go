// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"strings"
	"testing"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

func TestMistaken(t *testing.T) {
	t.Parallel()

	inline := func(text string) commonv1beta1.WorkspaceParameters {
		return commonv1beta1.WorkspaceParameters{ModuleParameters: commonv1beta1.ModuleParameters{Source: commonv1beta1.ModuleSourceInline, Module: text}}
	}
	json := inline(`{"output": {}}`)
	json.InlineFormat = new(commonv1beta1.FileFormatJSON)
	remote := inline("git::https://example.org/repo")
	remote.Source = commonv1beta1.ModuleSourceRemote

	cases := map[string]struct {
		reason string
		p      commonv1beta1.WorkspaceParameters
		want   string // A part, or empty for none.
	}{
		"HCL":     {reason: "It is what it should be.", p: inline("output \"a\" {\n  value = 1\n}\n")},
		"Compact": {reason: "HCL needs few blanks.", p: inline(`locals{a="git::https://example.org/repo"}`)},
		"Comment": {reason: "It is a module without resources.", p: inline("#nothing")},
		"Broken":  {reason: "The CLI tells what is wrong.", p: inline("output a")},
		"Address": {reason: "The source was forgotten.", p: inline("git::https://example.org/repo?ref=v1\n"), want: "set spec.forProvider.source to Remote"},
		"Format":  {reason: "The format was forgotten.", p: inline("\n" + json.Module), want: "set spec.forProvider.inlineFormat to JSON"},
		"NoJSON":  {reason: "It is not JSON.", p: commonv1beta1.WorkspaceParameters{ModuleParameters: commonv1beta1.ModuleParameters{Source: commonv1beta1.ModuleSourceInline, Module: "locals {}", InlineFormat: json.InlineFormat}}, want: "set spec.forProvider.inlineFormat to HCL"},
		"JSON":    {reason: "It was not.", p: json},
		"Remote":  {reason: "Nor was the source.", p: remote},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := Mistaken(tc.p); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nMistaken(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
