// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// expectReady waits until the current generation of the Workspace is Ready and Synced.
func expectReady(t *testing.T, c *cluster, ws workspace.Workspace) {
	t.Helper()
	eventually(t, func() error {
		c.get(t, ws)

		return isReady(ws)
	})
}

// expectReadyNow waits until a Workspace is ready with its current specification. One whose change was approved stays ready for
// the specification before until the apply has ended.
func expectReadyNow(t *testing.T, c *cluster, ws workspace.Workspace) {
	t.Helper()
	eventually(t, func() error {
		c.get(t, ws)

		if got := ws.GetCondition(xpv2.TypeReady).ObservedGeneration; got != ws.GetGeneration() {
			return errors.Errorf("want Ready of generation %d, got %d", ws.GetGeneration(), got)
		}

		return isReady(ws)
	})
}

func isReady(ws workspace.Workspace) error {
	synced, ready := ws.GetCondition(xpv2.TypeSynced), ws.GetCondition(xpv2.TypeReady)
	if synced.Status != corev1.ConditionTrue || ready.Status != corev1.ConditionTrue {
		return errors.Errorf("Workspace %q is not ready:\n%s%s", ws.GetName(), describe(synced), describe(ready))
	}

	if synced.ObservedGeneration < ws.GetGeneration() {
		return errors.Errorf("Workspace %q was ready at generation %d, but it is at %d", ws.GetName(), synced.ObservedGeneration, ws.GetGeneration())
	}

	return nil
}

// expectCondition waits until the Workspace has the supplied condition, with a
// message that contains every one of the supplied texts.
func expectCondition(t *testing.T, c *cluster, ws workspace.Workspace, typ xpv2.ConditionType, status corev1.ConditionStatus, texts ...string) {
	t.Helper()
	eventually(t, func() error {
		c.get(t, ws)

		have := ws.GetCondition(typ)
		if have.Status != status {
			return errors.Errorf("want condition %s=%s, got %s", typ, status, describe(have))
		}

		for _, text := range texts {
			if !strings.Contains(have.Message, text) {
				return errors.Errorf("want %q in the message of %s", text, describe(have))
			}
		}

		return nil
	})
}

func describe(c xpv2.Condition) string {
	return string(c.Type) + "=" + string(c.Status) + " " + string(c.Reason) + ": " + c.Message + "\n"
}

// expectOutputs waits until the status of the Workspace has the supplied outputs,
// each as JSON, and no others.
func expectOutputs(t *testing.T, c *cluster, ws workspace.Workspace, want map[string]string) {
	t.Helper()
	eventually(t, func() error {
		c.get(t, ws)

		have := map[string]string{}
		for k, v := range ws.GetObservation().Outputs {
			have[k] = string(v.Raw)
		}

		if diff := cmp.Diff(want, have, equateJSON()); diff != "" {
			return errors.Errorf("outputs of Workspace %q: -want, +got:\n%s", ws.GetName(), diff)
		}

		return nil
	})
}

// equateJSON compares texts as JSON, numbers digit by digit.
func equateJSON() cmp.Option {
	return cmp.Comparer(func(a, b string) bool {
		var x, y any

		return decode(a, &x) == nil && decode(b, &y) == nil && cmp.Equal(x, y)
	})
}

func decode(s string, v any) error {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()

	return d.Decode(v)
}

// expectSecret waits until the Secret has the supplied data, and no other.
func expectSecret(t *testing.T, c *cluster, namespace, name string, want map[string]string) {
	t.Helper()
	eventually(t, func() error {
		s := &corev1.Secret{}
		if err := c.kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, s); err != nil {
			return err
		}

		have := map[string]string{}
		for k, v := range s.Data {
			have[k] = string(v)
		}

		if diff := cmp.Diff(want, have); diff != "" {
			return errors.Errorf("data of Secret %q: -want, +got:\n%s", name, diff)
		}

		return nil
	})
}

// expectExists fails the test unless the supplied object exists.
func expectExists(t *testing.T, c *cluster, o client.Object) {
	t.Helper()
	c.get(t, o)
}

// expectGone waits until the supplied object no longer exists.
func expectGone(t *testing.T, c *cluster, o client.Object) {
	t.Helper()
	eventually(t, func() error { return isGone(t, c, o) })
}

