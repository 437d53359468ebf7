// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/process"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// legacySecret is in a file that the existing provider leaves on the disk.
const legacySecret = "correct horse battery staple"

// testDropIn starts an instance in place of the real existing provider-terraform. It changes nothing
// of what that one has left. After that, changes and deletions work as ever.
func testDropIn(t *testing.T, c *cluster) {
	t.Helper()

	ns, root := c.namespace(t), t.TempDir()
	module := tree{"main.tf": moduleFile(t, "evidence.tf") + moduleFile(t, "id.tf")}
	u := newGitUpstream(t, module)

	existing := startExisting(t, c, root)

	inline := newLegacy(t, c, clusterScope, ns, withModule(module["main.tf"]))
	remote := newLegacy(t, c, namespacedScope, ns, withUpstream(u), withVar("greeting", "good morning"))
	lost := newLegacy(t, c, clusterScope, ns, withModule(module["main.tf"]))
	broken := newLegacy(t, c, namespacedScope, ns, withModule(module["main.tf"]))

	inline.expectCreated(t, "hello")
	remote.expectCreated(t, "good morning")
	lost.expectCreated(t, "hello")
	broken.expectCreated(t, "hello")

	// The last thing that it does is an update: it writes no checksum and no source then.
	remote.source = u.module
	remote.change(t, "hello")
	remote.expectCreated(t, "hello")

	if err := existing.Terminate(patience); err != nil {
		t.Fatal(err)
	}

	inline.keep(t)
	remote.keep(t)
	c.remove(t, stateSecret(lost.ws, ns, lost.suffix))
	c.changeModule(t, broken.ws, module["main.tf"]+"}")

	i := startInstance(t, c, withNamespace(ns), withRoot(root), withTerraform())

	lost.expectNothingDone(t)
	broken.expectMended(t, module["main.tf"])

	for _, l := range []*legacy{inline, remote} {
		l.expectTakenOver(t, i)
		l.expectChanged(t)
		l.expectDeleted(t)
	}
}

// startExisting starts the existing provider-terraform. It serves all Workspaces of the control plane.
func startExisting(t *testing.T, c *cluster, root string) *process.Process {
	t.Helper()

	dir := t.TempDir()
	env := environment(dir, map[string]string{"KUBECONFIG": c.kubeconfig, "KUBE_CONFIG_PATH": c.kubeconfig, "XP_TF_DIR": root})
	out := output(filepath.Join(dir, "output"))

	p, err := process.Start("existing provider", string(out), env, program.Need(t, "EXISTING_PROVIDER"), "--debug", "--poll="+pollNever.String(), "--max-reconcile-rate=10")
	if err != nil {
		t.Fatalf("cannot start the existing provider: %v", err)
	}

	t.Cleanup(func() {
		p.Kill()
		// It makes this directory for the credentials of git.
		_ = os.RemoveAll(filepath.Join("/tmp", root))

		if t.Failed() {
			t.Logf("output of the existing provider:\n%s", out.tail(100))
		}
	})

	return p
}

// A legacy is a Workspace of the existing provider-terraform, with all that it has.
type legacy struct {
	c  *cluster
	ws workspace.Workspace
	e  evidence

	config         client.Object
	source, suffix string

	// namespace of its state and of its connection Secret.
	namespace, connection string

	// annotations and state are what it had when the existing provider was stopped.
	annotations map[string]string
	state       storedState

	// kept are objects that nothing changes, with their versions.
	kept map[client.Object]string
}

// newLegacy creates a Workspace for the existing provider.
func newLegacy(t *testing.T, c *cluster, s scope, namespace string, opts ...workspaceOption) *legacy {
	t.Helper()

	l := &legacy{c: c, e: newEvidence(t), namespace: namespace, suffix: unique("legacy"), connection: unique("connection")}

	spec := withBackend(namespace, l.suffix)
	spec.Credentials = []commonv1beta1.ProviderCredentials{secretCredentials("credentials.txt", c.secretKey(t, namespace, legacySecret))}

	l.config = newConfig(s, namespace, spec)
	c.create(t, l.config)
	l.ws = c.createWorkspace(t, s, namespace, append(opts, withVar("dir", string(l.e)), withConfig(l.config), withSecret(l.connection))...)

	return l
}

// expectCreated waits until the existing provider has applied the Workspace.
func (l *legacy) expectCreated(t *testing.T, greeting string) {
	t.Helper()
	expectReady(t, l.c, l.ws)
	eventually(t, func() error {
		l.c.get(t, l.ws)

		if got := string(l.ws.GetObservation().Outputs["greeting"].Raw); got != strconv.Quote(greeting) {
			return errors.Errorf("output of Workspace %q: %s", l.ws.GetName(), got)
		}

		return nil
	})
	expectDone(t, l.e, "created")
}

// keep what the Workspace has.
func (l *legacy) keep(t *testing.T) {
	t.Helper()

	l.c.get(t, l.ws)
	l.annotations = maps.Clone(l.ws.GetAnnotations())

	secret := stateSecret(l.ws, l.namespace, l.suffix)
	l.state = l.c.readState(t, secret)

	connection := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: l.connection}}

	l.kept = map[client.Object]string{}
	for _, o := range []client.Object{secret, connection, usageOf(l.ws)} {
		l.c.get(t, o)
		l.kept[o] = o.GetResourceVersion()
	}
}

