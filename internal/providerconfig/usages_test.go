// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	namespacedv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/namespaced/v1beta1"
)

const (
	ofNamespace = namespacedv1beta1.ProviderConfigKind
	ofCluster   = namespacedv1beta1.ClusterProviderConfigKind
)

// newUsage returns a usage of the ProviderConfig of the supplied kind, none for that of
// the cluster scoped group.
func newUsage(namespace, name, kind, config string) *metav1.PartialObjectMetadata {
	u := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace:       namespace,
		Name:            name,
		Labels:          map[string]string{xpv2.LabelKeyProviderName: config},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Workspace", Name: name, Controller: new(true)}},
	}}
	if kind != "" {
		u.Labels[xpv2.LabelKeyProviderKind] = kind
	}

	return u
}

func stale(u *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	u.OwnerReferences[0].Controller = nil

	return u
}

// newTestUsages returns usages of which nothing is known. They add to told whom they
// tell of.
func newTestUsages(t *testing.T, told map[Ref]bool) (*Usages, *usageStore) {
	t.Helper()

	u := NewUsages(nil)[namespacedv1beta1.ProviderConfigUsageGroupVersionKind]
	for _, kind := range []string{ofNamespace, ofCluster} {
		u.Subscribe(kind, func(n types.NamespacedName) { told[Ref{Kind: kind, NamespacedName: n}] = true })
	}

	return u, &usageStore{u}
}

