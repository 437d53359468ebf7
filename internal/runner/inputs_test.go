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
