// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// TestIdentify ensures that only an instance that asks for no Lease runs without a session when it lacks
// the right to one. Its options stay those that were validated.
func TestIdentify(t *testing.T) {
	t.Parallel()

	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}

	type want struct{ Has, Lacks bool }

	cases := map[string]struct {
		reason  string
		o       Options
		allowed bool
		want    want
	}{
		"Allowed":     {reason: "It has a session.", o: Options{HoldsLease: true, LeaseNamespace: "ns"}, allowed: true, want: want{Has: true}},
		"Denied":      {reason: "It runs without a session, as older versions did.", o: Options{HoldsLease: true, LeaseNamespace: "ns"}, want: want{Lacks: true}},
		"NoNamespace": {reason: "It runs outside of a cluster.", allowed: true},
		"NoElection":  {reason: "All replicas work. Their claims keep them apart.", o: Options{LeaderElection: new(false), LeaseNamespace: "ns"}, allowed: true, want: want{Has: true}},
		"Shard":       {reason: "A shard fails without its Lease.", o: Options{HoldsLease: true, Shard: shard.CatchAll(), LeaseNamespace: "ns"}, want: want{Has: true}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			kube := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
				Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
					if r, ok := o.(*authorizationv1.SelfSubjectAccessReview); ok {
						r.Status.Allowed = tc.allowed
					}

					return nil
				},
			}).Build()

			i := &instance{o: &tc.o, unlimited: kube, log: logging.NewNopLogger()}
			if err := i.identify(t.Context()); err != nil {
				t.Fatal(err)
			}

			if i.process != nil {
				t.Cleanup(i.process.Remove)
			}

			if diff := cmp.Diff(tc.want, want{Has: i.hasSession, Lacks: i.lacksLeaseRight}); diff != "" {
				t.Errorf("\n%s\nidentify(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCheckInit(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		pid     int
		o       Options
		refused bool
	}{
		"Init":         {reason: "A process behind an init process can be killed.", pid: 7, o: Options{Shard: shard.CatchAll()}},
		"Shard":        {reason: "A shard that cannot be killed is a danger to others.", pid: 1, o: Options{Shard: shard.CatchAll()}, refused: true},
		"Election":     {reason: "So is a replica.", pid: 1, o: Options{LeaderElection: new(true)}, refused: true},
		"Unattended":   {reason: "Custom images without an init process worked before.", pid: 1},
		"NoPreference": {reason: "An instance without a Lease needs no fence.", pid: 1, o: Options{LeaderElection: new(false)}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := checkInit(tc.pid, &tc.o, logging.NewNopLogger())
			if tc.refused != (err != nil) {
				t.Errorf("%s\ncheckInit(%d, ...): refused %t, got %v", tc.reason, tc.pid, tc.refused, err)
			}

			if err != nil && (!strings.Contains(err.Error(), "tini") || !strings.Contains(err.Error(), "shareProcessNamespace")) {
				t.Errorf("%s\nwant the error to name the remedy, got %v", tc.reason, err)
			}
		})
	}
}
