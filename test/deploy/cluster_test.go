// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/program"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// fieldManager applies the manifests.
const fieldManager = "kubectl"

// A cluster is an API server with the namespace of the installations. It admits pods as a real
// cluster does, but no controller makes any, and no kubelet starts them.
type cluster struct {
	*controlplane.ControlPlane
}

func newCluster(t *testing.T) cluster {
	t.Helper()

	log := filepath.Join(t.TempDir(), "log")

	plane, err := controlplane.Start(t.Context(), t.TempDir(), program.Need(t, "KUBEBUILDER_ASSETS"), filepath.Join(root, "package", "crds"), log)
	if err != nil {
		text, _ := os.ReadFile(log)
		t.Fatalf("%v\n%s", err, text)
	}

	t.Cleanup(plane.Stop)

	c := cluster{ControlPlane: plane}
	c.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   system,
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}})

	return c
}

func (c cluster) create(t *testing.T, o client.Object) {
	t.Helper()

	if err := c.Kube.Create(t.Context(), o); err != nil {
		t.Fatalf("cannot create %T %q: %v", o, o.GetName(), err)
	}
}

// apply applies an object on the side of the server, as `kubectl apply --server-side` does: the
// API server refuses fields that the kind does not have, and duplicate entries. The object is
// deleted at the end of the test.
func (c cluster) apply(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()

	if err := c.Kube.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner(fieldManager)); err != nil {
		t.Errorf("the API server refuses %s %q: %v", o.GetKind(), o.GetName(), err)

		return
	}

	t.Cleanup(func() { c.remove(t, o) })
}

// install applies the objects of the installation and those that Crossplane makes.
func (c cluster) install(t *testing.T, i installation) {
	t.Helper()

	for _, o := range i.objects {
		if !isCrossplane(o) {
			c.apply(t, o)

			continue
		}

		if err := checkCrossplane(o); err != nil {
			t.Errorf("Crossplane refuses %s %q: %v", o.GetKind(), o.GetName(), err)
		}
	}

	for _, w := range workloads(t, i) {
		if w.made != nil {
			c.apply(t, object(t, w.made))
		}
	}
}

// admit creates the supplied pod: the API server checks it against the Pod Security Standard of
// its namespace, and that its ServiceAccount exists.
func (c cluster) admit(t *testing.T, pod *corev1.Pod) {
	t.Helper()

	c.create(t, pod)
	t.Cleanup(func() { c.remove(t, pod) })
}

// remove deletes an object and waits until it is gone.
func (c cluster) remove(t *testing.T, o client.Object) {
	t.Helper()

	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), wait.Patience)
	defer cancel()

	if err := c.Kube.Delete(ctx, o); err != nil && !kerrors.IsNotFound(err) {
		t.Errorf("cannot delete %T %q: %v", o, o.GetName(), err)

		return
	}

	key := client.ObjectKeyFromObject(o)

	if err := wait.Until(ctx, wait.Patience, func() error {
		err := c.Kube.Get(ctx, key, o)
		if kerrors.IsNotFound(err) {
			return nil
		}

		return errors.Join(err, errors.New("it is still there"))
	}); err != nil {
		t.Errorf("cannot delete %T %q: %v", o, key.Name, err)
	}
}
