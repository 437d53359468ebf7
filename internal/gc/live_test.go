// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
	"github.com/crossplane-contrib/provider-terraform/test/background"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

const (
	clusterCRD    = "../../package/crds/tf.upbound.io_workspaces.yaml"
	namespacedCRD = "../../package/crds/tf.m.upbound.io_workspaces.yaml"
)

// TestLive collects on a real API server and real directories.
func TestLive(t *testing.T) {
	t.Parallel()

	env := apiserver.Environment(t)
	kinds := workspace.GroupVersionKinds()

	// The order matters: an installed kind of Workspaces stays.
	t.Run("NoKind", func(t *testing.T) {
		f := newFixture(t, env)
		orphan := f.orphan(t)

		_, err := f.collect(t, f.live)
		if err == nil {
			t.Error("an API server that knows of no kind of Workspace was asked for all of them, and there was no error")
		}

		f.expect(t, "Without any kind of Workspace, no Workspace is known to be deleted.", orphan)
	})

	install(t, env.Config, clusterCRD)
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

	install(t, env.Config, namespacedCRD)
	t.Run("FilteredCache", func(t *testing.T) { t.Parallel(); testFilteredCache(t, newFixture(t, env)) })
	t.Run("Requests", func(t *testing.T) { t.Parallel(); testRequests(t, newFixture(t, env)) })
	t.Run("Forbidden", func(t *testing.T) { t.Parallel(); testForbidden(t, newFixture(t, env)) })
	t.Run("SecondPage", func(t *testing.T) { t.Parallel(); testSecondPage(t, env) })
	t.Run("CreatedMeanwhile", func(t *testing.T) { t.Parallel(); testCreatedMeanwhile(t, newFixture(t, env)) })
}

// testFilteredCache has a manager whose cache contains one shard. The volume has the directories
// of all shards.
func testFilteredCache(t *testing.T, f *fixture) {
	t.Helper()

	id, err := shard.Parse("shard-0")
	if err != nil {
		t.Fatal(err)
	}

	byObject := map[client.Object]cache.ByObject{}
	for _, k := range workspace.Kinds() {
		byObject[k.Object] = cache.ByObject{Label: id.Selector()}
	}

	mgr, err := manager.New(f.env.Config, manager.Options{
		Scheme:  f.live.Scheme(),
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

	background.Run(t, mgr.Start)

	// The client of the cache sees one shard only.
	for _, k := range workspace.Kinds() {
		list, _ := k.List.DeepCopyObject().(client.ObjectList)

		if err := wait.Until(t.Context(), wait.Patience, func() error { return mgr.GetClient().List(t.Context(), list) }); err != nil {
			t.Fatal(err)
		}

		items, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(list)
		if diff := cmp.Diff(1, len(items["items"].([]any))); diff != "" { //nolint:forcetypeassert // A list has items.
			t.Fatalf("Workspaces of %s in the cache: -want, +got:\n%s", k.GroupKind(), diff)
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

// testForbidden has a user who may list only one kind, as with a Role that was not extended for a
// new kind.
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

	f.expect(t, "Workspaces that cannot be listed are not deleted.", want...)
}

// testCreatedMeanwhile creates a Workspace and its directory right after the first of the two
// steps of a round, whichever that is.
func testCreatedMeanwhile(t *testing.T, f *fixture) {
	t.Helper()

	var born string

	create := sync.OnceFunc(func() { born = f.workspace(t, workspace.GroupVersionKinds()[0], "") })
	f.dirs = hookedDirectories{Directories: f.dirs, after: create}

	f.orphan(t)

	if _, err := f.collect(t, hookedReader{Reader: f.live, after: create}); err != nil {
		t.Error(err)
	}

	f.expect(t, "A directory that is made during a round may belong to a Workspace that the round does not know.", born)
}

// hookedDirectories call a function after they were listed.
type hookedDirectories struct {
	Directories

	after func()
}

func (d hookedDirectories) List() ([]string, error) {
	defer d.after()

	return d.Directories.List()
}

// A hookedReader calls a function after each list.
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
