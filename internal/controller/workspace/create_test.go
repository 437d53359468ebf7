// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/apis"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/redact"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/statelock"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// TestUnrecordedCreation has an API server that does not record that a creation begins. Nothing
// is created: the test has no CLI that could do it. An earlier creation began on the same disk.
func TestUnrecordedCreation(t *testing.T) {
	t.Parallel()

	s := runtime.NewScheme()
	if err := apis.AddToScheme(s); err != nil {
		t.Fatal(err)
	}

	const uid = "00000000-0000-0000-0000-000000000000"

	ws := newConflictingWorkspace(uid, time.Now())
	earlier := &metav1.Time{Time: time.Now().Add(-time.Hour).Truncate(time.Second)}
	ws.SetOwnership(commonv1beta1.Ownership{UID: uid, CreationStarted: earlier})

	boom := errors.New("boom")
	kube := fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(ws).WithObjects(ws).WithInterceptorFuncs(interceptor.Funcs{
		SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
			return boom
		},
	}).Build()

	r := &fakeRunner{record: &runner.RunRecord{CreationStarted: earlier}}
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
	status, disk := recorded.GetOwnership().CreationStarted, r.record.CreationStarted
	if !status.Equal(earlier) || !earlier.Before(disk) {
		t.Errorf("want the creation on the disk only, got %s in the status, %s on the disk", status, disk)
	}

	// Several attempts in a row may fail in this way.
	if _, err := e.Create(t.Context(), recorded); err == nil {
		t.Error("want the creation to fail")
	}

	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(ws), recorded); err != nil {
		t.Fatal(err)
	}

	if here, err := e.beganHere(recorded); err != nil || !here {
		t.Errorf("want the earlier creation to have begun on this disk, got %t and error %v", here, err)
	}
}
