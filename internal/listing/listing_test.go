// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package listing

import (
	"context"
	"net/http"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// A pager answers with pages, the n-th of which may be an error.
type pager struct {
	client.Reader

	pages  [][]string
	fails  map[int]error
	asked  []client.ListOptions
	answer int

	// definitions are the names of the definitions of kinds. errDefinitions is the error of a list
	// of them.
	definitions    []string
	errDefinitions error
}

func (p *pager) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if l, ok := list.(*metav1.PartialObjectMetadataList); ok && l.Kind == "CustomResourceDefinitionList" {
		o := (&client.ListOptions{}).ApplyOptions(opts)
		for _, name := range p.definitions {
			if o.FieldSelector.Matches(fields.Set{metav1.ObjectNameField: name}) {
				l.Items = append(l.Items, metav1.PartialObjectMetadata{})
			}
		}

		return p.errDefinitions
	}

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

	errBoom := errors.New("boom")
	gvk := schema.GroupVersionKind{Group: "g", Version: "v", Kind: "K"}
	noMatch := &meta.NoKindMatchError{GroupKind: gvk.GroupKind()}
	notFound := kerrors.NewGenericServerResponse(http.StatusNotFound, http.MethodGet, schema.GroupResource{}, "", "", 0, true)

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
			asked:  []client.ListOptions{{Limit: metadataPage, Namespace: "ns"}},
		},
		"Pages": {
			reason: "The pages follow each other.",
			pager:  pager{pages: [][]string{{"a", "b"}, {"c"}}},
			ok:     true,
			want:   []string{"K a", "K b", "K c"},
			asked:  []client.ListOptions{{Limit: metadataPage, Namespace: "ns"}, {Limit: metadataPage, Continue: "1", Namespace: "ns"}},
		},
		"NoKind": {
			reason: "The kind does not exist.",
			pager:  pager{fails: map[int]error{0: noMatch}},
			asked:  []client.ListOptions{{Limit: metadataPage, Namespace: "ns"}},
		},
		"NoKindYet": {
			reason: "The kind is not served yet: its definition exists, so that there may be objects.",
			pager:  pager{fails: map[int]error{0: noMatch}, definitions: []string{"ks.g"}},
			err:    noMatch,
			asked:  []client.ListOptions{{Limit: metadataPage, Namespace: "ns"}},
		},
		"NoKindUnknown": {
			reason: "The instance may not see whether the kind has a definition.",
			pager:  pager{fails: map[int]error{0: noMatch}, errDefinitions: errBoom},
			err:    noMatch,
			asked:  []client.ListOptions{{Limit: metadataPage, Namespace: "ns"}},
		},
		"KindDeleted": {
			reason: "Its definition was deleted, after all objects.",
			pager:  pager{fails: map[int]error{0: notFound}, definitions: []string{"ks.other"}},
			asked:  []client.ListOptions{{Limit: metadataPage, Namespace: "ns"}},
		},
		"KindNotServed": {
			reason: "Its definition exists, so that there may be objects.",
			pager:  pager{fails: map[int]error{0: notFound}, definitions: []string{"ks.g"}},
			err:    notFound,
			asked:  []client.ListOptions{{Limit: metadataPage, Namespace: "ns"}},
		},
		"KindUnknown": {
			reason: "The instance may not see definitions.",
			pager:  pager{fails: map[int]error{0: notFound}, errDefinitions: errBoom},
			err:    notFound,
			asked:  []client.ListOptions{{Limit: metadataPage, Namespace: "ns"}},
		},
		"KindDeletedBetween": {
			reason: "A list that fails after some objects is neither complete nor empty.",
			pager:  pager{pages: [][]string{{"a"}, {}}, fails: map[int]error{1: notFound}},
			err:    notFound,
			want:   []string{"K a"},
			asked:  []client.ListOptions{{Limit: metadataPage, Namespace: "ns"}, {Limit: metadataPage, Continue: "1", Namespace: "ns"}},
		},
		"Ended": {
			reason: "The caller ends the list.",
			pager:  pager{pages: [][]string{{"a", "b"}, {"c"}}},
			fn:     errBoom,
			err:    errBoom,
			want:   []string{"K a"},
			asked:  []client.ListOptions{{Limit: metadataPage, Namespace: "ns"}},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got []string

			ok, err := Each(t.Context(), &tc.pager, gvk, func(o *metav1.PartialObjectMetadata) error {
				got = append(got, o.GroupVersionKind().Kind+" "+o.GetName())

				return tc.fn
			}, client.InNamespace("ns"))
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

// TestEachObject ensures that fewer of the large objects are in memory at a time.
func TestEachObject(t *testing.T) {
	t.Parallel()

	p := &pager{pages: [][]string{{"a"}, {"b"}}}
	n := 0

	_, err := EachObject(t.Context(), p, schema.GroupVersionKind{}, &metav1.PartialObjectMetadataList{}, func(client.Object) error {
		n++

		return nil
	})
	if err != nil || n != 2 {
		t.Fatalf("EachObject(...): want 2 objects, got %d, %v", n, err)
	}

	if diff := cmp.Diff([]client.ListOptions{{Limit: objectPage}, {Limit: objectPage, Continue: "1"}}, p.asked); diff != "" {
		t.Errorf("requests: -want, +got:\n%s", diff)
	}
}

// TestDeletedKind deletes the definition of a kind that the client has used, on a real API server.
func TestDeletedKind(t *testing.T) {
	t.Parallel()

	live := apiserver.Client(t, apiserver.Start(t, "../../package/crds/tf.upbound.io_workspaces.yaml"))
	gvk := clusterv1beta1.WorkspaceGroupVersionKind

	lists := map[string]func() (bool, error){
		"Each": func() (bool, error) {
			return Each(t.Context(), live, gvk, func(*metav1.PartialObjectMetadata) error { return nil })
		},
		"EachObject": func() (bool, error) {
			return EachObject(t.Context(), live, gvk, workspace.Kinds()[0].List, func(client.Object) error { return nil })
		},
	}

	for name, list := range lists {
		if ok, err := list(); !ok || err != nil {
			t.Fatalf("%s: want the kind to exist, got %t, %v", name, ok, err)
		}
	}

	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	crd.SetName("workspaces." + gvk.Group)

	if err := live.Delete(t.Context(), crd); err != nil {
		t.Fatal(err)
	}

	for name, list := range lists {
		err := wait.Until(t.Context(), wait.Patience, func() error {
			ok, err := list()
			if err == nil && ok {
				err = errors.New("the kind exists")
			}

			return err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
