// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// legacySecret is in a file that the existing provider leaves on the disk.
const legacySecret = "correct horse battery staple"

// testDropIn starts an instance in place of the existing provider-terraform. It changes nothing
// of what that one has left. After that, changes and deletions work as ever.
func testDropIn(t *testing.T, c *cluster) {
	t.Helper()

	ns, root := c.namespace(t), t.TempDir()
	module := tree{"main.tf": moduleFile(t, "evidence.tf") + moduleFile(t, "id.tf")}
	u := newGitUpstream(t, module)

	inline := newLegacy(t, c, clusterScope, ns, root, withModule(module["main.tf"]))
	filesystem.Write(t, inline.dir, module)
	inline.leave(t, "")

	remote := newLegacy(t, c, namespacedScope, ns, root, withUpstream(u))
	remote.updated = true
	(&repository{dir: root}).git(t, "clone", "--quiet", "--branch=main", u.door.url+"/repo", remote.dir)
	remote.leave(t, u.module)

	lost := newLegacy(t, c, clusterScope, ns, root, withModule(module["main.tf"]))
	filesystem.Write(t, lost.dir, module)
	lost.leave(t, "")
	c.remove(t, stateSecret(lost.ws, ns, lost.suffix))

	i := startInstance(t, c, withNamespace(ns), withRoot(root), withTerraform())

	lost.expectNothingDone(t)

	for _, l := range []*legacy{inline, remote} {
		l.expectTakenOver(t, i)
		l.expectChanged(t)
		l.expectDeleted(t)
	}
}

// A legacy is a Workspace of the existing provider-terraform, with all that it has.
type legacy struct {
	c  *cluster
	ws workspace.Workspace
	e  evidence

	config         client.Object
	configuration  string
	source, suffix string

	// namespace of its state and of its connection Secret.
	namespace, connection string

	// dir is its working directory.
	dir string

	state storedState

	// updated says that the last thing that it did was an update.
	updated bool

	// kept are objects that nothing changes, with their versions.
	kept map[client.Object]string
}

// newLegacy creates a Workspace as the existing provider has it before the first run, but for the
// files of the module in its working directory.
func newLegacy(t *testing.T, c *cluster, s scope, namespace, root string, module workspaceOption) *legacy {
	t.Helper()

	l := &legacy{c: c, e: newEvidence(t), namespace: namespace, suffix: unique("legacy"), connection: unique("connection")}

	spec := withBackend(namespace, l.suffix)
	spec.Credentials = []commonv1beta1.ProviderCredentials{secretCredentials("credentials.txt", c.secretKey(t, namespace, legacySecret))}
	l.configuration = *spec.Configuration

	l.config = newConfig(s, namespace, spec)
	l.config.SetFinalizers([]string{"in-use.crossplane.io"})
	c.create(t, l.config)
	asConfig(t, l.config).SetUsers(1)
	c.updateStatus(t, l.config)

	l.ws = newWorkspace(s, namespace, module, withVar("dir", string(l.e)), withConfig(l.config), withSecret(l.connection))
	l.ws.SetFinalizers([]string{finalizer})
	meta.SetExternalName(l.ws, l.ws.GetName())
	meta.SetExternalCreatePending(l.ws, time.Now())
	meta.SetExternalCreateSucceeded(l.ws, time.Now())
	c.create(t, l.ws)

	l.dir = filepath.Join(root, string(l.ws.GetUID()))
	if err := os.Mkdir(l.dir, 0o700); err != nil {
		t.Fatal(err)
	}

	return l
}

// leave what the existing provider leaves when the Workspace is Ready.
func (l *legacy) leave(t *testing.T, source string) {
	t.Helper()

	l.source = source
	filesystem.Write(t, l.dir, tree{"crossplane-provider-config.tf": l.configuration, "credentials.txt": legacySecret})

	l.run(t, "init", "-input=false", "-no-color")
	l.run(t, "workspace", "new", "-no-color", l.ws.GetName())
	l.run(t, "apply", "-no-color", "-auto-approve", "-input=false", "-var=dir="+string(l.e))

	secret := stateSecret(l.ws, l.namespace, l.suffix)
	l.state = l.c.readState(t, secret)
	l.leaveStatus(t)

	kind, err := l.c.kube.GroupVersionKindFor(l.ws)
	if err != nil {
		t.Fatal(err)
	}

	ref := meta.TypedReferenceTo(l.ws, kind)
	connection, usage := l.newConnection(ref), l.newUsage(ref)
	l.c.create(t, connection)
	l.c.create(t, usage)

	l.kept = map[client.Object]string{}
	for _, o := range []client.Object{secret, connection, usage} {
		l.kept[o] = o.GetResourceVersion()
	}
}

