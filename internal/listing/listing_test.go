// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package listing

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A pager answers with pages, the n-th of which may be an error.
type pager struct {
	client.Reader

	pages  [][]string
	fails  map[int]error
	asked  []client.ListOptions
	answer int
}

func (p *pager) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	n := p.answer
	p.answer++
	p.asked = append(p.asked, *(&client.ListOptions{}).ApplyOptions(opts))

	if err := p.fails[n]; err != nil {
		return err
	}

	page, ok := list.(*metav1.PartialObjectMetadataList)
	if !ok {
		return errors.Errorf("asked for %T, which is more than metadata", list)
	}

	for _, name := range p.pages[n] {
		page.Items = append(page.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}

	if n+1 < len(p.pages) {
		page.Continue = strconv.Itoa(n + 1)
	}

	return nil
}

func TestEach(t *testing.T) {
	t.Parallel()

	const size = 2

	errBoom := errors.New("boom")
	gvk := schema.GroupVersionKind{Group: "g", Version: "v", Kind: "K"}
	noMatch := &meta.NoKindMatchError{GroupKind: gvk.GroupKind()}

	cases := map[string]struct {
		reason string
		pager  pager
		fn     error
		ok     bool
		err    error
		want   []string
		asked  []client.ListOptions
	}{
		"None": {
			reason: "A kind without objects exists.",
			pager:  pager{pages: [][]string{{}}},
			ok:     true,
			asked:  []client.ListOptions{{Limit: size}},
		},
		"Pages": {
			reason: "The pages follow each other.",
			pager:  pager{pages: [][]string{{"a", "b"}, {"c"}}},
			ok:     true,
			want:   []string{"K a", "K b", "K c"},
			asked:  []client.ListOptions{{Limit: size}, {Limit: size, Continue: "1"}},
		},
		"NoKind": {
			reason: "The kind does not exist.",
			pager:  pager{fails: map[int]error{0: noMatch}},
			asked:  []client.ListOptions{{Limit: size}},
		},
		"KindGoes": {
			reason: "A kind that is removed during the list is an error: some of its objects were seen.",
			pager:  pager{pages: [][]string{{"a"}, {}}, fails: map[int]error{1: noMatch}},
			err:    noMatch,
			want:   []string{"K a"},
			asked:  []client.ListOptions{{Limit: size}, {Limit: size, Continue: "1"}},
		},
		"Fails": {
			reason: "A failed list is not an empty one.",
			pager:  pager{pages: [][]string{{"a"}, {}}, fails: map[int]error{1: errBoom}},
			err:    errBoom,
			want:   []string{"K a"},
			asked:  []client.ListOptions{{Limit: size}, {Limit: size, Continue: "1"}},
		},
		"Ended": {
			reason: "The caller ends the list.",
			pager:  pager{pages: [][]string{{"a", "b"}, {"c"}}},
			fn:     errBoom,
			err:    errBoom,
			want:   []string{"K a"},
			asked:  []client.ListOptions{{Limit: size}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got []string

			ok, err := Each(t.Context(), &tc.pager, gvk, size, func(o *metav1.PartialObjectMetadata) error {
				got = append(got, o.GroupVersionKind().Kind+" "+o.GetName())

				return tc.fn
			})
			if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("\n%s\nEach(...): -want error, +got error:\n%s", tc.reason, diff)
			}

			if ok != tc.ok {
				t.Errorf("\n%s\nEach(...): want %t, got %t", tc.reason, tc.ok, ok)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nobjects: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.asked, tc.pager.asked); diff != "" {
				t.Errorf("\n%s\nrequests: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestEachPassesOptions(t *testing.T) {
	t.Parallel()

	p := &pager{pages: [][]string{{}}}
	if _, err := Each(t.Context(), p, schema.GroupVersionKind{}, 1, nil, client.InNamespace("ns")); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]client.ListOptions{{Limit: 1, Namespace: "ns"}}, p.asked); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
}
