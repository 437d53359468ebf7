// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/background"
	"github.com/crossplane-contrib/provider-terraform/test/chaos/record"
	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// namespace of the Leases, the states and the namespaced Workspaces.
const namespace = "chaos"

// TestChaos injects faults, lets everything settle, and judges what was written down.
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

	log, err := os.Create(filepath.Join(dir, "controlplane.log"))
	if err != nil {
		t.Fatalf("cannot create log: %v", err)
	}
	t.Cleanup(func() { log.Close() })

	c, err := controlplane.Start(t.Context(), t.TempDir(), shared.assets, filepath.Join(shared.root, "package", "crds"), log)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(c.Stop)
	j := newJournal(t.Output())
	w := &workspaces{kube: c.Kube, namespace: namespace, ledger: filepath.Join(dir, "ledger"), journal: j, all: map[string]*wanted{}}

	if err := w.configure(t.Context()); err != nil {
		t.Fatalf("cannot configure Workspaces: %v", err)
	}

	h := &historian{kube: c.Kube, namespace: namespace}
	stopWatching := background.Run(t, func(ctx context.Context) error { return watchRuns(ctx, dir) }, h.watch)

	f := newFleet(&environment{dir: dir, kubeconfig: c.Kubeconfig, namespace: namespace, journal: j})
	stopFleet := f.start(t)

	if err := wait.Until(t.Context(), wait.Patience, func() error { return f.ready(t.Context()) }); err != nil {
		t.Fatalf("instances are not ready: %v", err)
	}

	j.add(note{text: fmt.Sprintf("faults for %s with seed %d, all else in %s", shared.duration, shared.seed, dir)})

	r := &report{seed: shared.seed, lasted: shared.duration, clock: j.clock}
	inject(t, schedule(shared.seed, mix{lasts: shared.duration, lease: leaseDuration, instances: f.byShard(), workspaces: shared.workspaces}), c, f, w)

	unready := settle(t, j, f, w, r)
	missing := missingWorkdirs(t, dir, w)

	// A lock that was left where there is nothing to apply is found by the next poll.
	_ = wait.Until(t.Context(), wait.Patience, func() error {
		if n := len(heldLocks(t, c)); n > 0 {
			return fmt.Errorf("%d states are locked", n)
		}

		return nil
	})

	stopFleet()

	locks := heldLocks(t, c)

	stopWatching()
	judge(t, r, dir, j, w, h, unready, locks, missing)
	r.details(t.Output())
	r.figures(t.Output())

	if !r.ok() {
		t.Errorf("laws were broken: the same again is make chaos SEED=%d DURATION=%s", shared.seed, shared.duration)
	}
}

// inject does what the faults say, and waits until all that went away is back.
func inject(t *testing.T, faults []fault, c *controlplane.ControlPlane, f fleet, w *workspaces) {
	t.Helper()

	var wg sync.WaitGroup

	start := time.Now()

	for _, fault := range faults {
		if err := wait.For(t.Context(), time.Until(start.Add(fault.after))); err != nil {
			t.Fatal(err)
		}

		var do func() error

		switch fault.kind {
		case kill, terminate, pause:
			do = func() error { return f[fault.subject].disturb(t.Context(), fault) }
		case restart:
			do = func() error {
				w.journal.add(note{kind: restart, text: fault.String()})
				defer w.journal.add(note{text: back})

				return c.Restart(t.Context(), fault.takes)
			}
		default:
			// In order: what happens to a Workspace depends on what happened before.
			if err := w.do(t.Context(), fault); err != nil {
				t.Fatalf("cannot %s: %v", fault, err)
			}

			continue
		}

		wg.Go(func() {
			if err := do(); err != nil {
				t.Errorf("cannot %s: %v", fault, err)
			}
		})
	}

	wg.Wait()
}

// settle waits until everything is as it should be, and returns what never was.
func settle(t *testing.T, j *journal, f fleet, w *workspaces, r *report) []violation {
	t.Helper()
	j.add(note{text: "no more faults"})

	start := time.Now()

	if err := wait.Until(t.Context(), wait.Patience, func() error { return f.ready(t.Context()) }); err != nil {
		t.Errorf("instances are not ready: %v", err)
	}

	var unready []violation

	_ = wait.Until(t.Context(), wait.Patience, func() error {
		if unready = w.settled(t.Context()); len(unready) > 0 {
			return errors.New("not settled")
		}

		return nil
	})

	r.settled = time.Since(start)

	return unready
}

// missingWorkdirs returns the workdirs that are not there although their Workspace is.
func missingWorkdirs(t *testing.T, dir string, w *workspaces) []place {
	t.Helper()

	var missing []place

	for _, ws := range w.all {
		if ws.removed != 0 {
			continue
		}

		for _, root := range []string{"common", "own"} {
			p := place{root: filepath.Join(dir, root), uid: string(ws.GetUID())}
			if _, err := os.Stat(filepath.Join(p.root, p.uid)); err != nil {
				missing = append(missing, p)
			}
		}
	}

	return missing
}

// heldLocks returns the locks of states that are held.
func heldLocks(t *testing.T, c *controlplane.ControlPlane) []violation {
	t.Helper()

	l := &coordinationv1.LeaseList{}
	if err := c.Kube.List(t.Context(), l, client.InNamespace(namespace)); err != nil {
		t.Fatalf("cannot list Leases: %v", err)
	}

	var held []violation

	for _, lease := range l.Items {
		name, ok := strings.CutPrefix(lease.GetName(), "lock-tfstate-")
		if h := lease.Spec.HolderIdentity; ok && h != nil && *h != "" {
			held = append(held, violation{
				workspace: strings.TrimSuffix(name, "-"+secretSuffix),
				time:      time.Now().UnixNano(),
				text:      fmt.Sprintf("the state is locked by %q: %q", *h, lease.GetAnnotations()),
			})
		}
	}

	return held
}

// judge reads what was written down and completes the report.
func judge(t *testing.T, r *report, dir string, j *journal, w *workspaces, h *historian, unready, locks []violation, missing []place) {
	t.Helper()

	events, err := record.Read(filepath.Join(dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}

	ledger, err := readLedger(filepath.Join(dir, "ledger"))
	if err != nil {
		t.Fatal(err)
	}

	names, removed := w.names()
	r.runs = readRuns(events, names)
	r.resources = resources(ledger, h.versions)
	r.notes = j.all()
	r.rules = []rule{
		{name: "overlapping runs", violations: overlaps(r.runs, r.clock)},
		{name: "resources created twice", violations: createdTwice(r.resources, r.runs, r.clock)},
		{name: "resources not in the state", violations: unsaved(r.resources, r.runs, killed(r.notes), ended(r.notes), outages(r.notes), r.clock)},
		{name: "lost states", violations: lost(r.resources, h.versions)},
		{name: "deleted workdirs in use", violations: deletedWorkdirs(r.runs, removed, missing, r.clock)},
		{name: "orphan locks", violations: locks},
		{name: "Workspaces not Ready", violations: unready},
	}
}
