// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A look is what the last successful run told about a Workspace.
type look struct {
	// inputs is the digest of everything that asks for another run when it changes. It
	// must not leave the memory: see external.
	inputs string

	// at is when the run ended.
	at time.Time

	// exists says that there is something in the state, or nothing to put there.
	exists bool

	// gone says that there is no Terraform workspace either, because it was deleted.
	gone bool

	// source is the address that the module was fetched from.
	source string

	// upToDate says that the state and the module agree.
	upToDate bool

	// told says that this is not what a run told, but what the status of the
	// Workspace tells of the last one, of an instance before this one.
	told bool

	// locked says that the state was locked when it was looked at. Who held the lock may
	// turn out to be dead.
	locked bool

	// summary of what there is to do, nil if nothing.
	summary *commonv1beta1.PlanSummary

	// outputs in the state, sensitive ones included.
	outputs map[string]terraform.Output

	// created is the lineage of a state that was made by the first apply of the Workspace.
	created string

	// state is what to remember of it.
	state *commonv1beta1.StateSummary
}

// settles says that as long as nothing changes there is nothing to do until the next look
// is due: all is as it should be, or may not be changed.
func (l look) settles(ws workspace.Workspace) bool {
	return l.upToDate || l.exists && !mayUpdate(ws)
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
