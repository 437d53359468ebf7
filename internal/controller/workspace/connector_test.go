// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// TestChooseCLI ensures that the field of a Workspace precedes that of its ProviderConfig, and that one that is missing
// is named.
func TestChooseCLI(t *testing.T) {
	t.Parallel()

	standard := &terraform.CLI{Product: terraform.OpenTofu, Version: "1.12.6"}
	c := &connector{Options: Options{CLIs: &terraform.Store{Default: standard}}}
	there := &commonv1beta1.CLI{Product: commonv1beta1.CLIProductOpenTofu, Version: "1.12.6"}
	missing := &commonv1beta1.CLI{Product: commonv1beta1.CLIProductTerraform, Version: "1.5.7"}

	cases := map[string]struct {
		reason      string
		own, shared *commonv1beta1.CLI
		err         string
	}{
		"None":      {reason: "It runs as before."},
		"Own":       {reason: "It is that of the Workspace.", own: there, shared: missing},
		"Shared":    {reason: "It is that of the ProviderConfig.", shared: there},
		"Missing":   {reason: "Nothing else runs.", own: missing, shared: there, err: "cannot use spec.forProvider.cli: this instance has only OpenTofu 1.12.6: Terraform 1.5.7 takes"},
		"NotShared": {reason: "Nor here.", shared: missing, err: "cannot use spec.cli of the ProviderConfig: "},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := c.chooseCLI(tc.own, tc.shared)
			if tc.err == "" && (err != nil || got != standard) || tc.err != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.err)) {
				t.Errorf("\n%s\nchooseCLI(...): want the default one or error %q, got %v, %v", tc.reason, tc.err, got, err)
			}
		})
	}
}

// TestConnectOfEarlierVersion ensures that a Workspace that the existing provider has updated last is recognized also after a failure, with
// which its condition Ready may change.
func TestConnectOfEarlierVersion(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with())
	r.ws.SetConditions(xpv2.Available())
	r.ws.SetWriteConnectionSecretToReference(&xpv2.SecretReference{Name: "not a name", Namespace: "ns"})

	if _, err := r.Connect(t.Context(), r.ws); err == nil {
		t.Fatal("want an error about the Secret")
	}

	if r.ws.GetObservation().Checksum == "" {
		t.Error("want a checksum, as after a plan of the existing provider")
	}
}
