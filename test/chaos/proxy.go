// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A trouble is a fault of the network between an instance and the API server.
type trouble struct {
	kind kind

	// drop says that delayed data is discarded. Otherwise it arrives at the end of the
	// trouble, with any delay.
	drop bool

	// spareCLI says that only the provider is affected: the CLI reaches its backend, as it
	// does when that is not the API server.
	spareCLI bool

	// over is closed at the end.
	over chan struct{}
}

// A proxy stands between one instance and the API server.
//
// It handles whole requests: a delayed request is read to its end, and arrives later
// although the client has given up on it. A network that only delays bytes rarely does
// that, but load balancers and gateways do.
type proxy struct {
	server *http.Server
	next   http.RoundTripper
	target *url.URL

	// renewed is the time when this instance last wrote the Lease of an instance, in
	// nanoseconds since 1970. It shows which one of several replicas is the leader.
	renewed atomic.Int64

	// met counts the requests that found trouble.
	met atomic.Int64

	// held counts the parts of answers that have met a trouble.
	held atomic.Int64

	mu      sync.Mutex
	trouble *trouble
	cancels map[int]context.CancelFunc
	serial  int
}

// startProxy starts a proxy to the API server at the supplied address, and writes a
// kubeconfig for its clients. The transport has the credentials. The caller has to stop
// the proxy.
func startProxy(address string, next http.RoundTripper, kubeconfig string) (*proxy, error) {
	target, err := url.Parse(address)
	if err != nil {
		return nil, errors.Wrap(err, "cannot parse address of API server")
	}

	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // It does not wait for anything.
	if err != nil {
		return nil, errors.Wrap(err, "cannot listen")
	}

	p := &proxy{next: next, target: target, cancels: map[int]context.CancelFunc{}}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}

	// It returns when the server is closed.
	go func() { _ = p.server.Serve(l) }()

	const text = `apiVersion: v1
kind: Config
clusters: [{name: proxy, cluster: {server: "http://%s"}}]
contexts: [{name: proxy, context: {cluster: proxy}}]
current-context: proxy
`

	return p, errors.Wrap(os.WriteFile(kubeconfig, fmt.Appendf(nil, text, l.Addr()), 0o600), "cannot write kubeconfig")
}

func (p *proxy) stop() error { return p.server.Close() }

// suffer has the supplied trouble until the returned function is called. A trouble that
// there is already ends at once.
func (p *proxy) suffer(t trouble) func() {
	t.over = make(chan struct{})

	p.mu.Lock()
	defer p.mu.Unlock()

	if p.trouble != nil {
		close(p.trouble.over)
	}

	p.trouble = &t

	if t.kind == refuse {
		for _, cancel := range p.cancels {
			cancel()
		}
	}

	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()

		if p.trouble == &t {
			p.trouble = nil

			close(t.over)
		}
	}
}

// now returns the trouble that affects a request at the moment, nil if there is none.
func (p *proxy) now(r *http.Request) *trouble {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.trouble != nil && p.trouble.spareCLI && isCLI(r) {
		return nil
	}

	return p.trouble
}

// isCLI says whether a request comes from the backend of the CLI.
func isCLI(r *http.Request) bool {
	agent := r.UserAgent()

	return strings.Contains(agent, "OpenTofu") || strings.Contains(agent, "Terraform/") || strings.Contains(agent, "HashiCorp")
}

// begin makes a context for a request, that ends when the connection is to break.
func (p *proxy) begin(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)

	p.mu.Lock()
	defer p.mu.Unlock()

	p.serial++
	n := p.serial
	p.cancels[n] = cancel

	return ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()

		delete(p.cancels, n)
		cancel()
	}
}

// latest is how long a request may take for which no client waits any more.
const latest = time.Minute

// ServeHTTP passes a request on, and its answer back.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, end := p.begin(r.Context())
	defer end()

	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}

	// A request that changes something arrives although the client has given up.
	sending := ctx

	if r.Method != http.MethodGet {
		var cancel context.CancelFunc

		sending, cancel = context.WithTimeout(context.WithoutCancel(ctx), latest)
		defer cancel()
	}

	if !p.admit(sending, r) {
		panic(http.ErrAbortHandler)
	}

	rsp, err := p.send(sending, r, body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer rsp.Body.Close() //nolint:errcheck // Unread data is not needed.

	if rsp.StatusCode < http.StatusMultipleChoices && isRenewal(r, body) {
		p.renewed.Store(time.Now().UnixNano())
	}

	p.answer(ctx, w, r, rsp)
}

// admit waits until a request may be sent. It returns false if it must be dropped.
func (p *proxy) admit(ctx context.Context, r *http.Request) bool {
	t := p.now(r)
	if t == nil {
		return true
	}

	p.met.Add(1)

	switch t.kind {
	case refuse:
		return false
	case delay:
		return pass(ctx, t, lag)
	case hang:
		return pass(ctx, t, latest) && !t.drop
	default:
		return true
	}
}

// lag is by how much a slow network delays each request and each part of an answer.
const lag = 700 * time.Millisecond

// pass waits for some time, or for the end of the trouble. It returns false if the
// context ends before.
func pass(ctx context.Context, t *trouble, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()

	select {
	case <-t.over:
		return true
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *proxy) send(ctx context.Context, r *http.Request, body []byte) (*http.Response, error) {
	out := r.Clone(ctx)
	out.RequestURI = ""
	out.URL.Scheme, out.URL.Host, out.Host = p.target.Scheme, p.target.Host, ""
	out.Header.Del("Connection")
	out.Body = io.NopCloser(bytes.NewReader(body))

	return p.next.RoundTrip(out)
}

// isRenewal says whether a request writes the Lease of an instance. The name of the Lease
// is in the body, in JSON and in protobuf.
func isRenewal(r *http.Request, body []byte) bool {
	return (r.Method == http.MethodPut || r.Method == http.MethodPost) &&
		strings.Contains(r.URL.Path, "/leases") && bytes.Contains(body, []byte(leasePrefix))
}

// answer passes an answer back, part by part, because the answer of a watch has no end.
func (p *proxy) answer(ctx context.Context, w http.ResponseWriter, r *http.Request, rsp *http.Response) {
	p.permit(ctx, r)

	maps.Copy(w.Header(), rsp.Header)

	w.WriteHeader(rsp.StatusCode)

	flusher := http.NewResponseController(w)
	part := make([]byte, 32<<10)

	// The client gets the headers, which it waits for, before the first part of a watch.
	_ = flusher.Flush()

	for {
		n, err := rsp.Body.Read(part)
		if n > 0 {
			p.permit(ctx, r)

			if _, err := w.Write(part[:n]); err != nil {
				return
			}

			_ = flusher.Flush()
		}

		if errors.Is(err, io.EOF) {
			return
		}

		if err != nil || ctx.Err() != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// permit waits until a part of an answer may be passed back. It breaks the connection if
// the part must be dropped.
func (p *proxy) permit(ctx context.Context, r *http.Request) {
	t := p.now(r)
	if t == nil {
		return
	}

	p.held.Add(1)

	switch {
	case t.kind == refuse:
	case t.kind == delay && pass(ctx, t, lag):
		return
	case t.kind != delay && pass(ctx, t, latest) && !t.drop:
		return
	}

	panic(http.ErrAbortHandler)
}
