// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const kubeconfig = `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://localhost:1"}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`

func TestNewConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}

	t.Setenv("KUBECONFIG", file)

	type limits struct {
		QPS   float32
		Burst int
	}

	cases := map[string]struct {
		reason  string
		workers int
		want    limits
	}{
		"One":  {reason: "The limits for one worker allow the requests of a creation.", workers: 1, want: limits{QPS: 20, Burst: 40}},
		"Many": {reason: "Each worker adds to the limits.", workers: 10, want: limits{QPS: 200, Burst: 400}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := newConfig(&Options{MaxReconcileRate: tc.workers})
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, limits{QPS: c.QPS, Burst: c.Burst}); diff != "" {
				t.Errorf("\n%s\nnewConfig(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