func TestUsages(t *testing.T) {
	t.Parallel()

	shared := Ref{Kind: ofCluster, NamespacedName: types.NamespacedName{Name: "default"}}
	own := Ref{Kind: ofNamespace, NamespacedName: types.NamespacedName{Namespace: "a", Name: "default"}}
	others := Ref{Kind: ofNamespace, NamespacedName: types.NamespacedName{Namespace: "b", Name: "default"}}
	legacy := Ref{Kind: ofNamespace, NamespacedName: types.NamespacedName{Name: "default"}}

	cases := map[string]struct {
		reason string
		before func(s *usageStore) error
		do     func(s *usageStore) error
		want   map[Ref]int64
		stale  map[Ref]int
		told   []Ref
	}{
		"None": {
			reason: "Nothing is known, and nobody is told.",
			do:     func(*usageStore) error { return nil },
		},
		"Added": {
			reason: "A usage counts for the ProviderConfig of its kind and namespace.",
			do:     func(s *usageStore) error { return s.Add(newUsage("a", "1", ofNamespace, "default")) },
			want:   map[Ref]int64{own: 1},
			told:   []Ref{own},
		},
		"Cluster": {
			reason: "Usages of a ClusterProviderConfig come from all namespaces.",
			before: func(s *usageStore) error { return s.Add(newUsage("a", "1", ofCluster, "default")) },
			do:     func(s *usageStore) error { return s.Add(newUsage("b", "1", ofCluster, "default")) },
			want:   map[Ref]int64{shared: 2},
			told:   []Ref{shared},
		},
		"Legacy": {
			reason: "Usages of the cluster scoped group have neither a kind nor a namespace.",
			do:     func(s *usageStore) error { return s.Add(newUsage("", "1", "", "default")) },
			want:   map[Ref]int64{legacy: 1},
			told:   []Ref{legacy},
		},
		"SameAgain": {
			reason: "A usage counts once, and what did not change is not told.",
			before: func(s *usageStore) error { return s.Add(newUsage("a", "1", ofNamespace, "default")) },
			do:     func(s *usageStore) error { return s.Update(newUsage("a", "1", ofNamespace, "default")) },
			want:   map[Ref]int64{own: 1},
		},
		"Moved": {
			reason: "A usage that is of another ProviderConfig now counts there, and both are told.",
			before: func(s *usageStore) error { return s.Add(newUsage("a", "1", ofNamespace, "default")) },
			do:     func(s *usageStore) error { return s.Update(newUsage("a", "1", ofCluster, "default")) },
			want:   map[Ref]int64{shared: 1},
			told:   []Ref{shared, own},
		},
		"Deleted": {
			reason: "A usage that is gone does not count.",
			before: func(s *usageStore) error {
				return errors.Join(
					s.Add(newUsage("a", "1", ofNamespace, "default")),
					s.Add(newUsage("a", "2", ofNamespace, "default")),
				)
			},
			do:   func(s *usageStore) error { return s.Delete(newUsage("a", "2", ofNamespace, "default")) },
			want: map[Ref]int64{own: 1},
			told: []Ref{own},
		},
		"DeletedTwice": {
			reason: "A usage goes once.",
			before: func(s *usageStore) error {
				return errors.Join(
					s.Add(newUsage("a", "1", ofNamespace, "default")),
					s.Add(newUsage("a", "2", ofNamespace, "default")),
					s.Delete(newUsage("a", "2", ofNamespace, "default")),
				)
			},
			do:   func(s *usageStore) error { return s.Delete(newUsage("a", "2", ofNamespace, "default")) },
			want: map[Ref]int64{own: 1},
		},
		"Namesakes": {
			reason: "Usages of one name in two namespaces are two.",
			before: func(s *usageStore) error {
				return errors.Join(
					s.Add(newUsage("a", "1", ofCluster, "default")),
					s.Add(newUsage("b", "1", ofNamespace, "default")),
				)
			},
			do:   func(s *usageStore) error { return s.Delete(newUsage("a", "1", ofCluster, "default")) },
			want: map[Ref]int64{others: 1},
			told: []Ref{shared},
		},
		"Replaced": {
			reason: "After a new list only what is on it counts. Those that lost their last user are told as well.",
			before: func(s *usageStore) error {
				return errors.Join(
					s.Add(newUsage("a", "1", ofNamespace, "default")),
					s.Add(newUsage("b", "2", ofCluster, "default")),
				)
			},
			do: func(s *usageStore) error {
				return s.Replace([]any{newUsage("b", "2", ofCluster, "default"), newUsage("b", "3", ofCluster, "default")}, "1")
			},
			want: map[Ref]int64{shared: 2},
			told: []Ref{shared, own},
		},
		"Stale": {
			reason: "A usage without a controller does not count, but there is something to do.",
			do:     func(s *usageStore) error { return s.Add(stale(newUsage("a", "1", ofNamespace, "default"))) },
			want:   map[Ref]int64{own: 0},
			stale:  map[Ref]int{own: 1},
			told:   []Ref{own},
		},
		"StaleDeleted": {
			reason: "Nothing is left of it.",
			before: func(s *usageStore) error { return s.Add(stale(newUsage("a", "1", ofNamespace, "default"))) },
			do:     func(s *usageStore) error { return s.Delete(newUsage("a", "1", ofNamespace, "default")) },
			told:   []Ref{own},
		},
		"LostController": {
			reason: "A usage that counted is stale now.",
			before: func(s *usageStore) error { return s.Add(newUsage("a", "1", ofNamespace, "default")) },
			do:     func(s *usageStore) error { return s.Update(stale(newUsage("a", "1", ofNamespace, "default"))) },
			want:   map[Ref]int64{own: 0},
			stale:  map[Ref]int{own: 1},
			told:   []Ref{own},
		},
		"FoundController": {
			reason: "A usage that was stale counts now.",
			before: func(s *usageStore) error { return s.Add(stale(newUsage("a", "1", ofNamespace, "default"))) },
			do:     func(s *usageStore) error { return s.Update(newUsage("a", "1", ofNamespace, "default")) },
			want:   map[Ref]int64{own: 1},
			told:   []Ref{own},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			told := map[Ref]bool{}

			u, s := newTestUsages(t, told)
			if tc.before != nil {
				if err := tc.before(s); err != nil {
					t.Fatal(err)
				}
			}

			clear(told)

			if err := tc.do(s); err != nil {
				t.Fatal(err)
			}

			have, nobodys := map[Ref]int64{}, map[Ref]int{}
			for ref := range u.index.configs {
				have[ref] = u.Count(ref)

				if n := len(u.Stale(ref)); n > 0 {
					nobodys[ref] = n
				}
			}

			if diff := cmp.Diff(tc.want, have, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nusers: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.stale, nobodys, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nstale: -want, +got:\n%s", tc.reason, diff)
			}

			byName := cmpopts.SortSlices(func(a, b Ref) bool { return fmt.Sprint(a) < fmt.Sprint(b) })
			if diff := cmp.Diff(tc.told, slices.Collect(maps.Keys(told)), byName, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\ntold: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUsagesAtRandom compares with a count that is made anew after each event.
func TestUsagesAtRandom(t *testing.T) {
	t.Parallel()

	const seeds, events = 20, 200

	for seed := range uint64(seeds) {
		random := rand.New(rand.NewPCG(seed, seed))
		u, s := newTestUsages(t, map[Ref]bool{})
		there := map[types.NamespacedName]*metav1.PartialObjectMetadata{}

		usage := func() *metav1.PartialObjectMetadata {
			kind := []string{ofNamespace, ofCluster}[random.IntN(2)]

			o := newUsage(fmt.Sprint("ns-", random.IntN(2)), strconv.Itoa(random.IntN(6)), kind, fmt.Sprint("config-", random.IntN(2)))
			if random.IntN(4) == 0 {
				return stale(o)
			}

			return o
		}

		for n := range events {
			o := usage()
			key := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}

			var err error

			switch random.IntN(8) {
			case 0:
				clear(there)

				there[key] = o
				err = s.Replace([]any{o}, "")
			case 1, 2, 3:
				delete(there, key)

				err = s.Delete(o)
			default:
				there[key] = o
				err = s.Update(o)
			}

			if err != nil {
				t.Fatal(err)
			}

			want, have := map[Ref]int64{}, map[Ref]int64{}

			for _, o := range there {
				if metav1.GetControllerOf(o) != nil {
					want[refOf(o)]++
				}
			}

			for ref := range u.index.configs {
				if c := u.Count(ref); c != 0 {
					have[ref] = c
				}
			}

			if diff := cmp.Diff(want, have); diff != "" {
				t.Fatalf("seed %d, after %d events: -want, +got:\n%s", seed, n+1, diff)
			}

			known := 0
			for _, c := range u.index.configs {
				known += len(c.counted) + len(c.stale)
			}

			if diff := cmp.Diff(len(there), known); diff != "" {
				t.Fatalf("seed %d, after %d events: usages: -want, +got:\n%s", seed, n+1, diff)
			}
		}
	}
}
