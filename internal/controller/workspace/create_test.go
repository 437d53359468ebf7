// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/apis"
	"github.com/crossplane-contrib/provider-terraform/internal/redact"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// TestUnrecordedCreation has an API server that does not record that a creation begins. Nothing
// is created: the test has no CLI that could do it.
func TestUnrecordedCreation(t *testing.T) {
	t.Parallel()

	s := runtime.NewScheme()
	if err := apis.AddToScheme(s); err != nil {
		t.Fatal(err)
	}

	const uid = "00000000-0000-0000-0000-000000000000"

	ws := newConflictingWorkspace(uid, time.Now())

	boom := errors.New("boom")
	kube := fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(ws).WithObjects(ws).WithInterceptorFuncs(interceptor.Funcs{
		SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
			return boom
		},
	}).Build()

	r := &fakeRunner{}
	policy := schedule.Policy{Interval: time.Minute}
	e := &external{
		shared: shared{
			kube:    kube,
			policy:  policy,
			records: schedule.NewRecords(policy, time.Now),
			log:     logging.NewNopLogger(),
			locks:   statelock.Detector{Predecessors: func(client.Object) statelock.Predecessors { return statelock.Predecessors{} }},
		},
		now:     time.Now,
		runner:  r,
		secrets: redact.New(),
		stop:    t.Context(),
		plan:    &terraform.Plan{Changes: true},
		prior:   &terraform.State{},
	}

	if _, err := e.Create(t.Context(), ws); err == nil {
		t.Error("want the creation to fail")
	}

	recorded := newConflictingWorkspace(uid, time.Now())
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(ws), recorded); err != nil {
		t.Fatal(err)
	}

	// A disk that records a creation which has not begun is harmless. The reverse would block the
	// creation.
	if diff := cmp.Diff([]bool{false, true}, []bool{workspace.HasBegun(recorded), r.record != nil && r.record.CreationStarted != nil}); diff != "" {
		t.Errorf("whether creation has begun, in the status and on the disk: -want, +got:\n%s", diff)
	}
}
