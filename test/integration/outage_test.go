// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// An outage is a backend that refuses some of the writes of a CLI, from a moment on
// and until another one.
type outage struct {
	*proxy

	// of says which writes are refused, by their path.
	of string

	refused atomic.Int32
}

// newOutage returns an outage that has not begun.
func newOutage(t *testing.T, c *cluster, of string) *outage {
	t.Helper()

	return &outage{proxy: startProxy(t, c, transparent), of: of}
}

func (o *outage) begin() {
	o.become(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodGet || !strings.Contains(r.URL.Path, o.of) {
			next.ServeHTTP(w, r)

			return
		}

		o.refused.Add(1)
		refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
	})
}

func (o *outage) end() { o.become(transparent) }

// expectFelt waits until a write was refused.
func (o *outage) expectFelt(t *testing.T) {
	t.Helper()
	eventually(t, func() error {
		if o.refused.Load() == 0 {
			return errors.Errorf("no instance has tried to write %s", o.of)
		}

		return nil
	})
}
