// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"strings"
	"testing"
	"time"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

func TestGatherPluginCache(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		cache  *bool
		want   bool
	}{
		"Absent":   {reason: "A CustomResourceDefinition that is older than the default omits it.", want: true},
		"Enabled":  {reason: "It can be enabled.", cache: new(true), want: true},
		"Disabled": {reason: "It can be disabled.", cache: new(false)},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := commonv1beta1.WorkspaceParameters{ModuleParameters: commonv1beta1.ModuleParameters{Source: commonv1beta1.ModuleSourceInline}}

			in, err := Gather(t.Context(), nil, p, commonv1beta1.ProviderConfigSpec{PluginCache: tc.cache}, nil)
			if err != nil {
				t.Fatalf("Gather(...): %v", err)
			}

			if in.pluginCache != tc.want {
				t.Errorf("%s\nGather(...): want plugin cache %t, got %t", tc.reason, tc.want, in.pluginCache)
			}
		})
	}
}

// TestWriteInputsEntrypoint ensures that an error about a missing entrypoint spells it like the
// Workspace, so that people find it.
func TestWriteInputsEntrypoint(t *testing.T) {
	t.Parallel()

	for _, entrypoint := range []string{"elsewhere", "....//", "/a//b/"} {
		p := commonv1beta1.WorkspaceParameters{ModuleParameters: commonv1beta1.ModuleParameters{Source: commonv1beta1.ModuleSourceRemote, Entrypoint: entrypoint}}

		in, err := Gather(t.Context(), nil, p, commonv1beta1.ProviderConfigSpec{}, nil)
		if err != nil {
			t.Fatalf("Gather(...): %v", err)
		}

		root, err := workdir.Open(t.TempDir(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}

		dir, err := root.Dir("11111111-1111-1111-1111-111111111111")
		if err != nil {
			t.Fatal(err)
		}

		r := New(Options{}, Target{Inputs: in, Dir: dir})
		if _, _, err := r.writeInputs(); err == nil || !strings.Contains(err.Error(), `"`+entrypoint+`"`) {
			t.Errorf("writeInputs(): want an error that names the entrypoint %q, got %v", entrypoint, err)
		}
	}
}
