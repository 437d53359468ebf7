// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// shardLabel is the label with the shard of a Workspace. It is a constant here because it
// is part of the interface: it must never change.
const shardLabel = "terraform.crossplane.io/shard"

// A scope stands for one of the two kinds of Workspace.
type scope string

const (
	clusterScope    scope = "Cluster"
	namespacedScope scope = "Namespaced"
)

// eachScope runs a test for both kinds of Workspace, one after the other. One
// implementation serves both: use it for behaviour that differs between them, such as
// references, and for the few tests of everything. The others use one kind each.
func eachScope(t *testing.T, run func(t *testing.T, s scope)) {
	t.Helper()

	for _, s := range []scope{clusterScope, namespacedScope} {
		t.Run(string(s), func(t *testing.T) { run(t, s) })
	}
}

// eachCLI runs a test with every CLI at the same time, by the name of its common instance. Use it for
// behaviour that depends on the CLI, and for the few tests of everything. The others use one CLI each.
func eachCLI(t *testing.T, run func(t *testing.T, cli string)) {
	t.Helper()

	for name := range shared.clis {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, name)
		})
	}
}

// A workspaceSpec has the fields that both kinds of Workspace share.
type workspaceSpec struct {
	labels map[string]string
	polled bool
	params commonv1beta1.ModuleParameters
	config client.Object
	secret string
}

type workspaceOption func(*workspaceSpec)

// inShard labels the Workspace with a shard.
func inShard(name string) workspaceOption {
	return func(w *workspaceSpec) { w.labels = map[string]string{shardLabel: name} }
}

// polledOften polls the Workspace with the interval pollOften.
func polledOften(w *workspaceSpec) { w.polled = true }

// withModule makes the Workspace run the supplied text as HCL.
func withModule(text string) workspaceOption {
	return func(w *workspaceSpec) { w.params.Module = text }
}

// onlyHere makes the module unique among the Workspaces, so that it cannot use the init of
// another one. An earlier option has set the module, in HCL.
func onlyHere() workspaceOption {
	return func(w *workspaceSpec) { w.params.Module += "\n# " + unique("module") + "\n" }
}

// withMore adds the named file of testdata to the module, which an earlier option has
// set and which is HCL.
func withMore(t *testing.T, name string) workspaceOption {
	t.Helper()

	text := moduleFile(t, name)

	return func(w *workspaceSpec) { w.params.Module += "\n" + text }
}

// withVar sets an input variable of the module.
func withVar(key, value string) workspaceOption {
	return func(w *workspaceSpec) {
		w.params.Vars = append(w.params.Vars, commonv1beta1.Var{Key: key, Value: value})
	}
}

// withConfig makes the Workspace use the supplied ProviderConfig, of any kind.
func withConfig(c client.Object) workspaceOption {
	return func(w *workspaceSpec) { w.config = c }
}

// withSecret makes the Workspace write its connection details to the named Secret.
func withSecret(name string) workspaceOption {
	return func(w *workspaceSpec) { w.secret = name }
}

// newWorkspace returns a Workspace with a name of its own. The namespace is also
// that of the connection Secret of a cluster scoped Workspace.
func newWorkspace(s scope, namespace string, opts ...workspaceOption) workspace.Workspace {
	w := &workspaceSpec{params: commonv1beta1.ModuleParameters{Source: commonv1beta1.ModuleSourceInline}}
	for _, o := range opts {
		o(w)
	}

	om := metav1.ObjectMeta{Name: unique("ws"), Labels: w.labels}
	if w.polled {
		om.Annotations = map[string]string{meta.AnnotationKeyPollInterval: pollOften.String()}
	}

	if s == clusterScope {
		ws := &clusterv1beta1.Workspace{ObjectMeta: om}
		ws.Spec.ForProvider.ModuleParameters = w.params

		if w.config != nil {
			ws.Spec.ProviderConfigReference = &xpv2.Reference{Name: w.config.GetName()}
		}

		if w.secret != "" {
			ws.Spec.WriteConnectionSecretToReference = &xpv2.SecretReference{Namespace: namespace, Name: w.secret}
		}

		return ws
	}

	om.Namespace = namespace
	ws := &namespacedv1beta1.Workspace{ObjectMeta: om}
	ws.Spec.ForProvider.ModuleParameters = w.params

	switch w.config.(type) {
	case *namespacedv1beta1.ProviderConfig:
		ws.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: namespacedv1beta1.ProviderConfigKind, Name: w.config.GetName()}
	case *namespacedv1beta1.ClusterProviderConfig:
		ws.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: namespacedv1beta1.ClusterProviderConfigKind, Name: w.config.GetName()}
	}

	if w.secret != "" {
		ws.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: w.secret}
	}

	return ws
}