func isGone(t *testing.T, c *cluster, o client.Object) error {
	t.Helper()

	err := c.kube.Get(t.Context(), client.ObjectKeyFromObject(o), o)
	if kerrors.IsNotFound(err) {
		return nil
	}

	if err != nil {
		return err
	}

	if ws, ok := o.(workspace.Workspace); ok {
		return errors.Errorf("Workspace %q still exists:\n%s", ws.GetName(), describe(ws.GetCondition(xpv2.TypeSynced)))
	}

	return errors.Errorf("%T %q still exists", o, o.GetName())
}

// expectDone waits until the module did exactly the supplied things.
func expectDone(t *testing.T, e evidence, want ...string) {
	t.Helper()
	eventually(t, func() error {
		if diff := cmp.Diff(want, e.lines()); diff != "" {
			return errors.Errorf("actions of the module: -want, +got:\n%s", diff)
		}

		return nil
	})
}

// expectServedBy waits until the instance ran the CLI for the Workspace, in a
// workdir with its UID.
func expectServedBy(t *testing.T, i *instance, ws workspace.Workspace) {
	t.Helper()
	eventually(t, func() error {
		if len(i.runs.of(string(ws.GetUID()))) == 0 {
			return errors.Errorf("the instance did not run the CLI for Workspace %q", ws.GetName())
		}

		_, err := os.Stat(i.workdir(string(ws.GetUID())))

		return err
	})
}

// expectNotServedBy fails the test if the instance ever ran the CLI for the
// Workspace, or has a workdir for it.
func expectNotServedBy(t *testing.T, i *instance, ws workspace.Workspace) {
	t.Helper()

	if runs := i.runs.of(string(ws.GetUID())); len(runs) > 0 {
		t.Errorf("the instance ran the CLI for Workspace %q: %v", ws.GetName(), runs)
	}

	if _, err := os.Stat(i.workdir(string(ws.GetUID()))); !os.IsNotExist(err) {
		t.Errorf("the instance has a workdir for Workspace %q: %v", ws.GetName(), err)
	}
}

// expectUntouched fails the test if anything but its creator ever changed the
// Workspace.
func expectUntouched(t *testing.T, c *cluster, ws workspace.Workspace) {
	t.Helper()

	created := ws.GetResourceVersion()
	c.get(t, ws)

	// An instance that finds no other to serve it writes this condition, and nothing else.
	unserved := ws.GetCondition(xpv2.TypeReady).Reason == workspace.ReasonNotServed &&
		len(ws.GetFinalizers()) == 0 && ws.GetOwnership().Claim == nil && ws.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionUnknown

	if !unserved && ws.GetResourceVersion() != created {
		t.Errorf("Workspace %q was changed: finalizers %v, annotations %v, outputs %v", ws.GetName(), ws.GetFinalizers(), ws.GetAnnotations(), ws.GetObservation().Outputs)
	}
}

// expectRuns waits until the instance did exactly the supplied runs for the
// Workspace.
func expectRuns(t *testing.T, i *instance, ws workspace.Workspace, want ...string) {
	t.Helper()
	eventually(t, func() error {
		if diff := cmp.Diff(want, i.runs.of(string(ws.GetUID()))); diff != "" {
			return errors.Errorf("runs of the CLI: -want, +got:\n%s", diff)
		}

		return nil
	})
}

// expectOnlyPlans requests two reconciles of a Workspace, and expects one plan for each of them.
func expectOnlyPlans(t *testing.T, c *cluster, i *instance, ws workspace.Workspace) {
	t.Helper()

	before := i.runs.of(string(ws.GetUID()))

	for range 2 {
		c.request(t, ws)
	}

	if diff := cmp.Diff(append(before, "plan", "plan"), i.runs.of(string(ws.GetUID()))); diff != "" {
		t.Errorf("runs of the CLI: -want, +got:\n%s", diff)
	}
}

// expectAnotherRun waits until the instance has run the named command for the Workspace
// once more than before.
func expectAnotherRun(t *testing.T, i *instance, ws workspace.Workspace, command string) {
	t.Helper()

	count := func() int {
		n := 0

		for run := range slices.Values(i.runs.of(string(ws.GetUID()))) {
			if run == command {
				n++
			}
		}

		return n
	}

	before := count()

	eventually(t, func() error {
		if now := count(); now <= before {
			return errors.Errorf("the instance ran %s %d times for Workspace %q, as before", command, now, ws.GetName())
		}

		return nil
	})
}
