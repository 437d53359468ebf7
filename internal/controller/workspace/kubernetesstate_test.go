// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// textOf returns the text of a state with two managed resources, or none.
func textOf(lineage string, serial, resources int) string {
	instances := ""
	if resources == 2 {
		instances = `{"mode":"managed","instances":[{"index_key":0},{"index_key":1}]}`
	}

	return fmt.Sprintf(`{"version":4,"serial":%d,"lineage":%q,"outputs":{},"resources":[%s]}`, serial, lineage, instances)
}

// TestDeleteInCluster ensures that a deletion runs only destroy where the state of the Workspace
// is in this cluster, and that it trusts no other state there.
func TestDeleteInCluster(t *testing.T) {
	t.Parallel()

	const here = "https://here"

	pull, destroy, gone := "state pull", "destroy", "workspace delete"
	full, empty := textOf(ownLineage, 3, 2), textOf(ownLineage, 5, 0)

	cases := map[string]struct {
		reason string

		// had is the state in this cluster, none if empty, and destroyed what destroy makes of it.
		had, destroyed string

		server, holder string
		change         func(r *attempt)

		want []string
		err  string
		kept bool
	}{
		"Own":         {reason: "Nothing else is needed.", had: full, destroyed: empty, want: []string{destroy}},
		"Emptied":     {reason: "There is nothing to destroy.", had: textOf(ownLineage, 5, 0), change: func(r *attempt) { forgetResources(r) }, want: nil},
		"OtherServer": {reason: "The state is in another cluster. The one here has the same name.", had: full, destroyed: empty, server: "https://there", want: []string{pull, destroy, gone}, kept: true},
		"NoServer":    {reason: "The cluster is not known.", had: full, destroyed: empty, server: "-", want: []string{pull, destroy, gone}, kept: true},
		"Foreign":     {reason: "The state here is not its own.", had: textOf(otherLineage, 3, 2), destroyed: textOf(otherLineage, 5, 0), want: []string{pull, destroy, gone}, kept: true},
		"Unreadable":  {reason: "The state here may be encrypted.", had: "encrypted", destroyed: "encrypted", want: []string{pull, destroy, gone}, kept: true},
		"Missing":     {reason: "The CLI says whether the state is lost.", change: func(r *attempt) { r.runner.state.Lineage = otherLineage }, want: []string{pull}, err: "is another one"},
		"OldCopy":     {reason: "An old copy lacks resources.", had: textOf(ownLineage, 2, 2), want: nil, err: "is an old copy", kept: true},
		"Locked":      {reason: "Something else uses the state.", had: full, destroyed: empty, holder: "other", want: []string{destroy, gone}, kept: true},
		"Left":        {reason: "destroyArgs have left resources.", had: full, destroyed: full, want: []string{destroy, gone}, kept: true},
		"Moved": {
			reason: "Destroy had to initialize, and found another state than the one that was read before.",
			had:    full, destroyed: full,
			change: func(r *attempt) { r.runner.reinit, r.runner.state.Lineage = true, otherLineage },
			want:   []string{destroy, pull}, err: "there is another state than before", kept: true,
		},
		"Removed": {
			reason: "Destroy had to initialize, and the module that is called now keeps a resource.",
			had:    full, destroyed: full,
			change: func(r *attempt) {
				r.runner.reinit, r.runner.pulled = true, func() { r.runner.unread = errors.New("the module has a removed block") }
			},
			want: []string{destroy, pull}, err: "the module has a removed block. If that cannot be mended: ", kept: true,
		},
		"Reinitialized": {reason: "Destroy had to initialize, and found the same state.", had: full, destroyed: empty, change: func(r *attempt) { r.runner.reinit = true }, want: []string{destroy, pull}},
		"NeverApplied": {
			reason: "A plan has made the state.",
			had:    pristine,
			change: neverApplied,
			want:   []string{pull},
		},
		"NeverAppliedShared": {
			reason: "Another Workspace may be about to create something in it.",
			had:    pristine,
			change: func(r *attempt) {
				neverApplied(r)
				r.Locks.Users.Use("ws")
				r.Locks.Users.Use("ws")
			},
			want: []string{pull, gone}, kept: true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var objects []client.Object
			if tc.had != "" {
				objects = stateObjects(t, "ns", "ws", "x", tc.holder, tc.had)
			}

			r := newAttempt(t, with(deleted, owner), objects...)
			s := ownState()
			r.runner.state, r.runner.destroyed = &s, 2
			r.server, r.runner.backend = here, runner.KubernetesBackend{Server: here, Namespace: "ns", Suffix: "x"}

			switch tc.server {
			case "":
			case "-":
				r.server, r.runner.backend.Server = "", ""
			default:
				r.runner.backend.Server = tc.server
			}

			r.runner.destroying = func() { r.replaceState(t, tc.destroyed) }

			if tc.change != nil {
				tc.change(r)
			}

			_, err := r.Delete(t.Context(), r.ws)
			expectError(t, tc.reason, tc.err, err)

			if diff := cmp.Diff(tc.want, r.runner.ran); diff != "" {
				t.Errorf("\n%s\nruns: -want, +got:\n%s", tc.reason, diff)
			}

			if kept := r.stateOf(t) != nil; kept != tc.kept {
				t.Errorf("\n%s\nwant the state to be kept: %t, got %t", tc.reason, tc.kept, kept)
			}
		})
	}
}

