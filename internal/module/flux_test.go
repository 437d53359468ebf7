// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// flux is an API server with the kinds of Flux but for OCIRepository. It starts when
// it is first used.
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

	c.once.Do(func() {
		c.env = &envtest.Environment{
			CRDDirectoryPaths: []string{
				"testdata/flux/source.toolkit.fluxcd.io_gitrepositories.yaml",
				"testdata/flux/source.toolkit.fluxcd.io_buckets.yaml",
			},
			ErrorIfCRDPathMissing: true,
		}

		if _, c.err = c.env.Start(); c.err == nil {
			c.kube, c.err = client.New(c.env.Config, client.Options{Scheme: testScheme()})
		}
	})

	if c.err != nil {
		t.Fatalf("cannot start control plane: is KUBEBUILDER_ASSETS what hack/build.sh controlplane prints? %v", c.err)
	}

	return c.kube
}

func (c *controlPlane) stop() error {
	if c.env == nil {
		return nil
	}

	return c.env.Stop()
}

func testScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	_ = rbacv1.AddToScheme(s)
	_ = extv1.AddToScheme(s)

	return s
}

// fetcher returns one that reads with its own client and mapper, as the provider's.
func (c *controlPlane) fetcher(t *testing.T, config *rest.Config, o ...Option) *Fetcher {
	t.Helper()

	h, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}

	mapper, err := apiutil.NewDynamicRESTMapper(config, h)
	if err != nil {
		t.Fatal(err)
	}

	live, err := client.New(config, client.Options{HTTPClient: h, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}

	return NewFetcher(live, mapper, o...)
}

// newFluxPlace returns a new working directory for the artifact of a source.
func newFluxPlace(t *testing.T, module string, o ...Option) *place {
	t.Helper()

	flux.start(t)

	p := newPlace(t, module)
	p.fetcher = flux.fetcher(t, flux.env.Config, o...)
	p.request.Parameters.Source = commonv1beta1.ModuleSourceFlux

	return p
}

// An artifact as it is in the status of a source.
type artifact map[string]any

// newArtifact serves the files, and returns the artifact that they are.
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

