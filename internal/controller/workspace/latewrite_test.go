// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// TestRejectLateWrite removes the lock of a dead host. If the state is a Secret in this cluster,
// it has another version afterwards, before the lock is gone.
func TestRejectLateWrite(t *testing.T) {
	t.Parallel()

	const here, host = "https://here", "pod-0"

	cases := map[string]struct {
		reason string
		server string
		had    string
		want   string
	}{
		"Here":      {reason: "The late write would be accepted.", server: here, had: textOf(ownLineage, 3, 2), want: "1"},
		"Encrypted": {reason: "What is in the state does not matter.", server: here, had: "encrypted", want: "1"},
		"There":     {reason: "The state here belongs to another cluster.", server: "https://there", had: textOf(ownLineage, 3, 2)},
		"Unknown":   {reason: "It is not known where the state is.", had: textOf(ownLineage, 3, 2)},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newAttempt(t, with(owner), stateObjects(t, "ns", "ws", "x", "", tc.had)...)
			s := ownState()
			r.runner.state = &s
			r.server, r.runner.backend = here, runner.KubernetesBackend{Server: tc.server, Namespace: "ns", Suffix: "x"}
			r.locks.Predecessors = func(client.Object) statelock.Predecessors { return statelock.Predecessors{Hosts: []string{host}} }

			runs := 0

			err := r.withLock(t.Context(), r.ws, func() error {
				if runs++; runs == 1 {
					return lockedBy("root@"+host, time.Now())
				}

				return nil
			})
			if err != nil {
				t.Fatal(err)
			}

			if got := r.stateOf(t).GetAnnotations()[annotationRemovedLock]; got != tc.want {
				t.Errorf("\n%s\nannotation of the state: want %q, got %q", tc.reason, tc.want, got)
			}

			if !slices.Contains(r.runner.ran, "force-unlock") {
				t.Errorf("\n%s\nthe lock was not removed: %v", tc.reason, r.runner.ran)
			}
		})
	}

	t.Run("NoState", func(t *testing.T) {
		t.Parallel()

		r := newAttempt(t, with(owner))
		r.server, r.runner.backend = here, runner.KubernetesBackend{Server: here, Namespace: "ns", Suffix: "x"}

		if err := r.rejectLateWrite(t.Context(), r.ws, terraform.Lock{ID: "1"}); err != nil {
			t.Errorf("without a state: %v", err)
		}
	})
}
