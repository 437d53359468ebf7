// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// started starts the instance without the right, before the supplied story.
func started(s story, opts ...instanceOption) story {
	return func(t *testing.T, d *deprived) {
		t.Helper()
		d.takeAway(t)
		d.start(t, opts...)
		s(t, d)
	}
}

// withoutStreams makes the caches of the instance list, as they do with API servers before
// Kubernetes 1.34. With later ones they only watch, unless that is refused.
func withoutStreams() instanceOption { return withEnv("KUBE_FEATURE_WatchListClient", "false") }

// unready cannot list some kinds. The instance is not ready until it can.
func unready(t *testing.T, d *deprived) {
	t.Helper()
	d.takeAway(t)
	d.launch(t, withoutStreams())
	d.expectNotReady(t, "caches", "a right is missing", "cannot list resource")
	d.expectLogged(t)

	d.giveBack(t)
	expectServing(t, d.i, "/readyz")
	d.expectServes(t)
}

// unwatched cannot watch some kinds. The instance lists them again and again.
func unwatched(t *testing.T, d *deprived) {
	t.Helper()
	d.takeAway(t)
	d.start(t)
	d.expectLogged(t)

	d.giveBack(t)
	d.expectServes(t)
}

// unwatchedSecrets cannot watch Secrets, which it reads when they are first needed.
func unwatchedSecrets(t *testing.T, d *deprived) {
	t.Helper()
	d.takeAway(t)
	d.start(t)

	ws, e := d.create(t, secretVariable)
	expectReady(t, d.c, ws)
	d.expectLogged(t)
	expectDone(t, e, "created")
}

// ungated cannot see the CRDs. It starts all controllers at once, and never looks again.
func ungated(t *testing.T, d *deprived) {
	t.Helper()
	d.takeAway(t)
	d.start(t)
	d.expectLogged(t, "Starting all controllers at once")
	d.expectServes(t)
}

// leaseless cannot get or create its Lease. It does nothing until it can.
func leaseless(texts ...string) story {
	return func(t *testing.T, d *deprived) {
		t.Helper()
		d.takeAway(t)
		d.launch(t)
		d.expectNotReady(t, "lease", append(texts, "cannot get Lease")...)
		d.expectLogged(t)

		d.giveBack(t)
		expectServing(t, d.i, "/readyz")
		d.expectServes(t)
	}
}

// unrenewed cannot renew its session. It runs nothing, and goes on when it can.
func unrenewed(t *testing.T, d *deprived) {
	t.Helper()
	// A busy machine may be late with a renewal by seconds.
	d.start(t, withArgs("--lease-duration=12s", "--lease-renew-deadline=8s"))
	expectLeaseHeld(t, d.c, leaseNamespace, leaseName+"-"+d.shard)

	d.takeAway(t)

	d.expectLogged(t, "Failed to renew lease", "Cannot renew the session")

	d.giveBack(t)
	d.expectServes(t)
}

// unobserved cannot list the Leases of other instances.
func unobserved(t *testing.T, d *deprived) {
	t.Helper()
	d.takeAway(t)
	d.start(t)
	d.expectLogged(t, "Cannot list the Leases of other instances")
	d.expectServes(t)
}

// expectNotReady waits until the named check of the instance fails with the supplied texts.
func (d *deprived) expectNotReady(t *testing.T, check string, texts ...string) {
	t.Helper()
	eventually(t, func() error {
		code, body, err := d.i.get(t, d.i.probes, "/readyz/"+check)
		if err != nil {
			return err
		}

		if code == http.StatusOK || !containsAll(body, texts) {
			return errors.Errorf("want /readyz/%s to fail with %q, got %d: %s", check, texts, code, body)
		}

		return nil
	})
}
