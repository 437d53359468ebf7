// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

func TestOf(t *testing.T) {
	t.Parallel()

	type want struct {
		Claim Claim
		Host  string
	}

	cases := map[string]struct {
		reason string
		value  string
		want   want
	}{
		"Claim": {
			reason: "What this product writes.",
			value:  "ns/lease-a/host-0_5ad8/uid",
			want:   want{Claim: Claim{Namespace: "ns", Lease: "lease-a", Holder: "host-0_5ad8"}, Host: "host-0"},
		},
		"UnderscoreInHost": {
			reason: "The random part comes last.",
			value:  "ns/lease-a/host_0_5ad8/uid",
			want:   want{Claim: Claim{Namespace: "ns", Lease: "lease-a", Holder: "host_0_5ad8"}, Host: "host_0"},
		},
		"NoHost": {
			reason: "An identity of another form names no host.",
			value:  "ns/lease-a/somebody/uid",
			want:   want{Claim: Claim{Namespace: "ns", Lease: "lease-a", Holder: "somebody"}},
		},
		"Copied": {
			reason: "Whom it names has claimed another Workspace.",
			value:  "ns/lease-a/host-0_5ad8/another",
		},
		"Empty": {
			reason: "Nobody has claimed it.",
		},
		"NoSlash": {
			reason: "Something that a person wrote is nobody's claim.",
			value:  "lease-a",
		},
		"NoLease": {
			reason: "Nobody could tell whether its holder is alive.",
			value:  "ns//host-0_5ad8/uid",
		},
		"NoHolder": {
			reason: "A Lease without a holder is nobody's.",
			value:  "ns/lease-a//uid",
		},
		"TooMuch": {
			reason: "Nobody writes that.",
			value:  "ns/lease-a/host-0_5ad8/uid/uid",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := Of(&metav1.ObjectMeta{UID: "uid", Annotations: map[string]string{shard.ClaimAnnotationKey: tc.value}})
			if diff := cmp.Diff(tc.want, want{Claim: c, Host: c.Host()}); diff != "" {
				t.Errorf("%s\nOf(...) of %q: -want, +got:\n%s", tc.reason, tc.value, diff)
			}
		})
	}
}

// A claim is either nobody's or comes back from what is written of it: who writes
// one recognizes it as its own.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "/", "a", "a/", "/b", "a/b", "a/b/c", "a/b/c/d", "a/b/c_0/d", "a/b/c/d/e"} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, value string) {
		c, uid := parse(value)

		want := value
		if c == (Claim{}) {
			want = ""
		}

		if diff := cmp.Diff(want, c.On(uid)); diff != "" {
			t.Errorf("parse(%q), On(...): -want, +got:\n%s", value, diff)
		}

		if (c == Claim{}) != (c.Namespace == "" || c.Lease == "" || c.Holder == "" || uid == "") {
			t.Errorf("parse(%q): %+v names half of an instance", value, c)
		}
	})
}
