// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"errors"
	"testing"
)

// TestExplain has addresses that go-getter takes for others.
func TestExplain(t *testing.T) {
	t.Parallel()

	const subgroup = "x. If the repository is in a subgroup, write git::https://gitlab.com/GROUP/SUBGROUP/REPOSITORY.git"

	cases := map[string]struct {
		address string
		err     string
		want    string
	}{
		"Subgroup":      {address: "gitlab.com/group/subgroup/repo.git//vpc?ref=v1", err: "x", want: subgroup},
		"Deep":          {address: "gitlab.com/group/a/b/repo", err: "x", want: subgroup},
		"Group":         {address: "gitlab.com/group/repo//vpc/eu?ref=a/b", err: "x", want: "x"},
		"Forced":        {address: "git::https://gitlab.com/group/subgroup/repo.git", err: "x", want: "x"},
		"HostAsScheme":  {address: "github.com:org/repo.git", err: "download not supported for scheme 'github.com'", want: "download not supported for scheme 'github.com'. For git, write git@HOST:PATH"},
		"HelperOfGit":   {address: "codecommit::eu-central-1://repo", err: "download not supported for scheme 'codecommit'", want: "download not supported for scheme 'codecommit'"},
		"UnknownScheme": {address: "tfr:///a/b/c", err: "download not supported for scheme 'tfr'", want: "download not supported for scheme 'tfr'. To use a module of a registry, call it from an inline module"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := explain(errors.New(tc.err), tc.address); got.Error() != tc.want { //nolint:err113 // It is a test.
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}
