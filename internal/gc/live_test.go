// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/apis"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	clusterCRD    = "../../package/crds/tf.upbound.io_workspaces.yaml"
	namespacedCRD = "../../package/crds/tf.m.upbound.io_workspaces.yaml"
)

// TestLive collects on a real API server and real directories.
func TestLive(t *testing.T) {
	t.Parallel()

	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Fatal("KUBEBUILDER_ASSETS is not set: run make test")
	}

	env := &envtest.Environment{}

	cfg, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})

	kinds := workspace.GroupVersionKinds()

	// The order counts: kinds of Workspaces do not go away again.
	t.Run("NoKind", func(t *testing.T) {
		f := newFixture(t, env)
		orphan := f.orphan(t)

		_, err := f.collect(t, f.live)
		if err == nil {
			t.Error("an API server that knows of no kind of Workspace was asked for all of them, and there was no error")
		}

		f.expect(t, "Where no Workspace can be, none is known to be gone.", orphan)
	})

	install(t, cfg, clusterCRD)
	t.Run("OneKind", func(t *testing.T) {
		f := newFixture(t, env)
		kept := f.workspace(t, kinds[0], "")
		orphan := f.orphan(t)

		deleted, err := f.collect(t, f.live)
		if err != nil {
			t.Error(err)
		}

		if diff := cmp.Diff([]string{orphan}, deleted); diff != "" {
			t.Errorf("deleted: -want, +got:\n%s", diff)
		}

		f.expect(t, "A kind that is not installed has no Workspaces.", kept)
	})

	install(t, cfg, namespacedCRD)
	t.Run("FilteredCache", func(t *testing.T) { t.Parallel(); testFilteredCache(t, newFixture(t, env)) })
	t.Run("Requests", func(t *testing.T) { t.Parallel(); testRequests(t, newFixture(t, env)) })
	t.Run("Forbidden", func(t *testing.T) { t.Parallel(); testForbidden(t, newFixture(t, env)) })
	t.Run("SecondPage", func(t *testing.T) { t.Parallel(); testSecondPage(t, env) })
	t.Run("CreatedMeanwhile", func(t *testing.T) { t.Parallel(); testCreatedMeanwhile(t, newFixture(t, env)) })
}

// The cache of the manager that the Collector runs in holds one shard. The volume
// holds the directories of all.
func testFilteredCache(t *testing.T, f *fixture) {
	t.Helper()

	s := runtime.NewScheme()
	if err := apis.AddToScheme(s); err != nil {
		t.Fatal(err)
	}

	id, err := shard.Parse("shard-0")
	if err != nil {
		t.Fatal(err)
	}

	byObject := map[client.Object]cache.ByObject{}
	for _, k := range workspace.Kinds() {
		byObject[k.Object] = cache.ByObject{Label: id.Selector()}
	}

	mgr, err := manager.New(f.cfg, manager.Options{
		Scheme:  s,
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{ByObject: byObject},
	})
	if err != nil {
		t.Fatal(err)
	}

	orphan := f.orphan(t)
	want := []string{}

	for _, gvk := range workspace.GroupVersionKinds() {
		want = append(want,
			f.workspace(t, gvk, "shard-0"),
			f.workspace(t, gvk, "shard-1"),
			f.workspace(t, gvk, ""),
			f.deleting(t, gvk, "shard-1"),
		)
	}

	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)

	go func() {
		stopped <- mgr.Start(ctx)
		close(stopped)
	}()

	defer func() {
		cancel()

		if err := <-stopped; err != nil {
			t.Error(err)
		}
	}()

	select {
	case <-mgr.Elected(): // That is, started: there is no election.
	case err := <-stopped:
		t.Fatal(err)
	}

	// What the test is about: there is a client at hand that sees one shard.
	for _, k := range workspace.Kinds() {
		if _, err := mgr.GetCache().GetInformer(ctx, k.Object); err != nil {
			t.Fatal(err)
		}

		list, _ := k.List.DeepCopyObject().(client.ObjectList)
		if err := mgr.GetClient().List(ctx, list); err != nil {
			t.Fatal(err)
		}

		items, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(list)
		if diff := cmp.Diff(1, len(items["items"].([]any))); diff != "" { //nolint:forcetypeassert // A list has items.
			t.Fatalf("Workspaces of %s in the cache: -want, +got:\n%s", k.GroupKind, diff)
		}
	}

	deleted, err := f.collect(t, mgr.GetAPIReader())
	if err != nil {
		t.Error(err)
	}

	if diff := cmp.Diff([]string{orphan}, deleted); diff != "" {
		t.Errorf("deleted: -want, +got:\n%s", diff)
	}

	f.expect(t, "Directories of other shards, of no shard, and of Workspaces that are being deleted are in use.", want...)
}