// TestDeleteDefaultInCluster ensures that the state of the default Terraform workspace stays, and
// is checked after a destroy without a run.
func TestDeleteDefaultInCluster(t *testing.T) {
	t.Parallel()

	for left, want := range map[int]string{0: "", 2: "there are resources left"} {
		ran := []string{"destroy"}
		if want == "" {
			ran = append(ran, "workspace delete") // The CLI keeps this one.
		}

		r := newAttempt(t, with(deleted, owner), stateObjects(t, "ns", "default", "x", "", textOf(ownLineage, 3, 2))...)
		meta.SetExternalName(r.ws, "default")

		if err := r.kube.Update(t.Context(), r.ws); err != nil {
			t.Fatal(err)
		}

		r.server, r.runner.backend = "here", runner.KubernetesBackend{Server: "here", Namespace: "ns", Suffix: "x"}
		r.runner.destroyed = 2
		r.runner.destroying = func() { r.replaceState(t, textOf(ownLineage, 5, left)) }

		_, err := r.Delete(t.Context(), r.ws)
		expectError(t, "", want, err)

		if diff := cmp.Diff(ran, r.runner.ran); diff != "" {
			t.Errorf("runs: -want, +got:\n%s", diff)
		}

		if r.stateOf(t) == nil {
			t.Error("want the state to be kept")
		}
	}
}

// neverApplied makes the Workspace one that has planned only.
func neverApplied(r *attempt) {
	r.ws.Status = with().Status
	r.runner.state.Lineage = ""
	r.runner.state.Managed = 0
}

// forgetResources makes the status of a Workspace say that its state has no resources.
func forgetResources(r *attempt) {
	o := r.ws.GetObservation()
	o.State.Resources = 0
	r.ws.SetObservation(o)
}

// stateOf returns the Secret with the state of the Workspace, or nil.
func (r *attempt) stateOf(t *testing.T) *corev1.Secret {
	t.Helper()

	s := &corev1.Secret{}
	if err := r.kube.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "tfstate-" + meta.GetExternalName(r.ws) + "-x"}, s); err != nil {
		return nil
	}

	return s
}

// replaceState replaces the state of the Workspace, if there is one, as the CLI does.
func (r *attempt) replaceState(t *testing.T, text string) {
	t.Helper()

	s := r.stateOf(t)
	if s == nil {
		return
	}

	s.Data = stateObjects(t, "ns", "ws", "x", "", text)[0].(*corev1.Secret).Data //nolint:forcetypeassert // It is one.
	if err := r.kube.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// expectError fails the test unless the error has the supplied text, or is nil if there is none.
func expectError(t *testing.T, reason, want string, err error) {
	t.Helper()

	if want == "" != (err == nil) || (err != nil && !strings.Contains(err.Error(), want)) {
		t.Errorf("\n%s\nwant an error with %q, got %v", reason, want, err)
	}
}

const (
	pristine = `{"version":4,"serial":1,"lineage":"a","outputs":{},"resources":[]}`
	emptied  = `{"version":4,"serial":7,"lineage":"a","outputs":{},"resources":[]}`
)

// stateObjects are the objects of a kubernetes backend for one state.
func stateObjects(t *testing.T, namespace, name, suffix, holder, state string) []client.Object {
	t.Helper()

	b := &bytes.Buffer{}
	w := gzip.NewWriter(b)

	if _, err := w.Write([]byte(state)); err != nil {
		t.Fatal(err)
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	object := metav1.ObjectMeta{
		Namespace: namespace,
		Name:      "tfstate-" + name + "-" + suffix,
		Labels:    map[string]string{"tfstate": "true", "tfstateWorkspace": name, "tfstateSecretSuffix": suffix},
	}
	secret := &corev1.Secret{ObjectMeta: object, Data: map[string][]byte{"tfstate": b.Bytes()}}
	object.Name = "lock-" + object.Name
	lease := &coordinationv1.Lease{ObjectMeta: object}

	if holder != "" {
		lease.Spec.HolderIdentity = &holder
	}

	return []client.Object{secret, lease}
}

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
			r.Locks.Predecessors = func(client.Object) statelock.Predecessors { return statelock.Predecessors{Hosts: []string{host}} }

			runs := 0

			err := r.planner.locks.withLock(t.Context(), r.ws, func() error {
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

		if err := r.planner.states.rejectLateWrite(t.Context(), r.ws, terraform.Lock{ID: "1"}); err != nil {
			t.Errorf("without a state: %v", err)
		}
	})
}
