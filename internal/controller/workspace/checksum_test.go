// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
)

// TestChecksum ensures that the checksum identifies a specification. It depends on the Workspace
// alone, so that no value of a Secret can be part of it.
func TestChecksum(t *testing.T) {
	t.Parallel()

	module := func(text string) func(ws *clusterv1beta1.Workspace) {
		return func(ws *clusterv1beta1.Workspace) { ws.Spec.ForProvider.Module = text }
	}

	if a, again := checksum(with(module("a"))), checksum(with(module("a"))); a != again {
		t.Error("checksum(...): want the same one for the same specification")
	}

	// A restored Workspace may have the generation of another specification.
	if checksum(with(module("a"))) == checksum(with(module("b"))) {
		t.Error("checksum(...): want another one for another specification")
	}
}
