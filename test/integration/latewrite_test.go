// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A lateWrite is the first write of a state by an apply. It stays on its way until it is delivered,
// also after the death of the process that sent it.
type lateWrite struct {
	once    sync.Once
	sent    chan struct{}
	request *http.Request
	body    []byte
}

// hold keeps the first write of a state, and answers no write of a state.
func (l *lateWrite) hold(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if !writesState(r) {
		next.ServeHTTP(w, r)

		return
	}

	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}

	l.once.Do(func() {
		l.request, l.body = r.Clone(context.WithoutCancel(r.Context())), body
		close(l.sent)
	})

	<-r.Context().Done()
}

// deliver sends the write to the API server and returns the status code of the answer.
func (l *lateWrite) deliver(next http.Handler) int {
	l.request.Body = io.NopCloser(bytes.NewReader(l.body))
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, l.request)

	return answer.Code
}

func writesState(r *http.Request) bool {
	return r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/secrets/tfstate-") && !strings.Contains(r.URL.Path, "/secrets/tfstate-default-")
}

// TestLateWrite kills an instance whose apply has sent its state. The state arrives when the next
// instance has planned and applied, and is about to write its own.
func TestLateWrite(t *testing.T) {
	t.Parallel()

	const suffix = "late-write"

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")

	late := &lateWrite{sent: make(chan struct{})}
	p := startProxy(t, c, transparent)
	a := startInstance(t, c, withShard(shard), withShortLease(), withKubeconfig(p.kubeconfig), withCLIKubeconfig(p.kubeconfig))

	cfg := c.createConfig(t, namespacedScope, ns, withBackend(ns, suffix))
	ws, e := c.createGated(t, namespacedScope, ns, inShard(shard), withConfig(cfg))

	// The plan has made an empty state. The apply writes the next one.
	p.become(late.hold)
	e.write(t, "gate", "")
	<-late.sent
	a.kill(t)

	var once sync.Once

	delivered := make(chan int, 1)
	p2 := startProxy(t, c, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if writesState(r) {
			once.Do(func() { delivered <- late.deliver(next) })
		}

		next.ServeHTTP(w, r)
	})
	startInstance(t, c, withShard(shard), withShortLease(), withRoot(a.root), withKubeconfig(p2.kubeconfig), withCLIKubeconfig(p2.kubeconfig))

	if code := <-delivered; code != http.StatusConflict {
		t.Errorf("the API server answered %d to the late write of the dead process, want %d", code, http.StatusConflict)
	}

	expectEvent(t, c, ws, "RemovedOrphanLock")
	expectReady(t, c, ws)
	expectUnlocked(t, c, ws, ns, suffix)
}
