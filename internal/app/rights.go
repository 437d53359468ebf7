// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"regexp"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	// maxUnauthorized is how long the API server may answer that it does not know this instance. It
	// is longer than a rollout of API servers, or of their keys, needs until they agree.
	maxUnauthorized = time.Minute

	// tokenRemedy describes how to get a valid token. The kubelet does not replace the token of a pod
	// whose ServiceAccount was deleted and created again, not even for a new container.
	tokenRemedy = "the token of this instance is not valid: its ServiceAccount may have been deleted and created again. " +
		"Delete the pod, because only a new one gets a new token"

	rightsRemedy = `grant it to the ServiceAccount of this instance: see "A right is missing" in docs/troubleshooting.md`

	// repeatMissingRight is the interval of log lines about one missing right. An informer repeats a
	// refused request twice a minute.
	repeatMissingRight = 10 * time.Minute

	// maxRefusal is much more than the size of an answer that says that a right is missing.
	maxRefusal = 16 << 10
)

// watchCredentials calls fail when, for too long, the API server has answered only 401 Unauthorized
// to all clients that are made from cfg. Otherwise an instance without a Lease, or a standby, would run
// for ever without any effect.
func watchCredentials(cfg *rest.Config, fail func(err error), now func() time.Time) {
	var (
		mu    sync.Mutex
		since time.Time
	)

	onAnswer(cfg, func(rsp *http.Response) {
		mu.Lock()
		defer mu.Unlock()

		switch {
		case rsp.StatusCode != http.StatusUnauthorized:
			since = time.Time{}
		case since.IsZero():
			since = now()
		case now().Sub(since) >= maxUnauthorized:
			fail(errors.Errorf("cannot run: the API server has answered nothing but 401 Unauthorized for %s: %s", maxUnauthorized, tokenRemedy))
		}
	})
}

// explainUnauthorized adds a remedy to an error of an invalid token.
func explainUnauthorized(err error) error {
	if kerrors.IsUnauthorized(err) {
		return errors.Wrap(err, tokenRemedy)
	}

	return err
}

// onAnswer calls fn with each answer of the API server to a client that is made from cfg. A request
// without an answer is not reported.
func onAnswer(cfg *rest.Config, fn func(rsp *http.Response)) {
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			rsp, err := next.RoundTrip(r)
			if err == nil {
				fn(rsp)
			}

			return rsp, err
		})
	})
}

type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// refused matches the text in which the API server names a missing right. JSON escapes the quotes.
var refused = regexp.MustCompile(`cannot (\w+) resource \\?"([^"\\]+)\\?" in API group \\?"([^"\\]*)\\?"(?: in the namespace \\?"([^"\\]+))?`)

// A right is what a rule of a Role grants. The namespace is empty for all of them.
type right struct{ verb, group, resource, namespace string }

// rightIn returns the right whose absence an answer of the API server reports. It returns false if, for
// example, an admission webhook has refused the request.
func rightIn(answer []byte) (right, bool) {
	if m := refused.FindSubmatch(answer); m != nil {
		return right{verb: string(m[1]), resource: string(m[2]), group: string(m[3]), namespace: string(m[4])}, true
	}

	// The objects of this provider belong to nothing but Workspaces.
	return right{verb: "update", group: "tf.upbound.io, tf.m.upbound.io", resource: "workspaces/finalizers"}, bytes.Contains(answer, []byte(workspace.OwnerRefused))
}

// missingRight returns the first of the supplied verbs that this instance may not use, or an empty text.
func missingRight(ctx context.Context, kube client.Client, a authorizationv1.ResourceAttributes, verbs ...string) (string, error) {
	for _, verb := range verbs {
		a.Verb = verb

		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &a}}
		if err := kube.Create(ctx, review); err != nil {
			return "", err
		}

		if !review.Status.Allowed {
			return verb, nil
		}
	}

	return "", nil
}

// logMissingRights logs each right because of which the API server refuses a request of a client that is
// made from cfg. Some requests of libraries leave no other trace.
func logMissingRights(cfg *rest.Config, log logging.Logger, now func() time.Time) {
	mu, logged := sync.Mutex{}, map[right]time.Time{}

	onAnswer(cfg, func(rsp *http.Response) {
		r, ok := missingIn(rsp)
		if !ok {
			return
		}

		mu.Lock()
		defer mu.Unlock()

		// Tenants choose the namespaces of references.
		maps.DeleteFunc(logged, func(_ right, at time.Time) bool { return now().Sub(at) >= repeatMissingRight })

		if _, ok := logged[r]; !ok {
			logged[r] = now()
			log.Info("A right is missing", "verb", r.verb, "group", r.group, "resource", r.resource, "namespace", r.namespace, "remedy", rightsRemedy)
		}
	})
}

// missingIn returns the right whose absence an answer reports. The client still gets the whole answer.
func missingIn(rsp *http.Response) (right, bool) {
	if rsp.StatusCode != http.StatusForbidden {
		return right{}, false
	}

	// If the answer ends early, the client that reads it gets the error.
	answer, _ := io.ReadAll(io.LimitReader(rsp.Body, maxRefusal))
	rsp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(answer), rsp.Body), rsp.Body}

	return rightIn(answer)
}
