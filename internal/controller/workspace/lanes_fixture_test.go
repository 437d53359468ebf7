// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-terraform/internal/queue"
)

func requestOf(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
}

// A laneFixture is a controller with lanes. The Workspace "a-1!" is urgent and
// belongs to tenant a.
type laneFixture struct {
	lanes *lanes

	// called are those that were called, in their order.
	called []string

	// working are the lanes of those that are being reconciled.
	working map[string]*lane
}

func newLaneFixture(n int) *laneFixture {
	f := &laneFixture{working: map[string]*lane{}}
	w := newTestWatch(newMemory())
	f.lanes = newLanes(n, w)
	f.lanes.waiting = queue.NewFairQueue(func(r reconcile.Request) queue.Class {
		tenant, rest, _ := strings.Cut(r.Name, "-")
		c := queue.Class{Tenant: tenant}

		if strings.HasSuffix(rest, "!") {
			c.Priority = queue.Urgent
		}

		return c
	})
	f.lanes.call = func(r reconcile.Request) { f.called = append(f.called, r.Name) }

	return f
}

// begin a reconcile, and say whether it may apply.
func (f *laneFixture) begin(name string) bool {
	f.working[name] = f.lanes.arrive(requestOf(name))

	return f.working[name].enter()
}

// look begins a reconcile that has nothing to apply.
func (f *laneFixture) look(name string) { f.working[name] = f.lanes.arrive(requestOf(name)) }

func (f *laneFixture) end(name string) {
	f.lanes.leave(f.working[name])
	delete(f.working, name)
}

// fill all lanes, and let others wait.
func (f *laneFixture) fill(working []string, waiting ...string) {
	for _, name := range working {
		f.begin(name)
	}

	for _, name := range waiting {
		f.begin(name)
		f.end(name)
	}
}