// What is asked for decides whether the answer is complete, and what it costs.
func testRequests(t *testing.T, f *fixture) {
	t.Helper()

	for range 3 {
		f.workspace(t, workspace.GroupVersionKinds()[0], "")
	}

	var (
		mu    sync.Mutex
		lists []*http.Request
	)

	reader := f.through(t, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/workspaces") {
			mu.Lock()
			defer mu.Unlock()

			lists = append(lists, r)
		}

		return next.RoundTrip(r)
	})

	f.orphan(t)

	if _, err := f.collect(t, reader); err != nil {
		t.Fatal(err)
	}

	if len(lists) < 4 {
		t.Errorf("there were %d requests: too few for three pages of one kind and one of the other", len(lists))
	}

	for _, r := range lists {
		q := r.URL.Query()
		if diff := cmp.Diff("1", q.Get("limit")); diff != "" {
			t.Errorf("%s: limit: -want, +got:\n%s", r.URL, diff)
		}

		for _, name := range []string{"resourceVersion", "resourceVersionMatch", "labelSelector", "fieldSelector"} {
			if q.Has(name) {
				t.Errorf("%s: %s makes the answer old or incomplete", r.URL, name)
			}
		}

		if accept := r.Header.Get("Accept"); !strings.Contains(accept, "as=PartialObjectMetadataList") {
			t.Errorf("%s: asks for more than metadata: %s", r.URL, accept)
		}
	}
}

// A user who may list one kind only is one whose Role was forgotten when the other
// kind came.
func testForbidden(t *testing.T, f *fixture) {
	t.Helper()

	kinds := workspace.GroupVersionKinds()
	want := []string{f.workspace(t, kinds[0], ""), f.workspace(t, kinds[1], ""), f.orphan(t)}
	reader := f.user(t, kinds[0].Group)

	deleted, err := f.collect(t, reader)
	if !kerrors.IsForbidden(errors.Cause(err)) {
		t.Errorf("want the refusal of the API server, got %v", err)
	}

	if diff := cmp.Diff([]string(nil), deleted); diff != "" {
		t.Errorf("deleted: -want, +got:\n%s", diff)
	}

	f.expect(t, "What may not be seen is not gone.", want...)
}

func testSecondPage(t *testing.T, env *envtest.Environment) {
	t.Helper()

	cases := map[string]struct {
		reason string
		answer func(r *http.Request, next http.RoundTripper) (*http.Response, error)
	}{
		"Gone": {
			reason: "The rest of a snapshot that is no longer there cannot be had.",
			answer: func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
				return status(r, http.StatusGone, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`), nil
			},
		},
		"ConnectionLost": {
			reason: "Nobody answered.",
			answer: func(_ *http.Request, _ http.RoundTripper) (*http.Response, error) {
				return nil, errors.New("connection lost")
			},
		},
		"CutOff": {
			reason: "The answer stops in the middle.",
			answer: func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
				return status(r, http.StatusOK, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[`), nil
			},
		},
		"Empty": {
			reason: "An answer without content is not one without Workspaces.",
			answer: func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
				return status(r, http.StatusOK, ``), nil
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFixture(t, env)
			want := []string{f.orphan(t)}

			for range 3 {
				want = append(want, f.workspace(t, workspace.GroupVersionKinds()[0], ""))
			}

			broken := false
			reader := f.through(t, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
				if !r.URL.Query().Has("continue") {
					return next.RoundTrip(r)
				}

				broken = true

				return tc.answer(r, next)
			})

			deleted, err := f.collect(t, reader)
			if err == nil || !broken {
				t.Errorf("%s\nasked for a second page: %t, error: %v", tc.reason, broken, err)
			}

			if diff := cmp.Diff([]string(nil), deleted); diff != "" {
				t.Errorf("%s\ndeleted: -want, +got:\n%s", tc.reason, diff)
			}

			f.expect(t, tc.reason, want...)
		})
	}
}

// A Workspace comes to life, and gets its directory, right after the first of the
// two steps of a round, whichever that is.
func testCreatedMeanwhile(t *testing.T, f *fixture) {
	t.Helper()

	var born string

	create := sync.OnceFunc(func() { born = f.workspace(t, workspace.GroupVersionKinds()[0], "") })
	f.dirs = hookedDirectories{Directories: f.dirs, after: create}

	f.orphan(t)

	if _, err := f.collect(t, hookedReader{Reader: f.live, after: create}); err != nil {
		t.Error(err)
	}

	f.expect(t, "A directory that is made during a round belongs to a Workspace that the round may not know.", born)
}

// A fixture is a volume, and Workspaces that have directories in it. All share an
// API server.
type fixture struct {
	env  *envtest.Environment
	cfg  *rest.Config
	live client.Client
	root *workdir.Root
	dirs Directories
}

func newFixture(t *testing.T, env *envtest.Environment) *fixture {
	t.Helper()

	live, err := client.New(env.Config, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}

	root, err := workdir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	return &fixture{env: env, cfg: env.Config, live: live, root: root, dirs: root}
}

// collect does one round, in pages of one Workspace each.
func (f *fixture) collect(t *testing.T, reader client.Reader) ([]string, error) {
	t.Helper()

	return New(f.dirs, reader, workspace.GroupVersionKinds(), time.Hour, WithPageSize(1)).Collect(t.Context())
}

