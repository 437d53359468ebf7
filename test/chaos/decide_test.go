// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// TestDecide has three Workspaces with one state. The resource of one was lost before, when it was
// restored from a backup. Two others have found something in their states.
func TestDecide(t *testing.T) {
	t.Parallel()

	all := map[string]*wanted{}
	build := fake.NewClientBuilder()

	for _, name := range []string{"copy-1", "copy-2", "ws-1", "ws-4", "ws-5"} {
		all[name] = &wanted{kind: clusterKind(), name: name, uid: name, lost: name == "ws-1"}
		build.WithObjects(all[name].object())
	}

	w := &workspaces{kube: build.Build(), journal: newJournal(io.Discard), all: all, fate: newFate()}

	err := w.decide(t.Context(), []violation{
		{workspace: "ws-2", others: []string{"ws-3"}, text: "is not Synced: the API server is away"},
		{workspace: "copy-1", others: []string{"copy-2", "ws-1"}, text: "is not Synced: what is in the state " + undecided + " another one"},
		{workspace: "ws-4", text: "ws-4 is not Synced: accept it with the annotation " + acceptTakenOver + "=12-ab"},
		{workspace: "ws-2", others: []string{"ws-5"}, text: "ws-2 is not Synced: boom\nws-5 is not Synced: accept it with the annotation " + acceptTakenOver + "=34-cd. Cause"},
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

	accepted := map[string]string{}

	for name, ws := range all {
		o := ws.object()
		if err := w.kube.Get(t.Context(), client.ObjectKeyFromObject(o), o); err == nil && o.GetAnnotations()[acceptTakenOver] != "" {
			accepted[name] = o.GetAnnotations()[acceptTakenOver]
		}
	}

	if diff := cmp.Diff(map[string]string{"ws-4": "12-ab", "ws-5": "34-cd"}, accepted); diff != "" {
		t.Errorf("accepted: -want, +got:\n%s", diff)
	}
}
