// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestUnwrittenStatus lets the write of the status after an update fail. The Workspace was Ready before, so
// that its conditions do not change. No later plan succeeds. So only the observation that was not written
// can show what was applied.
func TestUnwrittenStatus(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	p := startProxy(t, c, transparent)
	// The next poll comes long after the retry of the write.
	i := startInstance(t, c, withShard(shard), withPoll(30*time.Second), withKubeconfig(p.kubeconfig), withCLIKubeconfig(p.kubeconfig))

	e := newEvidence(t)
	e.write(t, "world", "old")

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, "unwritten"))
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "drift.tf", e))
	expectReady(t, c, ws)

	refused := make(chan struct{}, 100)

	p.become(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/workspaces/"+ws.GetName()+"/status") {
			next.ServeHTTP(w, r)

			return
		}

		refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)

		select {
		case refused <- struct{}{}:
		default:
		}
	})

	e.write(t, "world", "new")
	expectRuns(t, i, ws, "init", "plan", "apply", "plan", "apply")
	<-refused // the write before the apply
	<-refused

	if err := os.Remove(filepath.Join(string(e), "world")); err != nil {
		t.Fatal(err)
	}

	p.become(transparent)
	expectOutputs(t, c, ws, map[string]string{"world": `"new"`})
}