// createWorkspace creates a Workspace as newWorkspace makes it.
func (c *cluster) createWorkspace(t *testing.T, s scope, namespace string, opts ...workspaceOption) workspace.Workspace {
	t.Helper()

	ws := newWorkspace(s, namespace, opts...)
	c.create(t, ws)

	return ws
}

// relabel gives the Workspace to the named shard.
func (c *cluster) relabel(t *testing.T, ws workspace.Workspace, name string) {
	t.Helper()
	c.patch(t, ws, map[string]any{"metadata": map[string]any{"labels": map[string]any{shardLabel: name}}})
}

// changeModule replaces the text of the module of the Workspace.
func (c *cluster) changeModule(t *testing.T, ws workspace.Workspace, text string) {
	t.Helper()
	c.patch(t, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{"module": text}}})
}

// changeVars replaces the input variables of the Workspace.
func (c *cluster) changeVars(t *testing.T, ws workspace.Workspace, vars ...commonv1beta1.Var) {
	t.Helper()
	c.patch(t, ws, map[string]any{"spec": map[string]any{"forProvider": map[string]any{"vars": vars}}})
}

// A configSpec is the specification of a ProviderConfig of any kind.
type configSpec = commonv1beta1.ProviderConfigSpec

// newConfig returns the kind of ProviderConfig that is closest to a Workspace with
// the supplied scope.
func newConfig(s scope, namespace string, spec configSpec) client.Object {
	if s == clusterScope {
		return &clusterv1beta1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: unique("config")}, Spec: spec}
	}

	return &namespacedv1beta1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: unique("config")}, Spec: spec}
}

// newClusterConfig returns the ProviderConfig of Workspaces in any namespace.
func newClusterConfig(spec configSpec) client.Object {
	return &namespacedv1beta1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: unique("config")}, Spec: spec}
}

// createConfig creates a ProviderConfig as newConfig makes it.
func (c *cluster) createConfig(t *testing.T, s scope, namespace string, spec configSpec) client.Object {
	t.Helper()

	cfg := newConfig(s, namespace, spec)
	c.create(t, cfg)

	return cfg
}

// withoutBackend is a ProviderConfig that leaves the state in the workdir.
func withoutBackend() configSpec { return configSpec{} }

// withBackend is a ProviderConfig that keeps the state in Secrets, which end with
// the supplied suffix, in the supplied namespace.
func withBackend(namespace, suffix string) configSpec {
	configuration := fmt.Sprintf(`
terraform {
  backend "kubernetes" {
    namespace     = %q
    secret_suffix = %q
  }
}
`, namespace, suffix)

	return configSpec{Configuration: &configuration}
}

// stateSecret returns the Secret that holds the state of the Workspace.
func stateSecret(ws workspace.Workspace, namespace, suffix string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "tfstate-" + ws.GetName() + "-" + suffix}}
}

// moduleFile returns the text of a module in testdata.
func moduleFile(t *testing.T, name string) string {
	t.Helper()

	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatalf("cannot read module: %v", err)
	}

	return string(data)
}

// An evidence is a directory in which a module records its actions, and waits for files
// that the test writes.
type evidence string

func newEvidence(t *testing.T) evidence {
	t.Helper()

	dir := filepath.Join(t.TempDir(), "evidence")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		// A run may still leave a trace: not in a directory that is being removed.
		if err := os.Rename(dir, dir+"-of-the-past"); err != nil {
			t.Error(err)
		}
	})

	return evidence(dir)
}

// withEvidence runs the named module of testdata with its traces in e.
func withEvidence(t *testing.T, module string, e evidence) workspaceOption {
	t.Helper()

	text := moduleFile(t, module)

	return func(w *workspaceSpec) {
		withModule(text)(w)
		withVar("dir", string(e))(w)
	}
}

// createGated creates a Workspace, and waits until its first apply has begun. The apply
// continues until the file "gate" is written.
func (c *cluster) createGated(t *testing.T, s scope, namespace string, opts ...workspaceOption) (workspace.Workspace, evidence) {
	t.Helper()

	e := newEvidence(t)
	ws := c.createWorkspace(t, s, namespace, append(opts, withEvidence(t, "gated.tf", e))...)
	expectDone(t, e, "created")

	return ws, e
}

// write writes a file that the module reads or waits for.
func (e evidence) write(t *testing.T, name, text string) {
	t.Helper()

	// The module may read the file at any time: it has to see all of the text, or none.
	tmp := filepath.Join(string(e), "."+name)
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		t.Fatalf("cannot write evidence: %v", err)
	}

	if err := os.Rename(tmp, filepath.Join(string(e), name)); err != nil {
		t.Fatalf("cannot write evidence: %v", err)
	}
}

// lines returns the actions of the module, oldest first.
func (e evidence) lines() []string {
	data, err := os.ReadFile(filepath.Join(string(e), "done"))
	if err != nil {
		return []string{}
	}

	return strings.Fields(string(data))
}
