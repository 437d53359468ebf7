// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

func TestFlux(t *testing.T) {
	flux.start(t)

	s := newFileServer(t)
	first := newArtifact(t, s, "one", files{"main.tf": "1", "old.tf": "1"})
	o := newSource(t, "v1", "GitRepository", "repo", first)

	always := newFluxPlace(t, "GitRepository::default/repo", Options{})
	once := newFluxPlace(t, "gitREPOSITORY::default/repo", Options{})
	once.request.Parameters.RemotePullPolicy = commonv1beta1.RemotePullPolicyIfNotPresent
	once.request.Namespace = "other"

	expect := func(p *place, what string, a artifact, wantDownloads int, want files) {
		t.Helper()

		if got := p.ensure(t); got != a["url"] {
			t.Errorf("%s: want address %q, got %q", what, a["url"], got)
		}

		s.expectDownloads(t, what, wantDownloads)
		p.expect(t, want)
	}

	expect(always, "first", first, 1, files{"main.tf": "1", "old.tf": "1"})
	expect(always, "nothing new", first, 0, files{"main.tf": "1", "old.tf": "1"})
	expect(once, "IfNotPresent", first, 1, files{"main.tf": "1", "old.tf": "1"})
	expect(once, "IfNotPresent, nothing new", first, 0, files{"main.tf": "1", "old.tf": "1"})

	second := newArtifact(t, s, "two", files{"main.tf": "2"})
	setArtifact(t, o, second)
	expect(always, "new", second, 1, files{"main.tf": "2"})
	expect(once, "IfNotPresent, another address", second, 1, files{"main.tf": "2"})

	// The same address has another content: the digest changes.
	changed := newArtifact(t, s, "two", files{"main.tf": "2b"})
	setArtifact(t, o, changed)
	expect(always, "another digest", changed, 1, files{"main.tf": "2b"})
	expect(once, "IfNotPresent, another digest", changed, 0, files{"main.tf": "2"})

	// The revision changes, too.
	changed["revision"] = "main@sha1:three"
	setArtifact(t, o, changed)
	expect(always, "another revision", changed, 1, files{"main.tf": "2b"})

	// A Bucket is a source like any other.
	a := newArtifact(t, s, "bucket", files{"main.tf": "b", "sub/main.tf": "s"})
	newSource(t, "v1", "Bucket", "bucket", a)

	bucket := newFluxPlace(t, "bucket::default/bucket", Options{})
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
		options   Options
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
			reason: "The message says what must be installed.",
			module: "OCIRepository::default/x",
			want:   "the cluster does not have this kind: Flux, or its CustomResourceDefinition ocirepositories.source.toolkit.fluxcd.io, must be installed",
		},
		"OtherNamespace": {
			reason:    "References to other namespaces can be forbidden.",
			module:    "GitRepository::default/good",
			namespace: "team-a",
			options:   Options{SameNamespace: true},
			want:      `module "GitRepository::default/good" is in another namespace than the Workspace, which is in "team-a": --no-cross-namespace-refs forbids that`,
		},
		"OwnNamespace": {
			reason:    "References to the same namespace are always allowed.",
			module:    "GitRepository::default/good",
			namespace: "default",
			options:   Options{SameNamespace: true},
		},
		"NoNamespace": {
			reason:  "So are those of a Workspace without a namespace.",
			module:  "GitRepository::default/good",
			options: Options{SameNamespace: true},
		},
		"Allowed": {
			reason:    "Without the option, all namespaces are allowed.",
			module:    "GitRepository::default/good",
			namespace: "team-a",
		},
		"WrongDigest": {
			reason: "The download must match the digest.",
			module: "GitRepository::default/wrong",
			want:   "the digest of the artifact is wrong: want sha256:0000",
		},
		"UnknownDigest": {
			reason: "An artifact that cannot be verified is not used.",
			module: "GitRepository::default/blake",
			want:   `cannot verify the digest "blake3:0000`,
		},
		"NoArtifact": {
			reason: "The message contains the response of the server.",
			module: "GitRepository::default/none",
			want:   `cannot fetch module "` + s.url + `/none.tar.gz": cannot download: bad response code: 404`,
		},
		"LocalFile": {
			reason: "The writer of a status must not select files of this machine.",
			module: "GitRepository::default/local",
			want:   `the scheme of the artifact is "file": must be http or https`,
		},
		"Address": {
			reason: "An artifact is not a go-getter address.",
			module: "GitRepository::default/git",
			want:   `must be http or https`,
		},
		"LinkOut": {
			reason: "Links must not lead out of the module.",
			module: "GitRepository::default/out",
			want:   `symbolic link "a" leads out of the module`,
		},
		"NoReference": {
			reason: "The message shows the right form.",
			module: "default/good",
			want:   `module "default/good" does not refer to a Flux source: it must be GitRepository::NAMESPACE/NAME`,
		},
		"AddressOfRemote": {
			reason: "The message has no token.",
			module: "git::https://me:sesame@example.org/a",
			want:   `module "git::https://example.org/a" does not refer to a Flux source`,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newFluxPlace(t, tc.module, tc.options)
			p.request.Namespace = tc.namespace

			if tc.config != nil {
				p.fetcher = flux.fetcher(t, tc.config, Options{})
			}

			if tc.want == "" {
				p.ensure(t)
				p.expect(t, files{"main.tf": "g"})
			} else if got := p.ensureFails(t); !strings.Contains(got, tc.want) || strings.Contains(got, "correct the address") {
				t.Errorf("%s\nEnsure(...): want error %q, without advice for addresses of people, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestFluxWaits ensures that a Workspace waits for a source that is not ready like for one that does not exist.
func TestFluxWaits(t *testing.T) {
	t.Parallel()

	_, err := fluxReference{kind: "Bucket"}.source(&unstructured.Unstructured{Object: map[string]any{}})
	if !kerrors.IsNotFound(err) {
		t.Errorf("source(...) without an artifact: want NotFound, got %v", err)
	}
}

func TestFluxDigests(t *testing.T) {
	t.Parallel()

	data := gzipped(t, files{"main.tf": "m"})
	sum256, sum384, sum512 := sha256.Sum256(data), sha512.Sum384(data), sha512.Sum512(data)
	s := newFileServer(t)
	s.serve("/m.tar.gz", data, "Content-Encoding", "gzip") // As a bucket may do.

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

	ref := fluxReference{types.NamespacedName{Namespace: "a", Name: "b"}, "Bucket"}

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

	git := fluxReference{types.NamespacedName{Namespace: "ns", Name: "name"}, "GitRepository"}
	oci := fluxReference{types.NamespacedName{Namespace: "ns", Name: "name"}, "OCIRepository"}
	bucket := fluxReference{types.NamespacedName{Namespace: "my-ns", Name: "a.b-c"}, "Bucket"}

	cases := map[string]struct {
		reason, module string
		want           fluxReference
		// err says that the reference is refused.
		err bool
	}{
		"Git":         {reason: "A GitRepository.", module: "GitRepository::ns/name", want: git},
		"GitLower":    {reason: "Case does not matter.", module: "gitrepository::ns/name", want: git},
		"OCI":         {reason: "An OCIRepository.", module: "ocirePOSITORY::ns/name", want: oci},
		"Bucket":      {reason: "A Bucket.", module: "BUCKET::my-ns/a.b-c", want: bucket},
		"Other":       {reason: "Other kinds are not supported.", module: "HelmRepository::ns/name", err: true},
		"NoKind":      {reason: "The kind is required.", module: "ns/name", err: true},
		"NoNamespace": {reason: "The namespace is required.", module: "Bucket::name", err: true},
		"EmptyNs":     {reason: "The namespace must not be empty.", module: "Bucket::/name", err: true},
		"EmptyName":   {reason: "The name must not be empty.", module: "Bucket::ns/", err: true},
		"More":        {reason: "There is no third part.", module: "Bucket::ns/name/sub", err: true},
		"Upper":       {reason: "Names are lower case.", module: "Bucket::NS/name", err: true},
		"Dots":        {reason: "Names are not paths.", module: "Bucket::../name", err: true},
		"Space":       {reason: "White space is not trimmed.", module: " Bucket::ns/name", err: true},
		"Newline":     {reason: "A line end is not trimmed.", module: "Bucket::ns/name\n", err: true},
		"OneColon":    {reason: "Two colons are required.", module: "Bucket:ns/name", err: true},
		"Empty":       {reason: "An empty reference is refused.", module: "", err: true},
		"Equivalent":  {reason: "Only ASCII letters are compared without case.", module: "Buc\u212Aet::ns/name", err: true},
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

// TestFluxReasons checks the message about a source without an artifact.
func TestFluxReasons(t *testing.T) {
	t.Parallel()

	ready := func(status, message string) map[string]any {
		return map[string]any{"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Reconciling", "status": "True", "message": "retrying"},
			map[string]any{"type": "Ready", "status": status, "message": message},
		}}}
	}

	cases := map[string]struct {
		reason string
		object map[string]any
		want   string
	}{
		"New":       {reason: "Flux has not seen it yet.", object: map[string]any{}},
		"Unknown":   {reason: "Flux is at work.", object: ready("Unknown", "building artifact")},
		"Failed":    {reason: "Flux knows the cause.", object: ready("False", "cannot clone:\n authentication required"), want: ": cannot clone: authentication required"},
		"Long":      {reason: "The message is bounded.", object: ready("False", strings.Repeat("x", 1000)), want: ": " + strings.Repeat("x", 300)},
		"Suspended": {reason: "Flux does nothing.", object: map[string]any{"spec": map[string]any{"suspend": true}}, want: ": it is suspended, see its spec.suspend"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ref := fluxReference{kind: "Bucket", NamespacedName: types.NamespacedName{Namespace: "n", Name: "b"}}

			_, err := ref.source(&unstructured.Unstructured{Object: tc.object})
			if want := "artifact for 'n/b' Bucket is not ready" + tc.want; err == nil || err.Error() != want {
				t.Errorf("%s: want %q, got %v", tc.reason, want, err)
			}
		})
	}
}
