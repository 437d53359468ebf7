// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/program"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// flux is an API server with the kinds of Flux except OCIRepository. It starts at its first use.
var flux controlPlane //nolint:gochecknoglobals // One control plane serves all tests.

// A controlPlane is an API server for all tests.
type controlPlane struct {
	once sync.Once
	err  error
	env  *envtest.Environment
	kube client.Client
}

func (c *controlPlane) start(t *testing.T) client.Client {
	t.Helper()
	program.Need(t, "KUBEBUILDER_ASSETS")

	c.once.Do(func() {
		c.env = &envtest.Environment{
			CRDDirectoryPaths: []string{
				"testdata/flux/source.toolkit.fluxcd.io_gitrepositories.yaml",
				"testdata/flux/source.toolkit.fluxcd.io_buckets.yaml",
			},
			ErrorIfCRDPathMissing: true,
			// On a busy machine the default of 20 seconds is too short.
			ControlPlaneStartTimeout: 2 * time.Minute,
			ControlPlaneStopTimeout:  time.Minute,
		}

		if _, c.err = c.env.Start(); c.err == nil {
			c.kube, c.err = client.New(c.env.Config, client.Options{Scheme: testScheme()})
		}
	})

	if c.err != nil {
		t.Fatalf("cannot start control plane: %v", c.err)
	}

	return c.kube
}

func (c *controlPlane) stop() error {
	if c.env == nil {
		return nil
	}

	return c.env.Stop()
}

// fetcher returns a Fetcher with its own client, like that of the provider.
func (c *controlPlane) fetcher(t *testing.T, config *rest.Config, o Options) *Fetcher {
	t.Helper()

	live, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}

	o.Program = os.Args[0]

	return NewFetcher(live, o)
}

func testScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	_ = rbacv1.AddToScheme(s)
	_ = extv1.AddToScheme(s)

	return s
}

// newFluxPlace returns a new working directory for the artifact of a source.
func newFluxPlace(t *testing.T, module string, o Options) *place {
	t.Helper()

	flux.start(t)

	p := newPlace(t, module)
	p.fetcher = flux.fetcher(t, flux.env.Config, o)
	p.request.Parameters.Source = commonv1beta1.ModuleSourceFlux

	return p
}

// An artifact in the status of a source.
type artifact map[string]any

// newArtifact serves the files, and returns their artifact.
func newArtifact(t *testing.T, s *fileServer, revision string, f files) artifact {
	t.Helper()

	data := gzipped(t, f)
	path := "/" + revision + ".tar.gz"
	s.serve(path, data)

	sum := sha256.Sum256(data)

	return artifact{
		"path": path, "url": s.url + path, "revision": "main@sha1:" + revision, "digest": "sha256:" + hex.EncodeToString(sum[:]),
		"lastUpdateTime": "2025-01-01T00:00:00Z",
	}
}

// newSource creates a Flux source with or without an artifact.
func newSource(t *testing.T, version, kind, name string, a artifact) *unstructured.Unstructured {
	t.Helper()

	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: fluxGroup, Version: version, Kind: kind})
	o.SetNamespace("default")
	o.SetName(name)

	spec := map[string]any{"interval": "1m", "url": "https://example.org/repo"}

	switch kind {
	case "Bucket":
		spec = map[string]any{"interval": "1m", "endpoint": "example.org", "bucketName": "b"}
	case "OCIRepository":
		spec["url"] = "oci://example.org/repo"
	}

	o.Object["spec"] = spec

	// A new kind is not usable at once.
	if err := wait.Until(t.Context(), wait.Patience, func() error { return flux.kube.Create(t.Context(), o) }); err != nil {
		t.Fatalf("cannot create %s: %v", kind, err)
	}

	setArtifact(t, o, a)

	return o
}

func setArtifact(t *testing.T, o *unstructured.Unstructured, a artifact) {
	t.Helper()

	if a == nil {
		return
	}

	if err := unstructured.SetNestedMap(o.Object, a, "status", "artifact"); err != nil {
		t.Fatal(err)
	}

	if err := flux.kube.Status().Update(t.Context(), o); err != nil {
		t.Fatalf("cannot update status: %v", err)
	}
}