// expectNothingDone waits until a Workspace whose state is gone is refused, also its deletion, until a person accepts the loss.
func (l *legacy) expectNothingDone(t *testing.T) {
	t.Helper()

	expectCondition(t, l.c, l.ws, xpv2.TypeSynced, corev1.ConditionFalse, ": expected the one that it was created with")
	l.c.remove(t, l.ws)
	expectCondition(t, l.c, l.ws, xpv2.TypeSynced, corev1.ConditionFalse, "only what it has is destroyed, with the annotation "+workspace.AcceptLostStateAnnotationKey+"="+workspace.LineageUnknown)
	expectDone(t, l.e, "created")

	l.c.annotate(t, l.ws, workspace.AcceptLostStateAnnotationKey, workspace.LineageUnknown)
	expectGone(t, l.c, l.ws)
	expectDone(t, l.e, "created")
}

// expectMended expects that a Workspace is not Ready whose specification was changed to a broken one while no provider ran.
func (l *legacy) expectMended(t *testing.T, module string) {
	t.Helper()
	expectCondition(t, l.c, l.ws, xpv2.TypeReady, corev1.ConditionFalse, "The last change failed: see Synced")
	l.c.changeModule(t, l.ws, module)
	expectReady(t, l.c, l.ws)
	expectDone(t, l.e, "created")
	l.expectDeleted(t)
}

// expectTakenOver waits until the instance has observed the Workspace, and fails the test if it
// has changed anything.
func (l *legacy) expectTakenOver(t *testing.T, i *instance) {
	t.Helper()

	want := &commonv1beta1.StateSummary{Lineage: l.state.Lineage, Serial: l.state.Serial, Resources: 1}

	eventually(t, func() error {
		l.c.get(t, l.ws)

		if diff := cmp.Diff(want, l.ws.GetObservation().State); diff != "" {
			return errors.Errorf("state of Workspace %q: -want, +got:\n%s", l.ws.GetName(), diff)
		}

		if got := l.ws.GetCondition(xpv2.TypeReady).ObservedGeneration; got != l.ws.GetGeneration() {
			return errors.Errorf("want Ready about generation %d, got %d", l.ws.GetGeneration(), got)
		}

		return isReady(l.ws)
	})
	expectRuns(t, i, l.ws, "init", "plan")
	expectOutputs(t, l.c, l.ws, l.outputs("hello"))

	// With this, a person would have to accept each deletion.
	if got := l.ws.GetCondition(workspace.TypeStateTakenOver); got.Status == corev1.ConditionTrue {
		t.Errorf("Workspace %q has created its state, and has the condition %q", l.ws.GetName(), got.Message)
	}

	expectSource(t, l.c, l.ws, l.source)
	expectUsers(t, l.c, l.config, 1)
	expectNothingOnDisk(t, i, l.ws, legacySecret)

	if diff := cmp.Diff(l.annotations, l.ws.GetAnnotations()); diff != "" {
		t.Errorf("annotations of Workspace %q: -want, +got:\n%s", l.ws.GetName(), diff)
	}

	if diff := cmp.Diff([]string{finalizer}, l.ws.GetFinalizers()); diff != "" {
		t.Errorf("finalizers of Workspace %q: -want, +got:\n%s", l.ws.GetName(), diff)
	}

	for o, version := range l.kept {
		l.c.get(t, o)

		if o.GetResourceVersion() != version {
			t.Errorf("%T %q was changed", o, o.GetName())
		}
	}
}

// outputs of the module, as in the status.
func (l *legacy) outputs(greeting string) map[string]string {
	return map[string]string{"greeting": strconv.Quote(greeting), "id": strconv.Quote(l.state.Outputs["id"].Value)}
}

// change the greeting of the Workspace.
func (l *legacy) change(t *testing.T, greeting string) {
	t.Helper()
	l.c.changeVars(t, l.ws, commonv1beta1.Var{Key: "dir", Value: string(l.e)}, commonv1beta1.Var{Key: "greeting", Value: greeting})
}

// expectChanged changes the Workspace, which changes its state and creates nothing.
func (l *legacy) expectChanged(t *testing.T) {
	t.Helper()

	l.change(t, "bye")
	expectOutputs(t, l.c, l.ws, l.outputs("bye"))
	expectReady(t, l.c, l.ws)
	expectSecret(t, l.c, l.namespace, l.connection, map[string]string{"greeting": "bye", "id": l.state.Outputs["id"].Value})
	expectChangedOnce(t, l.c, stateSecret(l.ws, l.namespace, l.suffix), l.state)
	expectUnlocked(t, l.c, l.ws, l.namespace, l.suffix)
	expectDone(t, l.e, "created")
}

// expectDeleted deletes the Workspace, and then its ProviderConfig.
func (l *legacy) expectDeleted(t *testing.T) {
	t.Helper()
	l.c.remove(t, l.ws)
	expectGone(t, l.c, l.ws)
	expectDone(t, l.e, "created", "destroyed")
	expectStates(t, l.c, l.namespace, l.suffix)

	collectGarbage(t, l.c, l.ws)
	l.c.remove(t, l.config)
	expectGone(t, l.c, l.config)
}
