// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// An upstream is a place that a module is fetched from.
type upstream struct {
	// source and module of a Workspace that is to have the module.
	source commonv1beta1.ModuleSource
	module string

	// door that serves the module.
	door *door

	// publish a version of the module that has these files and no others.
	publish func(t *testing.T, files tree)
}

// withUpstream makes the Workspace have the module of the upstream.
func withUpstream(u *upstream) workspaceOption {
	return withSource(u.source, u.module)
}

// withSource makes the Workspace have the supplied module.
func withSource(source commonv1beta1.ModuleSource, module string) workspaceOption {
	return withParameters(func(p *commonv1beta1.ModuleParameters) { p.Source, p.Module = source, module })
}

// withPullPolicy sets when the Workspace checks for another version.
func withPullPolicy(policy commonv1beta1.RemotePullPolicy) workspaceOption {
	return withParameters(func(p *commonv1beta1.ModuleParameters) { p.RemotePullPolicy = policy })
}

// newGitUpstream returns a branch of a git repository behind HTTP.
func newGitUpstream(t *testing.T, files tree) *upstream {
	t.Helper()

	root := t.TempDir()
	repo := newRepository(t, filepath.Join(root, "repo"), files)
	d := newDoor(t, newGitHandler(t, root))

	return &upstream{source: commonv1beta1.ModuleSourceRemote, module: "git::" + d.url + "/repo?ref=main", door: d, publish: repo.commit}
}

// newArchiveUpstream returns an archive behind HTTP.
func newArchiveUpstream(t *testing.T, files tree) *upstream {
	t.Helper()

	s := &archiveServer{archives: map[string][]byte{}}
	d := newDoor(t, s)
	u := &upstream{
		source:  commonv1beta1.ModuleSourceRemote,
		module:  d.url + "/module.tar.gz",
		door:    d,
		publish: func(t *testing.T, files tree) { t.Helper(); s.put("/module.tar.gz", archive(t, files)) },
	}
	u.publish(t, files)

	return u
}

// newFluxUpstream returns a Flux source of the supplied kind, the artifact of which
// is behind HTTP.
func newFluxUpstream(t *testing.T, c *cluster, kind, namespace string, files tree) *upstream {
	t.Helper()

	s := &archiveServer{archives: map[string][]byte{}}
	d := newDoor(t, s)
	f := c.createFluxSource(t, kind, namespace)
	u := &upstream{
		source: commonv1beta1.ModuleSourceFlux,
		module: kind + "::" + namespace + "/" + f.object.GetName(),
		door:   d,
		publish: func(t *testing.T, files tree) {
			t.Helper()

			data := archive(t, files)
			digest := digestOf(data)
			path := "/" + digest + ".tar.gz"
			s.put(path, data)
			f.offer(t, d.url+path, digest)
		},
	}
	u.publish(t, files)

	return u
}

// A fluxSource is an object of Flux. There is no controller of Flux: the test sets the
// status.
type fluxSource struct {
	cluster *cluster
	object  *unstructured.Unstructured
}

// createFluxSource creates a Flux source without an artifact.
func (c *cluster) createFluxSource(t *testing.T, kind, namespace string) *fluxSource {
	t.Helper()

	spec := map[string]any{"interval": "1m", "url": "https://example.org/repo"}

	switch kind {
	case "OCIRepository":
		spec["url"] = "oci://example.org/repo"
	case "Bucket":
		spec = map[string]any{"interval": "1m", "endpoint": "example.org", "bucketName": "modules"}
	}

	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: kind})
	o.SetNamespace(namespace)
	o.SetName(unique("source"))
	c.create(t, o)

	return &fluxSource{cluster: c, object: o}
}

// offer an artifact, as Flux does when it has another version.
func (f *fluxSource) offer(t *testing.T, url, digest string) {
	t.Helper()

	f.object.Object["status"] = map[string]any{"artifact": map[string]any{
		"url":            url,
		"path":           filepath.Base(url),
		"revision":       "main@sha1:" + digest[:40],
		"digest":         "sha256:" + digest,
		"lastUpdateTime": time.Now().UTC().Format(time.RFC3339),
	}}

	if err := f.cluster.kube.Status().Update(t.Context(), f.object); err != nil {
		t.Fatalf("cannot offer artifact: %v", err)
	}
}

// An archiveServer serves archives with ETags. It is safe for concurrent use.
type archiveServer struct {
	mu       sync.Mutex
	archives map[string][]byte
}

// put an archive at a path.
func (s *archiveServer) put(path string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.archives[path] = data
}

func (s *archiveServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	data, ok := s.archives[r.URL.Path]
	s.mu.Unlock()

	if !ok {
		http.NotFound(w, r)

		return
	}

	w.Header().Set("ETag", `"`+digestOf(data)+`"`)
	http.ServeContent(w, r, r.URL.Path, time.Time{}, bytes.NewReader(data))
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)

	return hex.EncodeToString(sum[:])
}

// archive returns the files as a .tar.gz.
func archive(t *testing.T, files tree) []byte {
	t.Helper()

	b := &bytes.Buffer{}
	z := gzip.NewWriter(b)
	w := tar.NewWriter(z)

	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(files[name]))}); err != nil {
			t.Fatalf("cannot write archive: %v", err)
		}

		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatalf("cannot write archive: %v", err)
		}
	}

	if err := w.Close(); err != nil {
		t.Fatalf("cannot write archive: %v", err)
	}

	if err := z.Close(); err != nil {
		t.Fatalf("cannot write archive: %v", err)
	}

	return b.Bytes()
}
