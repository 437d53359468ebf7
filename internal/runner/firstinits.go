// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/lru"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// maxBackends is the number of backends whose first init is remembered, with about 200 bytes each. Each
// change of a credential makes another one.
const maxBackends = 1000

// maxFirstInit is much longer than a backend needs to make an empty state. A first init that takes
// longer is fetching modules or providers, if it does not hang.
const maxFirstInit = 30 * time.Second

// FirstInits make the first init with a backend run alone. Some backends create an empty state when
// they are first read, and lock it during that time: another init fails then. The zero value is
// ready for use. It is safe for concurrent use.
type FirstInits struct {
	mu    sync.Mutex
	begun *lru.Cache // Contexts by backend, which are done with the first init, or after maxFirstInit.
}

// begin waits, and says so, until the first init with the supplied backend has ended, or has taken
// maxFirstInit. If none has succeeded or runs, the caller's is the first, and begin does not wait. The
// caller calls end with the result of its init.
//
// After a failure, all that wait run at the same time. Otherwise a registry that does not answer
// would block each of them in turn.
func (f *FirstInits) begin(ctx context.Context, backend string) (waited bool, end func(error), err error) {
	f.mu.Lock()

	if f.begun == nil {
		f.begun = lru.New(maxBackends)
	}

	known, _ := f.begun.Get(backend)

	first, ok := known.(context.Context)
	if !ok {
		first, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxFirstInit)
		f.begun.Add(backend, first)
		f.mu.Unlock()

		return false, func(err error) {
			if err != nil {
				f.begun.Remove(backend)
			}

			cancel()
		}, nil
	}

	f.mu.Unlock()

	waited = first.Err() == nil

	select {
	case <-first.Done():
	case <-ctx.Done():
		err = ctx.Err()
	}

	return waited, func(error) {}, err
}

// firstInit initializes a directory that is not initialized for these inputs. If it has to wait
// for another init, it uses the result of that one, if possible.
func (r *Runner) firstInit(ctx context.Context, key string) (err error) {
	waited, end, err := r.FirstInits.begin(ctx, r.backendKey())
	if err != nil {
		return errors.Wrap(err, "cannot initialize")
	}
	defer func() { end(err) }()

	if waited {
		if restored, err := r.restoreInit(key); restored || err != nil {
			return err
		}
	}

	return r.init(ctx, terraform.InitOptions{}, key)
}
