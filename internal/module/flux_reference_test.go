// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFluxReference(t *testing.T) {
	t.Parallel()

	git := fluxReference{"GitRepository", "gitrepositories", "ns", "name"}
	oci := fluxReference{"OCIRepository", "ocirepositories", "ns", "name"}
	bucket := fluxReference{"Bucket", "buckets", "my-ns", "a.b-c"}

	cases := map[string]struct {
		reason, module string
		want           fluxReference
		// err says that the reference is refused.
		err bool
	}{
		"Git":         {reason: "A GitRepository.", module: "GitRepository::ns/name", want: git},
		"GitLower":    {reason: "Case does not matter.", module: "gitrepository::ns/name", want: git},
		"OCI":         {reason: "An OCIRepository.", module: "ocirePOSITORY::ns/name", want: oci},
		"Bucket":      {reason: "A Bucket.", module: "BUCKET::my-ns/a.b-c", want: bucket},
		"Other":       {reason: "Other kinds are not supported.", module: "HelmRepository::ns/name", err: true},
		"NoKind":      {reason: "The kind is required.", module: "ns/name", err: true},
		"NoNamespace": {reason: "The namespace is required.", module: "Bucket::name", err: true},
		"EmptyNs":     {reason: "The namespace must not be empty.", module: "Bucket::/name", err: true},
		"EmptyName":   {reason: "The name must not be empty.", module: "Bucket::ns/", err: true},
		"More":        {reason: "There is no third part.", module: "Bucket::ns/name/sub", err: true},
		"Upper":       {reason: "Names are lower case.", module: "Bucket::NS/name", err: true},
		"Dots":        {reason: "Names are not paths.", module: "Bucket::../name", err: true},
		"Space":       {reason: "White space is not trimmed.", module: " Bucket::ns/name", err: true},
		"Newline":     {reason: "A line end is not trimmed.", module: "Bucket::ns/name\n", err: true},
		"OneColon":    {reason: "Two colons are required.", module: "Bucket:ns/name", err: true},
		"Empty":       {reason: "An empty reference is refused.", module: "", err: true},
		"Equivalent":  {reason: "Only ASCII letters are compared without case.", module: "Buc\u212Aet::ns/name", err: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := parseFluxReference(tc.module)
			if (err != nil) != tc.err {
				t.Errorf("%s\nparseFluxReference(%q): want error %t, got %v", tc.reason, tc.module, tc.err, err)
			}

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(fluxReference{})); diff != "" {
				t.Errorf("%s\nparseFluxReference(%q): -want, +got:\n%s", tc.reason, tc.module, diff)
			}
		})
	}
}

func FuzzParseFluxReference(f *testing.F) {
	for _, seed := range []string{"GitRepository::ns/name", "bucket::a.b/c-d", "Bucket::../x", "OCIRepository::ns/name/x", "", "::/", "Buc\u212Aet::ns/name"} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, module string) {
		ref, err := parseFluxReference(module)
		if err != nil {
			return
		}

		// There is only one spelling, except for the case of the kind.
		if got := ref.kind + "::" + ref.namespace + "/" + ref.name; !strings.EqualFold(got, module) || len(got) != len(module) {
			t.Errorf("parseFluxReference(%q): got %q", module, got)
		}

		if strings.ContainsAny(ref.namespace+ref.name, "/:% \n") || strings.Trim(ref.namespace, ".-") != ref.namespace || strings.Trim(ref.name, ".-") != ref.name {
			t.Errorf("parseFluxReference(%q): got namespace %q and name %q", module, ref.namespace, ref.name)
		}
	})
}
