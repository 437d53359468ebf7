// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A storedState is a state in the kubernetes backend, as the CLI has written it.
type storedState struct {
	Lineage string `json:"lineage"`
	Version string `json:"terraform_version"` // of the CLI that has written it, also of OpenTofu
	Serial  int64  `json:"serial"`

	Outputs map[string]struct {
		Value string `json:"value"`
	} `json:"outputs"`
}

// readState reads the state of a Workspace from its Secret.
func (c *cluster) readState(t *testing.T, secret *corev1.Secret) storedState {
	t.Helper()
	c.get(t, secret)

	z, err := gzip.NewReader(bytes.NewReader(secret.Data["tfstate"]))
	if err != nil {
		t.Fatalf("cannot read state %q: %v", secret.GetName(), err)
	}

	s := storedState{}
	if err := json.NewDecoder(z).Decode(&s); err != nil {
		t.Fatalf("cannot read state %q: %v", secret.GetName(), err)
	}

	return s
}

// withNextSerial returns a state of the kubernetes backend as "state push -force" stores it.
func withNextSerial(t *testing.T, data []byte) []byte {
	t.Helper()

	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("cannot read state: %v", err)
	}

	state := map[string]any{}
	if err := json.NewDecoder(z).Decode(&state); err != nil {
		t.Fatalf("cannot read state: %v", err)
	}

	serial, _ := state["serial"].(float64)
	state["serial"] = serial + 1

	b := &bytes.Buffer{}
	w := gzip.NewWriter(b)

	if err := errors.Join(json.NewEncoder(w).Encode(state), w.Close()); err != nil {
		t.Fatalf("cannot write state: %v", err)
	}

	return b.Bytes()
}

// expectChangedOnce fails the test unless there was exactly one change of the state since it
// was as before.
func expectChangedOnce(t *testing.T, c *cluster, secret *corev1.Secret, before storedState) {
	t.Helper()

	after := c.readState(t, secret)
	if after.Lineage != before.Lineage || after.Serial != before.Serial+1 {
		t.Errorf("state %q: want serial %d of lineage %s, got serial %d of lineage %s", secret.GetName(), before.Serial+1, before.Lineage, after.Serial, after.Lineage)
	}
}

// expectCreatedOnce fails the test unless the Workspace reports that it was created once.
func expectCreatedOnce(t *testing.T, c *cluster, ws workspace.Workspace) {
	t.Helper()
	expectEvent(t, c, ws, "CreatedExternalResource")

	if n := countEvents(t, c, ws, "CreatedExternalResource"); n != 1 {
		t.Errorf("Workspace %q was created %d times", ws.GetName(), n)
	}
}

// countEvents returns how many Events with the reason there were about the Workspace.
func countEvents(t *testing.T, c *cluster, ws workspace.Workspace, reason string) int32 {
	t.Helper()

	events, err := c.eventsOf(t, ws)
	if err != nil {
		t.Fatalf("cannot list events: %v", err)
	}

	var n int32

	for _, e := range events {
		if e.Reason == reason {
			// Equal Events are one object.
			n += e.Count
		}
	}

	return n
}