// newSource creates a Flux source with an artifact, or without.
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

	// A new kind takes a moment until it can be used.
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		err := flux.kube.Create(ctx, o)
		if meta.IsNoMatchError(err) || kerrors.IsNotFound(err) {
			return false, nil
		}

		return err == nil, err
	})
	if err != nil {
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

func TestFlux(t *testing.T) {
	flux.start(t)

	s := newFileServer(t)
	first := newArtifact(t, s, "one", files{"main.tf": "1", "old.tf": "1", "link.tf": "-> main.tf"})
	o := newSource(t, "v1", "GitRepository", "repo", first)

	always := newFluxPlace(t, "GitRepository::default/repo")
	once := newFluxPlace(t, "gitREPOSITORY::default/repo")
	once.request.Parameters.RemotePullPolicy = commonv1beta1.RemotePullPolicyIfNotPresent
	once.request.Namespace = "other"

	expect := func(p *place, what string, a artifact, wantDownloads int, want files) {
		t.Helper()

		if got := p.ensure(t); got != a["url"] {
			t.Errorf("%s: want address %q, got %q", what, a["url"], got)
		}

		if _, downloads := s.counts(); downloads != wantDownloads {
			t.Errorf("%s: want %d downloads, got %d", what, wantDownloads, downloads)
		}

		p.expect(t, want)
	}

	expect(always, "first", first, 1, files{"main.tf": "1", "old.tf": "1", "link.tf": "-> main.tf"})
	expect(always, "nothing new", first, 0, files{"main.tf": "1", "old.tf": "1", "link.tf": "-> main.tf"})
	expect(once, "IfNotPresent", first, 1, files{"main.tf": "1", "old.tf": "1", "link.tf": "-> main.tf"})
	expect(once, "IfNotPresent, nothing new", first, 0, files{"main.tf": "1", "old.tf": "1", "link.tf": "-> main.tf"})

	second := newArtifact(t, s, "two", files{"main.tf": "2"})
	setArtifact(t, o, second)
	expect(always, "new", second, 1, files{"main.tf": "2"})
	expect(once, "IfNotPresent, another address", second, 1, files{"main.tf": "2"})

	// The same address with another content: the digest tells.
	changed := newArtifact(t, s, "two", files{"main.tf": "2b"})
	setArtifact(t, o, changed)
	expect(always, "another digest", changed, 1, files{"main.tf": "2b"})
	expect(once, "IfNotPresent, another digest", changed, 0, files{"main.tf": "2"})

	// And with another revision.
	changed["revision"] = "main@sha1:three"
	setArtifact(t, o, changed)
	expect(always, "another revision", changed, 1, files{"main.tf": "2b"})

	// A Bucket is a source like any other.
	a := newArtifact(t, s, "bucket", files{"main.tf": "b", "sub/main.tf": "s"})
	newSource(t, "v1", "Bucket", "bucket", a)

	bucket := newFluxPlace(t, "bucket::default/bucket")
	bucket.request.Parameters.Entrypoint = "sub"
	expect(bucket, "bucket", a, 1, files{"main.tf": "b", "sub/main.tf": "s"})
}

func TestFluxErrors(t *testing.T) {
	kube := flux.start(t)
	s := newFileServer(t)

	good := newArtifact(t, s, "good", files{"main.tf": "g"})
	changed := func(kv ...string) artifact {
		a := artifact{}
		maps.Copy(a, good)

		for i := 0; i < len(kv); i += 2 {
			a[kv[i]] = kv[i+1]
		}

		return a
	}

	out := newArtifact(t, s, "out", files{"main.tf": "m", "a": "-> ../.."})

	for name, a := range map[string]artifact{
		"unready": nil,
		"wrong":   changed("digest", "sha256:"+strings.Repeat("0", 64)),
		"blake":   changed("digest", "blake3:"+strings.Repeat("0", 64)),
		"none":    changed("url", s.url+"/none.tar.gz"),
		"local":   changed("url", "file:///etc/passwd"),
		"git":     changed("url", "git::https://example.org/x"),
		"out":     out,
		"good":    good,
	} {
		newSource(t, "v1", "GitRepository", name, a)
	}

	// A user who may read nothing, and one who may read Buckets.
	user, err := flux.env.AddUser(envtest.User{Name: "reader", Groups: []string{"readers"}}, nil)
	if err != nil {
		t.Fatal(err)
	}

	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "buckets"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{fluxGroup}, Resources: []string{"buckets"}, Verbs: []string{"get"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "buckets"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "buckets"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "readers"}},
	}

	for _, o := range []client.Object{role, binding} {
		if err := kube.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}

	cases := map[string]struct {
		reason    string
		module    string
		namespace string
		options   []Option
		config    *rest.Config
		want      string
	}{
		"NotReady": {
			reason: "A source without an artifact is not ready.",
			module: "GitRepository::default/unready",
			want:   "artifact for 'default/unready' GitRepository is not ready",
		},
		"NotFound": {
			reason: "A source that does not exist is named.",
			module: "Bucket::default/none",
			want:   `cannot get Bucket 'default/none': buckets.source.toolkit.fluxcd.io "none" not found`,
		},
		"Forbidden": {
			reason: "The message names the right that is missing.",
			module: "GitRepository::default/good",
			config: user.Config(),
			want:   `cannot get GitRepository 'default/good': the provider needs the right to get gitrepositories.source.toolkit.fluxcd.io in namespace "default"`,
		},
		"ForbiddenElsewhere": {
			reason: "It is the right for this very kind.",
			module: "Bucket::default/none",
			config: user.Config(),
			want:   `"none" not found`,
		},
		"NoKind": {
			reason: "The message names what is to be installed.",
			module: "OCIRepository::default/x",
			want:   "the cluster does not have this kind: Flux, or its CustomResourceDefinition ocirepositories.source.toolkit.fluxcd.io, must be installed",
		},
		"OtherNamespace": {
			reason:    "References to other namespaces can be forbidden.",
			module:    "GitRepository::default/good",
			namespace: "team-a",
			options:   []Option{WithoutCrossNamespaceRefs()},
			want:      `module "GitRepository::default/good" is in another namespace than the Workspace, which is in "team-a": --no-cross-namespace-refs forbids that`,
		},
		"OwnNamespace": {
			reason:    "Those to the same one cannot.",
			module:    "GitRepository::default/good",
			namespace: "default",
			options:   []Option{WithoutCrossNamespaceRefs()},
		},
		"NoNamespace": {
			reason:  "Nor those of a Workspace that has no namespace.",
			module:  "GitRepository::default/good",
			options: []Option{WithoutCrossNamespaceRefs()},
		},
		"Allowed": {
			reason:    "Without the option any namespace will do.",
			module:    "GitRepository::default/good",
			namespace: "team-a",
		},
		"WrongDigest": {
			reason: "What was downloaded is what the source says.",
			module: "GitRepository::default/wrong",
			want:   "the digest of the artifact is wrong: want sha256:0000",
		},
		"UnknownDigest": {
			reason: "What cannot be verified is not used.",
			module: "GitRepository::default/blake",
			want:   `cannot verify the digest "blake3:0000`,
		},
		"NoArtifact": {
			reason: "The message says what the server says.",
			module: "GitRepository::default/none",
			want:   `cannot fetch module "` + s.url + `/none.tar.gz": the server answered 404 Not Found`,
		},
		"LocalFile": {
			reason: "Who may write a status has no say in which files of this machine are read.",
			module: "GitRepository::default/local",
			want:   `the scheme of the artifact is "file": must be http or https`,
		},
		"Address": {
			reason: "An artifact is not an address of go-getter.",
			module: "GitRepository::default/git",
			want:   `must be http or https`,
		},
		"LinkOut": {
			reason: "Links lead nowhere outside.",
			module: "GitRepository::default/out",
			want:   `symbolic link "a" leads out of the module`,
		},
		"NoReference": {
			reason: "The message says what is possible.",
			module: "default/good",
			want:   `module "default/good" does not refer to a Flux source: it must be GitRepository::NAMESPACE/NAME`,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newFluxPlace(t, tc.module, tc.options...)
			p.request.Namespace = tc.namespace

			if tc.config != nil {
				p.fetcher = flux.fetcher(t, tc.config)
			}

			if tc.want == "" {
				p.ensure(t)
				p.expect(t, files{"main.tf": "g"})
			} else if got := p.ensureFails(t); !strings.Contains(got, tc.want) {
				t.Errorf("%s\nEnsure(...): want error %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestFluxBrokenDownload ensures that a module stays until another one is complete,
// and is what its digest says.
func TestFluxBrokenDownload(t *testing.T) {
	flux.start(t)

	s := newFileServer(t)
	o := newSource(t, "v1", "GitRepository", "broken", newArtifact(t, s, "one", files{"main.tf": "1"}))
	p := newFluxPlace(t, "GitRepository::default/broken")
	p.ensure(t)

	next := newArtifact(t, s, "two", files{"main.tf": strings.Repeat("2", 1<<16)})
	setArtifact(t, o, next)

	s.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte("half"))
		_ = http.NewResponseController(w).Flush()

		panic(http.ErrAbortHandler)
	})

	if got, want := p.ensureFails(t), "cannot download: unexpected EOF"; !strings.Contains(got, want) {
		t.Errorf("Ensure(...): want error %q, got %q", want, got)
	}

	p.expect(t, files{"main.tf": "1"})

	s.intercept(nil)
	s.serve("/two.tar.gz", gzipped(t, files{"main.tf": "evil"}))

	if got, want := p.ensureFails(t), "the digest of the artifact is wrong"; !strings.Contains(got, want) {
		t.Errorf("Ensure(...): want error %q, got %q", want, got)
	}

	p.expect(t, files{"main.tf": "1"})
}

// TestFluxVersions ensures that the version that the cluster has is used, also when
// that changes while the provider runs.
func TestFluxVersions(t *testing.T) {
	kube := flux.start(t)
	s := newFileServer(t)
	a := newArtifact(t, s, "oci", files{"main.tf": "oci"})

	data, err := os.ReadFile("testdata/flux/source.toolkit.fluxcd.io_ocirepositories.yaml")
	if err != nil {
		t.Fatal(err)
	}

	crd := &extv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(data, crd); err != nil {
		t.Fatal(err)
	}

	// An old Flux has this kind as v1beta2 only.
	current := crd.Spec.Versions[0]
	old := *current.DeepCopy()
	old.Name = "v1beta2"
	crd.Spec.Versions = []extv1.CustomResourceDefinitionVersion{old}

	if err := kube.Create(t.Context(), crd); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = kube.Delete(context.WithoutCancel(t.Context()), crd) })
	newSource(t, "v1beta2", "OCIRepository", "oci", a)

	p := newFluxPlace(t, "ocirepository::default/oci")
	p.ensure(t)
	p.expect(t, files{"main.tf": "oci"})

	// A newer one has v1 as well, and the newest has nothing else.
	old.Storage = false
	updateCRD(t, crd, func() { crd.Spec.Versions = []extv1.CustomResourceDefinitionVersion{current, old} }, kube.Update)

	// Who updates Flux has every object stored anew.
	migrated := &unstructured.Unstructured{}
	migrated.SetGroupVersionKind(schema.GroupVersionKind{Group: fluxGroup, Version: "v1", Kind: "OCIRepository"})

	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		if err := flux.kube.Get(ctx, client.ObjectKey{Namespace: "default", Name: "oci"}, migrated); err != nil {
			return false, nil //nolint:nilerr // The new version takes a moment to be served.
		}

		migrated.SetLabels(map[string]string{"stored": "anew"})

		return flux.kube.Update(ctx, migrated) == nil, nil
	})
	if err != nil {
		t.Fatalf("the new version cannot be used: %v", err)
	}

	updateCRD(t, crd, func() { crd.Status.StoredVersions = []string{"v1"} }, func(ctx context.Context, o client.Object, _ ...client.UpdateOption) error {
		return kube.Status().Update(ctx, o)
	})
	updateCRD(t, crd, func() { crd.Spec.Versions = []extv1.CustomResourceDefinitionVersion{current} }, kube.Update)

	gone := &unstructured.Unstructured{}
	gone.SetGroupVersionKind(schema.GroupVersionKind{Group: fluxGroup, Version: "v1beta2", Kind: "OCIRepository"})

	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		err := p.fetcher.live.Get(ctx, client.ObjectKey{Namespace: "default", Name: "oci"}, gone)

		return kerrors.IsNotFound(err), nil
	})
	if err != nil {
		t.Fatalf("the old version does not go away: %v", err)
	}

	p.ensure(t)
}

