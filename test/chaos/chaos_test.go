// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// TestChaos injects faults, waits until everything has settled, and judges the records.
func TestChaos(t *testing.T) {
	if err := shared.prepare(t.TempDir()); err != nil {
		t.Fatal(err)
	}

	// As a process in it names it: records are compared.
	dir, err := filepath.EvalSymlinks(t.ArtifactDir())
	if err != nil {
		t.Fatalf("cannot resolve directory: %v", err)
	}

	if err := os.MkdirAll(filepath.Join(dir, "locks"), 0o700); err != nil {
		t.Fatalf("cannot make directory: %v", err)
	}

	c, err := controlplane.Start(t.Context(), t.TempDir(), shared.assets, filepath.Join(shared.root, "package", "crds"), filepath.Join(dir, "controlplane.log"))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(c.Stop)

	kinds, err := parseClasses(shared.faults)
	if err != nil {
		t.Fatal(err)
	}

	j := newJournal(t.Output())
	e := newEvidence(c, dir, shared.seed)
	w := &workspaces{kube: c.Kube, dir: dir, ledger: filepath.Join(dir, "ledger"), journal: j, witness: e.witness, all: map[string]*wanted{}, fate: newFate()}

	if err := w.configure(t.Context(), e.canaries); err != nil {
		t.Fatalf("cannot configure Workspaces: %v", err)
	}

	stopWatching := e.collect(t, j)

	f, err := newFleet(&environment{dir: dir, api: c.Config(), namespace: namespace, journal: j, elastic: elastic(shared.seed)})
	if err != nil {
		t.Fatalf("cannot make instances: %v", err)
	}

	stopFleet := f.start(t)

	if err := wait.Until(t.Context(), wait.Patience, func() error { return f.ready(t.Context()) }); err != nil {
		t.Fatalf("instances are not ready: %v", err)
	}

	stopApproving := w.startApproving(t.Context())

	j.add(note{text: fmt.Sprintf("faults for %s with seed %d, all else in %s", shared.duration, shared.seed, dir)})

	r := &report{seed: shared.seed, elastic: elastic(shared.seed), lasted: shared.duration, clock: j.clock}
	x := &injector{cluster: c, fleet: f, workspaces: w, leases: &leaseKeeper{kube: c.Kube, namespace: namespace, journal: j, witness: e.witness}}
	x.inject(t, schedule(shared.seed, mix{
		lasts:      shared.duration,
		lease:      leaseDuration,
		renew:      renewDeadline,
		fenced:     leaseDuration - (leaseDuration-renewDeadline)/10,
		kinds:      kinds,
		instances:  f.byShard(),
		disk:       disk,
		workspaces: shared.workspaces,
	}))

	settle(t, j, f, w, r)

	missing := missingWorkdirs(t, f, w)

	// A lock that was left where there is nothing to apply is found by the next poll.
	_ = wait.Until(t.Context(), shared.patience, func() error {
		if n := len(heldLocks(t, c)); n > 0 {
			return fmt.Errorf("%d states are locked", n)
		}

		return nil
	})

	stopFleet()

	r.rules = append(r.rules, rule{name: "orphan locks", violations: heldLocks(t, c)})

	stopWatching()
	stopApproving()
	e.judge(t, r, f, w, missing)
	r.details(t.Output())
	r.figures(t.Output())

	if !r.ok() {
		t.Errorf("laws were broken: the same again is make chaos SEED=%d DURATION=%s FAULTS=%s", shared.seed, shared.duration, shared.faults)
	}
}

// settle waits until every Workspace is as expected, and reports those that never were.
func settle(t *testing.T, j *journal, f fleet, w *workspaces, r *report) {
	t.Helper()
	j.add(note{text: "no more faults"})

	start := time.Now()

	if err := w.mend(t.Context()); err != nil {
		t.Fatalf("cannot mend Workspaces: %v", err)
	}

	if err := wait.Until(t.Context(), wait.Patience, func() error { return f.ready(t.Context()) }); err != nil {
		t.Errorf("instances are not ready: %v", err)
	}

	var unready, doubled []violation

	_ = wait.Until(t.Context(), shared.patience, func() error {
		if unready, doubled = w.settled(t.Context()); len(unready)+len(doubled) == 0 {
			return nil
		}

		if err := w.decide(t.Context(), unready); err != nil {
			return err
		}

		// The interval is long, because reading all Workspaces is work for the API server.
		return errors.Join(errors.New("not settled"), wait.For(t.Context(), time.Second))
	})

	r.settled = time.Since(start)
	r.rules = append(r.rules, rule{name: "Workspaces not Ready", violations: unready}, rule{name: "states with two owners", violations: doubled})
}

// missingWorkdirs returns the workdirs that are not there although their Workspace is.
func missingWorkdirs(t *testing.T, f fleet, w *workspaces) []absence {
	t.Helper()

	var missing []absence

	for _, ws := range w.all {
		if ws.removed != 0 || ws.lost {
			continue
		}

		for _, root := range f.roots() {
			p := place{root: root, uid: ws.uid}
			if _, err := os.Stat(filepath.Join(p.root, p.uid)); err != nil {
				missing = append(missing, absence{place: p, time: time.Now().UnixNano()})
			}
		}
	}

	return missing
}

// heldLocks returns the locks of states that are held.
func heldLocks(t *testing.T, c *controlplane.ControlPlane) []violation {
	t.Helper()

	l := &coordinationv1.LeaseList{}
	if err := c.Kube.List(t.Context(), l, client.HasLabels{"tfstate"}); err != nil {
		t.Fatalf("cannot list Leases: %v", err)
	}

	var held []violation

	for _, lease := range l.Items {
		if h := lease.Spec.HolderIdentity; h != nil && *h != "" {
			held = append(held, violation{
				workspace: lease.GetLabels()["tfstateWorkspace"],
				time:      time.Now().UnixNano(),
				text:      fmt.Sprintf("the state %s/%s is locked by %q: %q", lease.GetNamespace(), lease.GetName(), *h, lease.GetAnnotations()),
			})
		}
	}

	return held
}
