// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// A proxyBench is a proxy to a server that counts requests.
type proxyBench struct {
	proxy   *proxy
	address string
	arrived atomic.Int64
}

func newProxyBench(t *testing.T) *proxyBench {
	t.Helper()

	b := &proxyBench{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.arrived.Add(1)

		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s", r.Method, body)

		// A watch continues until the client ends it.
		if r.URL.Path == "/watch" {
			_ = http.NewResponseController(w).Flush()

			<-r.Context().Done()
		}
	}))
	t.Cleanup(s.Close)

	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")

	var err error
	if b.proxy, err = startProxy(s.URL, http.DefaultTransport, kubeconfig); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := b.proxy.stop(); err != nil {
			t.Error(err)
		}
	})

	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}

	b.address = cfg.Host

	return b
}

// answer to a request, which ends with the context.
type answer struct {
	text string
	err  error
}

// send a request. The answer comes later.
func (b *proxyBench) send(ctx context.Context, method, agent string) <-chan answer {
	c := make(chan answer, 1)

	go func() {
		req, err := http.NewRequestWithContext(ctx, method, b.address+"/object", strings.NewReader("body"))
		if err != nil {
			c <- answer{err: err}

			return
		}

		req.Header.Set("User-Agent", agent)

		rsp, err := http.DefaultClient.Do(req)
		if err != nil {
			c <- answer{err: err}

			return
		}
		defer rsp.Body.Close()

		text, err := io.ReadAll(rsp.Body)
		c <- answer{text: string(text), err: err}
	}()

	return c
}

func (b *proxyBench) arrives(t *testing.T, n int64) {
	t.Helper()

	if err := wait.UntilTrue(t.Context(), fmt.Sprintf("%d requests arrived", n), func() bool { return b.arrived.Load() == n }); err != nil {
		t.Fatal(err)
	}
}

// expectMet waits until something has met trouble.
func expectMet(t *testing.T, what string, n *atomic.Int64) {
	t.Helper()

	if err := wait.UntilTrue(t.Context(), what, func() bool { return n.Load() > 0 }); err != nil {
		t.Fatal(err)
	}
}

func TestProxy(t *testing.T) {
	t.Parallel()

	const provider, cli = "crossplane-terraform-provider/v1", "OpenTofu/1.12.6"

	cases := map[string]struct {
		reason  string
		trouble *trouble
		agent   string

		// before says that the request arrives during the trouble, after that it arrives
		// at the end of the trouble, and answered that the client gets the answer.
		before, after, answered bool
	}{
		"None":        {reason: "Without trouble all data passes.", before: true, answered: true},
		"Delay":       {reason: "A slow network delivers everything.", trouble: &trouble{kind: delay}, before: true, answered: true},
		"Hang":        {reason: "Delayed data arrives late.", trouble: &trouble{kind: hang}, after: true, answered: true},
		"HangDrop":    {reason: "Or never.", trouble: &trouble{kind: hang, drop: true}},
		"OneWay":      {reason: "Only the answer hangs.", trouble: &trouble{kind: oneWay}, before: true, answered: true},
		"OneWayDrop":  {reason: "Dropped data never arrives.", trouble: &trouble{kind: oneWay, drop: true}, before: true},
		"Refuse":      {reason: "A connection that breaks delivers nothing.", trouble: &trouble{kind: refuse}},
		"SpareCLI":    {reason: "The CLI has no trouble.", trouble: &trouble{kind: hang, spareCLI: true}, agent: cli, before: true, answered: true},
		"NotSparing":  {reason: "The CLI has trouble, too.", trouble: &trouble{kind: hang}, agent: cli, after: true, answered: true},
		"NotProvider": {reason: "The provider has trouble although the CLI has not.", trouble: &trouble{kind: hang, spareCLI: true}, after: true, answered: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newProxyBench(t)
			over := func() {}

			if tc.trouble != nil {
				over = b.proxy.suffer(*tc.trouble)
			}

			agent := provider
			if tc.agent != "" {
				agent = tc.agent
			}

			got := b.send(t.Context(), http.MethodPut, agent)

			switch {
			// The trouble must not end before the answer has met it.
			case tc.trouble != nil && tc.trouble.kind == oneWay:
				expectMet(t, "the answer is there", &b.proxy.held)
			case tc.before:
				b.arrives(t, 1)
			default:
				expectMet(t, "the request is there", &b.proxy.met)
			}

			over()

			if tc.after {
				b.arrives(t, 1)
			}

			a := <-got
			if ok := a.err == nil && a.text == "PUT body"; ok != tc.answered {
				t.Errorf("%s\nanswer: %q, error %v, want an answer: %t", tc.reason, a.text, a.err, tc.answered)
			}

			if n := b.arrived.Load(); (n == 1) != (tc.before || tc.after) {
				t.Errorf("%s\n%d requests arrived", tc.reason, n)
			}
		})
	}
}

// TestProxyLate shows that a write request arrives although the client has given up.
func TestProxyLate(t *testing.T) {
	t.Parallel()

	b := newProxyBench(t)
	over := b.proxy.suffer(trouble{kind: hang})
	ctx, cancel := context.WithCancel(t.Context())

	defer cancel()

	late := b.send(ctx, http.MethodPut, "")

	if err := wait.UntilTrue(t.Context(), "the request is there", func() bool { return b.proxy.met.Load() == 1 }); err != nil {
		t.Fatal(err)
	}

	cancel()

	if a := <-late; a.err == nil {
		t.Errorf("there is an answer: %q", a.text)
	}

	over()
	b.arrives(t, 1)
}

// TestProxyWatch shows that trouble ends the streams there are.
func TestProxyWatch(t *testing.T) {
	t.Parallel()

	b := newProxyBench(t)

	rsp, err := http.Get(b.address + "/watch")
	if err != nil {
		t.Fatal(err)
	}
	defer rsp.Body.Close()

	first := make([]byte, 3)
	if _, err := io.ReadFull(rsp.Body, first); err != nil {
		t.Fatalf("the first event does not come: %v", err)
	}

	defer b.proxy.suffer(trouble{kind: refuse})()

	if _, err := io.ReadAll(rsp.Body); err == nil {
		t.Errorf("the watch ends as if it was complete")
	}
}

func TestIsRenewal(t *testing.T) {
	t.Parallel()

	request := func(method, path string) *http.Request { return httptest.NewRequest(method, path, nil) }
	body := []byte("\x0acrossplane-leader-election-provider-terraform-a")

	cases := map[string]struct {
		reason string
		r      *http.Request
		body   []byte
		want   bool
	}{
		"Update": {reason: "A renewal is an update.", r: request(http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/x/leases/y"), body: body, want: true},
		"Create": {reason: "The first one creates the Lease.", r: request(http.MethodPost, "/apis/coordination.k8s.io/v1/namespaces/x/leases"), body: body, want: true},
		"Read":   {reason: "To read it renews nothing.", r: request(http.MethodGet, "/apis/coordination.k8s.io/v1/namespaces/x/leases/y"), body: body},
		"Claim":  {reason: "A claim names a Lease, too.", r: request(http.MethodPut, "/apis/tf.upbound.io/v1beta1/workspaces/y/status"), body: body},
		"Lock":   {reason: "The lock of a state is another Lease.", r: request(http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/x/leases/lock"), body: []byte("lock-tfstate-a")},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := isRenewal(tc.r, tc.body); got != tc.want {
				t.Errorf("%s\nisRenewal(...): got %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}
