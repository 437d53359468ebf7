// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/apiserver"
)

// TestCriticalAnnotations records the end of a creation. A person has changed other
// annotations and the labels since it began, so that the Workspace has another version.
func TestCriticalAnnotations(t *testing.T) {
	t.Parallel()

	const at = "2026-01-02T03:04:05Z"

	cfg := apiserver.Start(t, "../../../package/crds/tf.upbound.io_workspaces.yaml")
	live := apiserver.Client(t, cfg)

	cases := map[string]struct {
		reason  string
		failing int
		made    bool
		fails   bool
		want    map[string]string
	}{
		"Changed": {
			reason: "Later changes of a person stay.",
			want:   map[string]string{"example.org/new": "1", meta.AnnotationKeyExternalName: "ws", meta.AnnotationKeyExternalCreateSucceeded: at},
		},
		"Repeated": {
			reason:  "A request is repeated after a short failure of the API server.",
			failing: 2,
			want:    map[string]string{"example.org/new": "1", meta.AnnotationKeyExternalName: "ws", meta.AnnotationKeyExternalCreateSucceeded: at},
		},
		"MadeAgain": {
			reason: "Nothing was created for a new Workspace of that name.",
			made:   true,
			fails:  true,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			failing := tc.failing
			u := &annotationUpdater{kube: apiserver.Client(t, apiserver.Through(cfg, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
				if r.Method == http.MethodPatch && failing > 0 {
					failing--

					return nil, errors.New("connection lost")
				}

				return next.RoundTrip(r)
			}))}

			ws := &clusterv1beta1.Workspace{ObjectMeta: metav1.ObjectMeta{GenerateName: "ws-", Annotations: map[string]string{meta.AnnotationKeyReconciliationPaused: "true"}}}
			ws.Spec.ForProvider.Source = commonv1beta1.ModuleSourceInline

			if err := live.Create(t.Context(), ws); err != nil {
				t.Fatal(err)
			}

			inFlight := ws.DeepCopy()
			meta.AddAnnotations(inFlight, map[string]string{meta.AnnotationKeyExternalName: "ws", meta.AnnotationKeyExternalCreateSucceeded: at})

			ws.SetAnnotations(map[string]string{"example.org/new": "1"})
			ws.SetLabels(map[string]string{"example.org/moved": "1"})

			if err := live.Update(t.Context(), ws); err != nil {
				t.Fatal(err)
			}

			if tc.made {
				inFlight.SetUID("another")
			}

			err := u.UpdateCriticalAnnotations(t.Context(), inFlight)
			if (err != nil) != tc.fails {
				t.Fatalf("%s\nUpdateCriticalAnnotations(...): want an error: %t, got %v", tc.reason, tc.fails, err)
			}

			if tc.fails {
				return
			}

			if err := live.Get(t.Context(), client.ObjectKeyFromObject(ws), ws); err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, ws.GetAnnotations()); diff != "" {
				t.Errorf("%s\nannotations: -want, +got:\n%s", tc.reason, diff)
			}

			// Later writes of the object must not restore anything either.
			if diff := cmp.Diff(ws, inFlight); diff != "" {
				t.Errorf("%s\nthe object in memory is not the one in the API server: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