// leaveStatus writes the status of the Workspace.
func (l *legacy) leaveStatus(t *testing.T) {
	t.Helper()

	// It is the MD5 of files in the working directory.
	seen := commonv1beta1.WorkspaceObservation{Checksum: "d41d8cd98f00b204e9800998ecf8427e", RemoteSource: l.source, Outputs: map[string]extv1.JSON{}}
	for name, o := range l.state.Outputs {
		seen.Outputs[name] = extv1.JSON{Raw: []byte(strconv.Quote(o.Value))}
	}

	if l.updated {
		seen.Checksum = "" // It writes another one after the next plan.
	}

	l.ws.SetObservation(seen)
	l.ws.SetConditions(xpv2.ReconcileSuccess().WithObservedGeneration(l.ws.GetGeneration()), xpv2.Available())
	l.c.updateStatus(t, l.ws)
}

// newConnection returns the connection Secret of the Workspace.
func (l *legacy) newConnection(ref *xpv2.TypedReference) *corev1.Secret {
	data := map[string][]byte{}
	for name, o := range l.state.Outputs {
		data[name] = []byte(o.Value)
	}

	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: l.connection, OwnerReferences: []metav1.OwnerReference{meta.AsController(ref)}},
		Type:       resource.SecretTypeConnection,
		Data:       data,
	}
}

// newUsage returns the record that the Workspace uses its ProviderConfig.
func (l *legacy) newUsage(ref *xpv2.TypedReference) client.Object {
	usage, name := usageOf(l.ws), l.config.GetName()
	usage.SetOwnerReferences([]metav1.OwnerReference{meta.AsController(ref)})

	user := *ref
	user.UID = ""

	switch u := usage.(type) {
	case *clusterv1beta1.ProviderConfigUsage:
		u.SetLabels(map[string]string{xpv2.LabelKeyProviderName: name})
		u.ProviderConfigReference, u.ResourceReference = xpv2.Reference{Name: name}, user
	case *namespacedv1beta1.ProviderConfigUsage:
		kind := namespacedv1beta1.ProviderConfigKind
		u.SetLabels(map[string]string{xpv2.LabelKeyProviderName: name, xpv2.LabelKeyProviderKind: kind})
		u.ProviderConfigReference, u.ResourceReference = xpv2.ProviderConfigReference{Kind: kind, Name: name}, user
	}

	return usage
}

// run the CLI as the existing provider does.
func (l *legacy) run(t *testing.T, args ...string) {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), shared.terraform(), args...)
	cmd.Dir = l.dir
	cmd.Env = environment(t.TempDir(), map[string]string{"KUBE_CONFIG_PATH": l.c.kubeconfig, "CHECKPOINT_DISABLE": "1"})

	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("terraform %q: %v: %s", args, err, out)
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

// expectTakenOver waits until the instance has observed the Workspace, and fails the test if it
// has changed anything.
func (l *legacy) expectTakenOver(t *testing.T, i *instance) {
	t.Helper()

	annotations := maps.Clone(l.ws.GetAnnotations())
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

	if diff := cmp.Diff(annotations, l.ws.GetAnnotations()); diff != "" {
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

	if n := countEvents(t, l.c, l.ws, "CreatedExternalResource"); n != 0 {
		t.Errorf("Workspace %q was created again", l.ws.GetName())
	}
}

// outputs of the module, as in the status.
func (l *legacy) outputs(greeting string) map[string]string {
	return map[string]string{"greeting": strconv.Quote(greeting), "id": strconv.Quote(l.state.Outputs["id"].Value)}
}

// expectChanged changes the Workspace, which changes its state and creates nothing.
func (l *legacy) expectChanged(t *testing.T) {
	t.Helper()

	l.c.changeVars(t, l.ws, commonv1beta1.Var{Key: "dir", Value: string(l.e)}, commonv1beta1.Var{Key: "greeting", Value: "bye"})
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
