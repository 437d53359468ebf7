// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

const (
	// maxNames is the number of holders that the annotation of a Lease names. An instance that has
	// just started considers a claim of an earlier holder dead only after the duration of the
	// Lease.
	maxNames = 10

	// maxHosts is the number of hosts of predecessors that are remembered.
	maxHosts = 5
)

// namesIn returns the identities in the value of an annotation.
func namesIn(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(n string) bool { return n == "" })
}

// withNames merges the supplied lists. The result has each name once, and at most maxNames names.
func withNames(names []string, more ...string) []string {
	all := []string{}

	for _, n := range slices.Concat(names, more) {
		if len(all) < maxNames && !slices.Contains(all, n) && !strings.Contains(n, ",") {
			all = append(all, n)
		}
	}

	return all
}

// ProcessFiles are the files of the processes in this pod: see the package incarnation. A process
// reads that of an earlier one after a restart of its container. Begin and Wrote are not called at
// the same time: a Lock does one write of its Lease at a time.
type ProcessFiles interface {
	// Begin makes the file of this process, if there is none.
	Begin(identity string) error

	// Wrote notes the version of the Lease that this process has just written.
	Wrote(version string) error

	// Last returns the version of the Lease that an earlier process wrote last. It is empty unless
	// that process and all of its children are proven to have ended.
	Last(identity string) string

	// Remove removes the file of a process.
	Remove(identity string)
}

// holders is a client of Leases that observes the Lease of this instance. It writes the
// current holder, the earlier holders and the holder that released it to annotations. It
// is safe for concurrent use.
type holders struct {
	coordinationv1client.LeasesGetter

	identity string
	timing   Timing
	files    ProcessFiles

	mu   sync.Mutex
	seen observation

	// assignable says that Workspaces without a label may be assigned to this shard.
	assignable bool

	// ended is the holder of the last read Lease, if it is proven to be dead and to have written
	// that version of the Lease.
	ended string
}

func newHolders(c coordinationv1client.LeasesGetter, identity string, t Timing, o LockOptions) *holders {
	return &holders{LeasesGetter: c, identity: identity, timing: t, files: o.Files, assignable: o.Assignable, seen: newObservation(t)}
}

// before returns the hosts of the instances that held the Lease before this one.
func (h *holders) before() []string {
	h.mu.Lock()
	defer h.mu.Unlock()

	return hostsOf(h.seen.names, h.identity)
}

// hostsOf returns the hosts of the instances with the supplied names, except one.
func hostsOf(names []string, except string) []string {
	var hosts []string

	for _, id := range names {
		if host := HostOf(id); id != except && host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}

	return hosts[:min(len(hosts), maxHosts)]
}

// latest returns the last holder of the Lease.
func (h *holders) latest() string {
	h.mu.Lock()
	defer h.mu.Unlock()

	if len(h.seen.names) == 0 {
		return h.identity
	}

	return h.seen.names[0]
}

// mayTake returns an error if another instance may hold the Lease now.
func (h *holders) mayTake(now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()

	if other, until := h.seen.alive(now, h.identity, h.ended); other != "" {
		return errors.Errorf("waiting for up to %s: the Lease was last held by %q, which has not released it and may be alive", until.Sub(now).Round(time.Second), other)
	}

	if since := now.Sub(h.seen.blank); !h.seen.blank.IsZero() && since < h.timing.undisturbed() {
		return errors.Errorf("waiting for up to %s: there is no Lease, and a live holder would make it again", (h.timing.undisturbed() - since).Round(time.Millisecond))
	}

	return nil
}

// read records a Lease, or nil if there is none.
func (h *holders) read(l *coordinationv1.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()

	h.seen.see(l, time.Now())
	h.prove(l)
}

// prove finds out whether the holder of the last read Lease is proven to be dead. That proof is
// for this version of the Lease only: in any other version, the same holder may come from a backup,
// and another instance may have taken the Lease meanwhile.
func (h *holders) prove(l *coordinationv1.Lease) {
	h.ended = ""

	if l == nil {
		return
	}

	holder := ptr.Deref(l.Spec.HolderIdentity, "")
	if holder != "" && holder != h.identity && h.files.Last(holder) == versionOf(l).String() {
		h.ended = holder
	}
}

// hasEnded says whether the holder of the last read Lease is proven to be dead.
func (h *holders) hasEnded(holder string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()

	return holder != "" && holder == h.ended
}

// clean removes the files of the earlier holders, whose Lease this process has taken.
func (h *holders) clean() {
	h.mu.Lock()
	defer h.mu.Unlock()

	for _, id := range h.seen.names {
		if id != h.identity {
			h.files.Remove(id)
		}
	}
}

// sign adds the annotations to a Lease that this instance is about to hold or to release, and the
// name of its shard as a label: people list the shards by it.
func (h *holders) sign(l *coordinationv1.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()

	names := withNames([]string{h.identity}, h.seen.names...)
	metav1.SetMetaDataAnnotation(&l.ObjectMeta, shard.HoldersAnnotationKey, strings.Join(names, ","))

	if ptr.Deref(l.Spec.HolderIdentity, "") == "" {
		metav1.SetMetaDataAnnotation(&l.ObjectMeta, shard.ReleasedAnnotationKey, h.identity)
	} else {
		delete(l.Annotations, shard.ReleasedAnnotationKey)
	}

	if id, ok := shard.FromLeaseName(l.GetName()); ok && id.Name() != "" {
		metav1.SetMetaDataLabel(&l.ObjectMeta, shard.LabelKey, id.Name())
	}

	delete(l.Labels, shard.AssignableLabelKey)

	if h.assignable {
		metav1.SetMetaDataLabel(&l.ObjectMeta, shard.AssignableLabelKey, "true")
	}
}

// Leases returns the client of the Leases in a namespace.
func (h *holders) Leases(namespace string) coordinationv1client.LeaseInterface {
	return &signed{LeaseInterface: h.LeasesGetter.Leases(namespace), holders: h}
}

// signed are the Leases of one namespace.
type signed struct {
	coordinationv1client.LeaseInterface

	holders *holders
}

func (s *signed) Get(ctx context.Context, name string, o metav1.GetOptions) (*coordinationv1.Lease, error) {
	l, err := s.LeaseInterface.Get(ctx, name, o)

	switch {
	case err == nil:
		s.holders.read(l)
	case kerrors.IsNotFound(err):
		s.holders.read(nil)
	}

	return l, err
}

func (s *signed) Create(ctx context.Context, l *coordinationv1.Lease, o metav1.CreateOptions) (*coordinationv1.Lease, error) {
	s.holders.sign(l)

	return s.written(s.LeaseInterface.Create(ctx, l, o))
}

func (s *signed) Update(ctx context.Context, l *coordinationv1.Lease, o metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	s.holders.sign(l)

	return s.written(s.LeaseInterface.Update(ctx, l, o))
}

func (s *signed) written(l *coordinationv1.Lease, err error) (*coordinationv1.Lease, error) {
	if err == nil {
		// Without this note, others wait until the Lease expires.
		_ = s.holders.files.Wrote(versionOf(l).String())
	}

	return l, err
}
