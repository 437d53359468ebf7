// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// A look is what the last successful run told about a Workspace.
type look struct {
	// inputs is the digest of everything that the run depended on.
	inputs string

	// at is when the run ended.
	at time.Time

	// exists says that there is something in the state, or nothing to put there.
	exists bool

	// source is the address that the module was fetched from.
	source string

	// upToDate says that the state and the module agree.
	upToDate bool

	// summary of what there is to do, nil if nothing.
	summary *commonv1beta1.PlanSummary

	// outputs in the state, sensitive ones included.
	outputs map[string]terraform.Output

	// state is what to remember of it.
	state *commonv1beta1.StateSummary
}

// A memory keeps the last look at each Workspace, so that a reconcile that comes
// before the next one is due costs no run. It is safe for concurrent use.
type memory struct {
	mu    sync.Mutex
	looks map[types.UID]look
}

func newMemory() *memory { return &memory{looks: map[types.UID]look{}} }

func (m *memory) recall(uid types.UID) (look, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()

	l, ok := m.looks[uid]

	return l, ok
}

func (m *memory) keep(uid types.UID, l look) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.looks[uid] = l
}

func (m *memory) forget(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()

	delete(m.looks, uid)
}

// handler returns an event handler that queues nothing and forgets Workspaces that
// leave the cache or enter it. One that was relabelled away and back was somebody
// else's meanwhile, and what is remembered of it is not to be trusted.
func (m *memory) handler() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			m.forget(e.Object.GetUID())
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			m.forget(e.Object.GetUID())
		},
	}
}
