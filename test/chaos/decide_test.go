// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// TestDecide has three Workspaces with one state. The resource of one was lost before, when it was
// restored from a backup.
func TestDecide(t *testing.T) {
	t.Parallel()

	all := map[string]*wanted{}
	build := fake.NewClientBuilder()

	for _, name := range []string{"copy-1", "copy-2", "ws-1"} {
		all[name] = &wanted{kind: clusterKind(), name: name, uid: name, lost: name == "ws-1"}
		build.WithObjects(all[name].object())
	}

	w := &workspaces{kube: build.Build(), journal: newJournal(io.Discard), all: all, fate: newFate()}

	err := w.decide(t.Context(), []violation{
		{workspace: "ws-2", others: []string{"ws-3"}, text: "is not Synced: the API server is away"},
		{workspace: "copy-1", others: []string{"copy-2", "ws-1"}, text: "is not Synced: what is in the state " + undecided + " another one"},
	})
	if err != nil {
		t.Fatalf("decide(...): %v", err)
	}

	removed := []string{}

	for name, ws := range all {
		if ws.removed != 0 {
			removed = append(removed, name)
		}
	}

	slices.Sort(removed)

	if diff := cmp.Diff([]string{"copy-2", "ws-1"}, removed); diff != "" {
		t.Errorf("removed: -want, +got:\n%s", diff)
	}
}
