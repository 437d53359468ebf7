// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/shard/session"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A singleCache has one Workspace, or none.
type singleCache struct {
	*informertest.FakeInformers

	ws *clusterv1beta1.Workspace
}

func (c singleCache) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if c.ws == nil {
		return kerrors.NewNotFound(schema.GroupResource{}, "a")
	}

	if ws, ok := o.(*clusterv1beta1.Workspace); ok {
		c.ws.DeepCopyInto(ws)
	}

	return nil
}

// A cacheManager is a manager with a cache and nothing else.
type cacheManager struct {
	manager.Manager

	cache cache.Cache
}

func (m cacheManager) GetCache() cache.Cache { return m.cache }

// A listedCache has Workspaces of one kind.
type listedCache struct {
	cache.Cache

	items []clusterv1beta1.Workspace
	err   error
}

func (c listedCache) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if l, ok := list.(*clusterv1beta1.WorkspaceList); ok {
		l.Items = c.items
	}

	return c.err
}

// TestClaimed ensures that the sessions that claims name are known, or that it is known that they are not.
func TestClaimed(t *testing.T) {
	t.Parallel()

	ws := clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{UID: "uid"}}
	ws.SetOwnership(commonv1beta1.Ownership{UID: "uid", Claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "session", Holder: "host_1"}})

	with := func(c cache.Cache) *instance {
		i := &instance{mgr: cacheManager{cache: c}}
		i.setups.kinds = workspace.GroupVersionKinds()

		return i
	}

	got, err := with(listedCache{items: []clusterv1beta1.Workspace{ws, {}}}).claimed(t.Context())
	if diff := cmp.Diff(true, got[client.ObjectKey{Namespace: "ns", Name: "session"}]); diff != "" || err != nil {
		t.Errorf("claimed(...): -want, +got:\n%s\n%v", diff, err)
	}

	if _, err := with(listedCache{err: errors.New("boom")}).claimed(t.Context()); err == nil {
		t.Error("claimed(...): want an error from a cache that cannot be listed")
	}
}

// TestIsServed ensures that an instance may be working on a Workspace if it has claimed it and its session
// has not ended. This is true on its host only.
func TestIsServed(t *testing.T) {
	t.Parallel()

	const other = "pod-1_other"

	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}

	lease := func(name, holder string) *coordinationv1.Lease {
		l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
		l.Spec = coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: new(int32(60)), LeaseTransitions: new(int32)}

		if holder == "" {
			l.SetAnnotations(map[string]string{shard.ReleasedAnnotationKey: other})
		}

		return l
	}

	cases := map[string]struct {
		reason string
		claim  *commonv1beta1.Claim
		host   string
		want   bool
	}{
		"Alive":     {reason: "It may have locked the state.", claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "live", Holder: other}, host: "pod-1", want: true},
		"OtherHost": {reason: "It is on another host.", claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "live", Holder: other}, host: "pod-2"},
		"Dead":      {reason: "Its session has ended.", claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "dead", Holder: other}, host: "pod-1"},
		"Unknown":   {reason: "It may be alive: its Lease was deleted.", claim: &commonv1beta1.Claim{Namespace: "ns", Lease: "gone", Holder: other}, host: "pod-1", want: true},
		"NoClaim":   {reason: "No instance has claimed it.", host: "pod-1"},
	}

	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			t.Parallel()

			kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(lease("live", other), lease("dead", "")).Build()
			timing := session.Timing{Duration: time.Minute, RenewDeadline: 40 * time.Second, RetryPeriod: 5 * time.Second}
			i := &instance{sessions: session.NewObserver(kube, "ns", timing, logging.NewNopLogger())}

			ws := &namespacedv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{UID: "a"}}
			ws.SetOwnership(commonv1beta1.Ownership{Claim: tc.claim})

			if got := i.isServed(t.Context(), ws, tc.host); got != tc.want {
				t.Errorf("\n%s\nisServed(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