// updateCRD changes what the API server, which changes it as well, has by now.
func updateCRD(t *testing.T, crd *extv1.CustomResourceDefinition, change func(), update func(context.Context, client.Object, ...client.UpdateOption) error) {
	t.Helper()

	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := flux.kube.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
			return err
		}

		change()

		return update(t.Context(), crd)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFluxDigests(t *testing.T) {
	t.Parallel()

	data := gzipped(t, files{"main.tf": "m"})
	sum256, sum384, sum512 := sha256.Sum256(data), sha512.Sum384(data), sha512.Sum512(data)
	s := newFileServer(t)
	s.serve("/m.tar.gz", data)

	for name, a := range map[string]artifact{
		"SHA256":   {"digest": fmt.Sprintf("sha256:%x", sum256)},
		"SHA384":   {"digest": fmt.Sprintf("sha384:%x", sum384)},
		"SHA512":   {"digest": fmt.Sprintf("sha512:%X", sum512)},
		"Checksum": {"checksum": hex.EncodeToString(sum256[:])},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t, "")

			ref, err := parseFluxReference("Bucket::default/x")
			if err != nil {
				t.Fatal(err)
			}

			a["url"] = s.url + "/m.tar.gz"

			src, err := ref.source(&unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"artifact": map[string]any(a)}}})
			if err != nil {
				t.Fatal(err)
			}

			if err := p.fetcher.update(t.Context(), p.request, src); err != nil {
				t.Fatal(err)
			}

			p.expect(t, files{"main.tf": "m"})
		})
	}

	ref := fluxReference{kind: "Bucket", namespace: "a", name: "b"}

	src, err := ref.source(&unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"artifact": map[string]any{"url": s.url + "/m.tar.gz"}}}})
	if err != nil {
		t.Fatal(err)
	}

	p := newPlace(t, "")
	if err := p.fetcher.update(t.Context(), p.request, src); err == nil || !strings.Contains(err.Error(), "cannot verify the digest") {
		t.Errorf("update(...) without a digest: got %v", err)
	}
}

