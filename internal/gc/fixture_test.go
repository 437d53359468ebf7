// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// A fixture is a volume, and Workspaces with directories in it. All share an API server.
type fixture struct {
	env  *envtest.Environment
	live client.Client
	root *workdir.Root
	dirs Directories
}

func newFixture(t *testing.T, env *envtest.Environment) *fixture {
	t.Helper()

	root, err := workdir.Open(t.TempDir(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}

	return &fixture{env: env, live: apiserver.Client(t, env.Config), root: root, dirs: root}
}

// collect does one round, in pages of one Workspace each.
func (f *fixture) collect(t *testing.T, reader client.Reader) ([]string, error) {
	t.Helper()

	return New(f.dirs, smallPages{reader}, workspace.GroupVersionKinds(), time.Hour, logging.NewNopLogger(), &counts{}).Collect(t.Context())
}

// smallPages limits the pages of lists to one object.
type smallPages struct{ client.Reader }

func (r smallPages) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	return r.Reader.List(ctx, list, append(slices.Clone(o), client.Limit(1))...)
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

	ws := apiserver.Workspace(gvk, shardName)
	ws.SetFinalizers(finalizers)

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

	if err := os.WriteFile(filepath.Join(d.Path(), "terraform.tfstate"), []byte(`{"version":4,"resources":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}

	return uid
}

// expect exactly these directories, with all of their files.
func (f *fixture) expect(t *testing.T, reason string, want ...string) {
	t.Helper()

	entries, err := os.ReadDir(f.root.Path())
	if err != nil {
		t.Fatal(err)
	}

	got := []string{}

	for _, e := range entries {
		if e.Name() == ".records" {
			continue
		}

		if _, err := os.Stat(filepath.Join(f.root.Path(), e.Name(), "terraform.tfstate")); err != nil {
			t.Error(err)
		}

		got = append(got, e.Name())
	}

	slices.Sort(want)

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\ndirectories: -want, +got:\n%s", reason, diff)
	}

	records, _ := os.ReadDir(filepath.Join(f.root.Path(), ".records")) // Nothing else may be recorded.
	for _, e := range records {
		if !slices.Contains(got, e.Name()) {
			t.Errorf("%s\nwant no records about %s", reason, e.Name())
		}
	}
}

// through returns a reader whose requests go through a hook.
func (f *fixture) through(t *testing.T, hook apiserver.Hook) client.Reader {
	t.Helper()

	return apiserver.Client(t, apiserver.Through(f.env.Config, hook))
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

	c := apiserver.Client(t, user.Config())

	// The authorizer sees the binding a little later.
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1beta1", Kind: "WorkspaceList"})

	if err := wait.Until(t.Context(), wait.Patience, func() error { return c.List(t.Context(), list) }); err != nil {
		t.Fatal(err)
	}

	return c
}

// install a CRD and wait until it is served.
func install(t *testing.T, cfg *rest.Config, path string) {
	t.Helper()

	if _, err := envtest.InstallCRDs(cfg, envtest.CRDInstallOptions{Paths: []string{path}, ErrorIfPathMissing: true}); err != nil {
		t.Fatal(err)
	}
}
