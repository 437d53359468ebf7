// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/lru"

	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// maxBackends is the number of backends whose first init is remembered. Each key takes about 200
// bytes.
const maxBackends = 1000

// maxFirstInit is much longer than a backend needs to make an empty state. A first init that takes
// longer is fetching modules or providers, if it does not hang.
const maxFirstInit = 30 * time.Second

// FirstInits make the first init with a backend run alone. Some backends create an empty state when
// they are first read, and lock it during that time: another init fails then. The zero value is
// ready for use. It is safe for concurrent use.
type FirstInits struct {
	mu sync.Mutex

	// running are the first inits in progress, by backend. Each channel is closed when the init has
	// ended.
	running map[string]chan struct{}

	// succeeded has the backends with an init that has succeeded. The ones that were not used
	// for the longest time are forgotten, because each change of a credential makes another key. The
	// next init with a forgotten backend runs alone again.
	succeeded *lru.Cache
}

// begin waits until the first init with the supplied backend has ended, or for maxFirstInit. If
// there was none, the caller's is the first, and begin does not wait. It says whether it has waited.
// The caller calls end with the result of its init.
//
// An init waits for one other init at most: after a failure, all that wait for it run at the same
// time. Otherwise a registry that does not answer would block each of them in turn. For the same
// reason the success of any init counts: the first one may hang again and again.
func (f *FirstInits) begin(ctx context.Context, backend string) (waited bool, end func(error), err error) {
	f.mu.Lock()

	if f.running == nil {
		f.running, f.succeeded = map[string]chan struct{}{}, lru.New(maxBackends)
	}

	first, running := f.running[backend]
	_, succeeded := f.succeeded.Get(backend)

	if !running && !succeeded {
		f.running[backend] = make(chan struct{})
	}

	f.mu.Unlock()

	end = func(err error) {
		f.mu.Lock()
		defer f.mu.Unlock()

		if err == nil {
			f.succeeded.Add(backend, nil)
		}

		if !running {
			close(f.running[backend])
			delete(f.running, backend)
		}
	}

	switch {
	case succeeded:
		return false, func(error) {}, nil
	case !running:
		return false, end, nil
	}

	select {
	case <-first:
	case <-time.After(maxFirstInit):
	case <-ctx.Done():
		err = ctx.Err()
	}

	return true, end, err
}

// backendKey returns a digest of what decides which backend init uses, except for the module.
func (r *Runner) backendKey() string {
	files := map[string]workdir.File{}

	for _, name := range []string{configurationFile, backendFile} {
		if f, ok := r.Inputs.config[name]; ok {
			files[name] = f
		}
	}

	env := slices.DeleteFunc(slices.Clone(r.Inputs.env), func(kv string) bool { return strings.HasPrefix(kv, "TF_VAR_") })

	return workdir.Digest(files, workdir.Encode(env, r.initWords()))
}