// orphan makes a directory that no Workspace has.
func (f *fixture) orphan(t *testing.T) string {
	t.Helper()

	return f.directory(t, string(uuid.NewUUID()))
}

// workspace creates a Workspace, and its directory.
func (f *fixture) workspace(t *testing.T, gvk schema.GroupVersionKind, shardName string, finalizers ...string) string {
	t.Helper()

	return f.directory(t, string(f.create(t, gvk, shardName, finalizers...).GetUID()))
}

// deleting creates a Workspace that is being deleted, and its directory.
func (f *fixture) deleting(t *testing.T, gvk schema.GroupVersionKind, shardName string) string {
	t.Helper()

	ws := f.create(t, gvk, shardName, "example.org/in-use")
	if err := f.live.Delete(t.Context(), ws); err != nil {
		t.Fatal(err)
	}

	return f.directory(t, string(ws.GetUID()))
}

func (f *fixture) create(t *testing.T, gvk schema.GroupVersionKind, shardName string, finalizers ...string) client.Object {
	t.Helper()

	ws := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"forProvider": map[string]any{"source": "Inline", "module": ""},
	}}}
	ws.SetGroupVersionKind(gvk)
	ws.SetGenerateName("ws-")
	ws.SetFinalizers(finalizers)

	if shardName != "" {
		ws.SetLabels(map[string]string{shard.LabelKey: shardName})
	}

	if strings.Contains(gvk.Group, ".m.") {
		ws.SetNamespace(corev1.NamespaceDefault)
	}

	if err := f.live.Create(t.Context(), ws); err != nil {
		t.Fatal(err)
	}

	return ws
}

func (f *fixture) directory(t *testing.T, uid string) string {
	t.Helper()

	d, err := f.root.Dir(uid)
	if err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(filepath.Join(d.Path(), "terraform.tfstate"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}

	return uid
}

// expect that these directories, whole, and no others are there.
func (f *fixture) expect(t *testing.T, reason string, want ...string) {
	t.Helper()

	entries, err := os.ReadDir(f.root.Path())
	if err != nil {
		t.Fatal(err)
	}

	got := []string{}

	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(f.root.Path(), e.Name(), "terraform.tfstate")); err != nil {
			t.Error(err)
		}

		got = append(got, e.Name())
	}

	slices.Sort(want)

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\ndirectories: -want, +got:\n%s", reason, diff)
	}
}

// through returns a reader whose requests go through a function.
func (f *fixture) through(t *testing.T, fn func(r *http.Request, next http.RoundTripper) (*http.Response, error)) client.Reader {
	t.Helper()

	cfg := rest.CopyConfig(f.cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) { return fn(r, next) })
	})

	c, err := client.New(cfg, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// user returns a reader that may list the Workspaces of one group only.
func (f *fixture) user(t *testing.T, group string) client.Reader {
	t.Helper()

	const name = "reader-of-one-kind"

	user, err := f.env.AddUser(envtest.User{Name: name}, nil)
	if err != nil {
		t.Fatal(err)
	}

	for _, o := range []client.Object{
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Rules:      []rbacv1.PolicyRule{{APIGroups: []string{group}, Resources: []string{"workspaces"}, Verbs: []string{"list"}}},
		},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
		},
	} {
		if err := f.live.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}

	c, err := client.New(user.Config(), client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}

	// The authorizer learns of the binding a little later.
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1beta1", Kind: "WorkspaceList"})
		err := c.List(ctx, list)

		return err == nil, client.IgnoreNotFound(ignoreForbidden(err))
	})
	if err != nil {
		t.Fatal(err)
	}

	return c
}

func ignoreForbidden(err error) error {
	if kerrors.IsForbidden(err) {
		return nil
	}

	return err
}

// install a CRD and wait until it is served.
func install(t *testing.T, cfg *rest.Config, path string) {
	t.Helper()

	if _, err := envtest.InstallCRDs(cfg, envtest.CRDInstallOptions{Paths: []string{path}, ErrorIfPathMissing: true}); err != nil {
		t.Fatal(err)
	}
}

type roundTripper func(r *http.Request) (*http.Response, error)

func (rt roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return rt(r) }

// status returns an answer that the API server did not give.
func status(r *http.Request, code int, body string) *http.Response {
	return &http.Response{
		StatusCode: code,
		Header:     http.Header{"Content-Type": []string{"application/json"}},
		Body:       io.NopCloser(strings.NewReader(body)),
		Request:    r,
	}
}

// hookedDirectories do something after they were listed.
type hookedDirectories struct {
	Directories

	after func()
}

func (d hookedDirectories) List() ([]string, error) {
	defer d.after()

	return d.Directories.List()
}

// A hookedReader does something after each listing.
type hookedReader struct {
	client.Reader

	after func()
}

func (r hookedReader) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	err := r.Reader.List(ctx, list, o...)
	if list.GetContinue() == "" {
		r.after()
	}

	return err
}
