// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// A ref names a Workspace of any kind.
type ref struct {
	kind schema.GroupVersionKind
	key  types.NamespacedName
}

// A holding is a Workspace that this instance has taken.
type holding struct {
	uid types.UID

	// taken is the time since which it is held.
	taken time.Time

	// previousWasOther says that it had no claim of an earlier incarnation of this instance before.
	previousWasOther bool

	// claimed says that its claim has been written.
	claimed bool

	// busy says that its claim is being written, or that a reconcile of it is in progress.
	busy bool

	// leaving says that it is to be released as soon as it is not busy. From then on no work
	// begins, even if a cache that is behind still shows the Workspace.
	leaving bool

	// unsure is the Workspace before the write of its claim, if the result of that is unknown.
	unsure Object
}

// holdings are the Workspaces that this instance has taken. No other instance writes or removes
// its claims while it is alive, so that its holdings are correct when a cache is behind. A person
// may remove a claim; then this instance writes it again. They are safe for concurrent use.
type holdings struct {
	mu   sync.Mutex
	held map[ref]*holding

	// release is called for each Workspace that can be released. It must not block.
	release func(ref)
}

func newHoldings(release func(ref)) *holdings {
	return &holdings{held: map[ref]*holding{}, release: release}
}

// holds says whether the Workspace is held and not about to be released.
func (h *holdings) holds(r ref, uid types.UID) bool {
	e := h.of(r, uid)

	return e.uid != "" && !e.leaving
}

// of returns the holding of a Workspace, or the zero value if it is not held.
func (h *holdings) of(r ref, uid types.UID) holding {
	h.mu.Lock()
	defer h.mu.Unlock()

	if e, ok := h.held[r]; ok && e.uid == uid {
		return *e
	}

	return holding{}
}

// begin begins work on a Workspace, unless it is not held or about to be released.
func (h *holdings) begin(r ref, uid types.UID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()

	e, ok := h.held[r]
	if !ok || e.uid != uid || e.leaving {
		return false
	}

	e.busy = true

	return true
}

// change calls fn with the holding of a Workspace, if it is held.
func (h *holdings) change(r ref, fn func(e *holding)) {
	h.mu.Lock()
	defer h.mu.Unlock()

	if e, ok := h.held[r]; ok {
		fn(e)
	}
}

// end ends the work, or the write of the claim, that made the Workspace busy.
func (h *holdings) end(r ref) {
	h.change(r, func(e *holding) {
		e.busy = false

		if e.leaving {
			h.release(r)
		}
	})
}

// add adds a Workspace before its claim is written, because it may leave right after the write. It is
// busy until then: a release that does not wait for the answer would find nothing to release or, worse,
// remove the next claim. add returns false if an earlier claim on a Workspace of that name is not
// released yet. A claim that is written once more does not change the holding.
func (h *holdings) add(r ref, uid types.UID, previousWasOther bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()

	e, ok := h.held[r]

	switch {
	case ok && (e.leaving || e.busy):
		return false
	case ok && e.uid == uid:
		e.busy = true
	default:
		h.held[r] = &holding{uid: uid, taken: time.Now(), previousWasOther: previousWasOther, busy: true}
	}

	return true
}

// accept records that the claim on an added Workspace has been written.
func (h *holdings) accept(r ref) {
	h.change(r, func(e *holding) { e.claimed = true })
}

// refuse records that the claim on an added Workspace was not written. A Workspace stays held if an
// earlier write of its claim succeeded: the cache was behind, and the claim still has to be released. If a
// person has removed the claim, the release finds none.
func (h *holdings) refuse(r ref) {
	h.change(r, func(e *holding) {
		if !e.claimed {
			delete(h.held, r)
		}
	})
}

// leave releases a Workspace at once or at the end of the work in progress. It returns false if that
// Workspace is not held: another one may have the same name now. Without a UID, the one that is held
// is released.
func (h *holdings) leave(r ref, uid types.UID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()

	e, ok := h.held[r]
	if !ok || (uid != "" && e.uid != uid) {
		return false
	}

	e.leaving = true

	if !e.busy {
		h.release(r)
	}

	return true
}

// doubt leaves a Workspace whose claim may have been written, or may still be. o is the Workspace
// before that. It is busy with the write, so that its release follows at the end.
func (h *holdings) doubt(r ref, o Object) {
	h.change(r, func(e *holding) { e.unsure, e.leaving = o, true })
}

// leavable returns the UID of a Workspace that is to be released, and the Workspace before the write of
// its claim if the result of that is unknown. It returns false if there is nothing to release.
func (h *holdings) leavable(r ref) (types.UID, Object, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()

	e, ok := h.held[r]
	if !ok || !e.leaving || e.busy {
		return "", nil, false
	}

	return e.uid, e.unsure, true
}

// remove removes a Workspace without a claim.
func (h *holdings) remove(r ref) {
	h.mu.Lock()
	defer h.mu.Unlock()

	delete(h.held, r)
}
