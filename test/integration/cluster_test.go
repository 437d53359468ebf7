// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
)

// A cluster is a control plane: an API server with our CRDs, and optionally others, and
// its etcd. There are no other controllers, so dependents of a deleted owner are not
// collected.
type cluster struct {
	assets, dir string

	// crds are directories of CustomResourceDefinitions.
	crds []string

	// plugins are the admission plugins that are not enabled by default.
	plugins []string

	// gates are the feature gates of the API server.
	gates string

	start func() error
	env   *envtest.Environment

	// users is held while a user is added: that is not safe for concurrent use.
	users sync.Mutex

	config     *rest.Config
	kubeconfig string
	kube       client.Client
}

// leaseNamespace is where all instances keep their Leases: they have to find one
// another's.
const leaseNamespace = "leases"

// ownerReferences is an admission plugin that some distributions enable: a client needs an extra
// right to set an owner reference that blocks deletion.
const ownerReferences = "OwnerReferencesPermissionEnforcement"

// newCluster returns a control plane that starts when it is first used.
func newCluster(assets, dir string, crds ...string) *cluster {
	c := &cluster{assets: assets, dir: dir, crds: crds, plugins: []string{ownerReferences}}
	c.start = sync.OnceValue(c.doStart)

	return c
}

// started returns c once it runs.
func (c *cluster) started(t *testing.T) *cluster {
	t.Helper()

	if err := c.start(); err != nil {
		t.Fatalf("cannot start control plane: %v", err)
	}

	return c
}

func (c *cluster) doStart() error {
	c.env = &envtest.Environment{
		BinaryAssetsDirectory:    c.assets,
		CRDDirectoryPaths:        c.crds,
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: 2 * time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
	}

	if len(c.plugins) > 0 {
		c.env.ControlPlane.GetAPIServer().Configure().Append("enable-admission-plugins", c.plugins...)
	}

	if c.gates != "" {
		c.env.ControlPlane.GetAPIServer().Configure().Append("feature-gates", c.gates)
	}

	var err error
	if c.config, err = c.env.Start(); err != nil {
		return err
	}

	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}

	c.kubeconfig = filepath.Join(c.dir, "kubeconfig")
	if err := os.WriteFile(c.kubeconfig, c.env.KubeConfig, 0o600); err != nil {
		return err
	}

	if c.kube, err = controlplane.NewClient(c.config); err != nil {
		return err
	}

	//nolint:forbidigo // It outlives the test that needs it first.
	return c.kube.Create(context.Background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: leaseNamespace}})
}

// stop ends the control plane if it was ever started.
func (c *cluster) stop() {
	if c.env == nil {
		return
	}

	env := c.env
	c.env = nil

	if err := env.Stop(); err != nil {
		complain(errors.Wrap(err, "cannot stop control plane"))
	}
}

// namespace makes a namespace with a name of its own.
func (c *cluster) namespace(t *testing.T) string {
	t.Helper()

	name := unique("ns")
	c.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})

	return name
}

// create creates the supplied object, and discards it at the end of the test.
func (c *cluster) create(t *testing.T, o client.Object) {
	t.Helper()

	if err := c.kube.Create(t.Context(), o); err != nil {
		t.Fatalf("cannot create %T %q: %v", o, o.GetName(), err)
	}

	c.discard(t, o)
}

// discard removes all finalizers of an object, and the object, at the end of the test.
func (c *cluster) discard(t *testing.T, o client.Object) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := cleanupContext(t)
		defer cancel()

		unfinalize := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))

		// Without finalizers it is gone at once, so that no instance begins to destroy anything.
		// An instance that is at work may add them again.
		err := c.kube.Patch(ctx, o, unfinalize)
		if err == nil {
			err = c.kube.Delete(ctx, o)
		}

		if err == nil {
			err = c.kube.Patch(ctx, o, unfinalize)
		}

		if client.IgnoreNotFound(err) != nil {
			t.Errorf("cannot remove %T %q: %v", o, o.GetName(), err)
		}
	})
}

// get reads the supplied object again.
func (c *cluster) get(t *testing.T, o client.Object) {
	t.Helper()

	if err := c.kube.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatalf("cannot get %T %q: %v", o, o.GetName(), err)
	}
}

// patch merges the supplied fields into the supplied object.
func (c *cluster) patch(t *testing.T, o client.Object, fields map[string]any) {
	t.Helper()

	data, err := json.Marshal(fields)
	if err != nil {
		t.Fatalf("cannot marshal patch: %v", err)
	}

	if err := c.kube.Patch(t.Context(), o, client.RawPatch(types.MergePatchType, data)); err != nil {
		t.Fatalf("cannot patch %T %q: %v", o, o.GetName(), err)
	}
}

// remove asks the API server to delete the supplied object.
func (c *cluster) remove(t *testing.T, o client.Object) {
	t.Helper()

	if err := c.kube.Delete(t.Context(), o); err != nil {
		t.Fatalf("cannot delete %T %q: %v", o, o.GetName(), err)
	}
}

// unique returns a name with the supplied prefix that nothing else has.
func unique(prefix string) string { return prefix + "-" + rand.String(8) }

// cleanupContext returns a context for use in a cleanup, when that of the test
// has ended.
func cleanupContext(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()

	return context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
}
