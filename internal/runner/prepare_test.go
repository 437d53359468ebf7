// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

func TestWithGitCredentials(t *testing.T) {
	t.Parallel()

	const helper = `store --file="$GIT_CRED_DIR/.git-credentials"`

	type want struct {
		Env []string
		Err error
	}

	cases := map[string]struct {
		reason string
		env    []string
		want   want
	}{
		"Plain": {
			reason: "Git uses these credentials and no others.",
			env:    []string{"A=b"},
			want: want{Env: []string{
				"A=b", "GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0=",
				"GIT_CONFIG_KEY_1=credential.helper", "GIT_CONFIG_VALUE_1=" + helper, "GIT_CONFIG_COUNT=2", "GIT_CRED_DIR=/tf/uid",
			}},
		},
		"Configured": {
			reason: "Other configuration stays, except the directory, which may be that of another Workspace.",
			env:    []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c", "GIT_CRED_DIR=/tmp"},
			want: want{Env: []string{
				"GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c", "GIT_CONFIG_KEY_1=credential.helper", "GIT_CONFIG_VALUE_1=",
				"GIT_CONFIG_KEY_2=credential.helper", "GIT_CONFIG_VALUE_2=" + helper, "GIT_CONFIG_COUNT=3", "GIT_CRED_DIR=/tf/uid",
			}},
		},
		"NotANumber": {
			reason: "A configuration that git would refuse is refused.",
			env:    []string{"GIT_CONFIG_COUNT=x"},
			want:   want{Err: cmpopts.AnyError},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := &Runner{Target: Target{Inputs: &Inputs{config: map[string]workdir.File{gitCredentialsFile: {Data: []byte("https://me@host")}}}}}

			var got want

			got.Env, got.Err = r.withGitCredentials(tc.env, "/tf/uid")
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nwithGitCredentials(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
