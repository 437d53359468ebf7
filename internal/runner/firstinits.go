// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// FirstInits make the first init with a backend run alone. Some backends create an empty state when
// they are first read, and lock it during that time: another init fails then. The zero value is
// ready for use. It is safe for concurrent use.
type FirstInits struct {
	mu sync.Mutex

	// ended are the first inits, by backend. Each channel is closed when the init has ended. A
	// backend whose first init has failed is missing.
	ended map[string]chan struct{}
}

// begin waits until the first init with the supplied backend has ended. If there was none, the
// caller's is the first, and begin does not wait. It says whether it has waited. The caller calls
// end with the result of its init.
//
// An init waits for one other init at most: after a failure, all that wait for it run at the same
// time. Otherwise a registry that does not answer would block each of them in turn.
func (f *FirstInits) begin(ctx context.Context, backend string) (waited bool, end func(error), err error) {
	f.mu.Lock()
	first, ok := f.ended[backend]

	if !ok {
		first = make(chan struct{})

		if f.ended == nil {
			f.ended = map[string]chan struct{}{}
		}

		f.ended[backend] = first
	}

	f.mu.Unlock()

	if !ok {
		return false, func(err error) { f.end(backend, err) }, nil
	}

	none := func(error) {}

	select {
	case <-first:
		return false, none, nil
	default:
	}

	select {
	case <-first:
		return true, none, nil
	case <-ctx.Done():
		return true, none, ctx.Err()
	}
}

// end records the result of the first init with the supplied backend.
func (f *FirstInits) end(backend string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	close(f.ended[backend])

	if err != nil {
		delete(f.ended, backend)
	}
}

// backendKey returns a digest of what decides which backend init uses, except for the module.
func (r *Runner) backendKey() string {
	files := map[string]workdir.File{}

	for _, name := range []string{configurationFile, backendFile} {
		if f, ok := r.Inputs.config.files[name]; ok {
			files[name] = f
		}
	}

	env := slices.DeleteFunc(slices.Clone(r.Inputs.env), func(kv string) bool { return strings.HasPrefix(kv, "TF_VAR_") })

	return workdir.Digest(files, workdir.Encode(env, r.initWords()))
}