func TestParseFluxReference(t *testing.T) {
	t.Parallel()

	git := fluxReference{"GitRepository", "gitrepositories", "ns", "name"}
	oci := fluxReference{"OCIRepository", "ocirepositories", "ns", "name"}
	bucket := fluxReference{"Bucket", "buckets", "my-ns", "a.b-c"}

	cases := map[string]struct {
		reason, module string
		want           fluxReference
		// err says that it is refused.
		err bool
	}{
		"Git":         {reason: "A GitRepository.", module: "GitRepository::ns/name", want: git},
		"GitLower":    {reason: "Case does not matter.", module: "gitrepository::ns/name", want: git},
		"OCI":         {reason: "An OCIRepository.", module: "ocirePOSITORY::ns/name", want: oci},
		"Bucket":      {reason: "A Bucket.", module: "BUCKET::my-ns/a.b-c", want: bucket},
		"Other":       {reason: "There are other kinds.", module: "HelmRepository::ns/name", err: true},
		"NoKind":      {reason: "The kind is needed.", module: "ns/name", err: true},
		"NoNamespace": {reason: "The namespace is needed.", module: "Bucket::name", err: true},
		"EmptyNs":     {reason: "It must not be empty.", module: "Bucket::/name", err: true},
		"EmptyName":   {reason: "Nor must the name.", module: "Bucket::ns/", err: true},
		"More":        {reason: "There is no third part.", module: "Bucket::ns/name/sub", err: true},
		"Upper":       {reason: "Names are lower case.", module: "Bucket::NS/name", err: true},
		"Dots":        {reason: "Names are no paths.", module: "Bucket::../name", err: true},
		"Space":       {reason: "Nothing is trimmed.", module: " Bucket::ns/name", err: true},
		"Newline":     {reason: "Nor is the end of a line the end.", module: "Bucket::ns/name\n", err: true},
		"OneColon":    {reason: "There are two colons.", module: "Bucket:ns/name", err: true},
		"Empty":       {reason: "Something is needed.", module: "", err: true},
		"Equivalent":  {reason: "Only letters of ASCII are the same in both cases.", module: "Buc\u212Aet::ns/name", err: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := parseFluxReference(tc.module)
			if (err != nil) != tc.err {
				t.Errorf("%s\nparseFluxReference(%q): want error %t, got %v", tc.reason, tc.module, tc.err, err)
			}

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(fluxReference{})); diff != "" {
				t.Errorf("%s\nparseFluxReference(%q): -want, +got:\n%s", tc.reason, tc.module, diff)
			}
		})
	}
}

func FuzzParseFluxReference(f *testing.F) {
	for _, seed := range []string{"GitRepository::ns/name", "bucket::a.b/c-d", "Bucket::../x", "OCIRepository::ns/name/x", "", "::/", "Buc\u212Aet::ns/name"} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, module string) {
		ref, err := parseFluxReference(module)
		if err != nil {
			return
		}

		// There is one way to write it, but for the case of the kind.
		if got := ref.kind + "::" + ref.namespace + "/" + ref.name; !strings.EqualFold(got, module) || len(got) != len(module) {
			t.Errorf("parseFluxReference(%q): got %q", module, got)
		}

		if strings.ContainsAny(ref.namespace+ref.name, "/:% \n") || strings.Trim(ref.namespace, ".-") != ref.namespace || strings.Trim(ref.name, ".-") != ref.name {
			t.Errorf("parseFluxReference(%q): got namespace %q and name %q", module, ref.namespace, ref.name)
		}
	})
}
