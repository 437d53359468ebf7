// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"slices"
	"strings"
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
	// maxNames is the number of holders that the annotation of a Lease names. To an instance that has
	// just started, claims of other holders are dead only after the duration of the Lease.
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

// ProcessFiles are those of the package incarnation, which describes the methods. A Lock does not call
// Begin and Wrote at the same time: it does one write of its Lease at a time.
type ProcessFiles interface {
	Begin(identity string) error
	Wrote(version string) error
	Last(identity string) string
	Remove(identity string)
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

// mayTake returns an error if another instance may hold the Lease now. The caller holds mu.
func (l *Lock) mayTake(now time.Time) error {
	if other, until := l.seen.alive(now, l.Identity(), l.ended); other != "" {
		return errors.Errorf("waiting for up to %s: the Lease was last held by %q, which has not released it and may be alive", until.Sub(now).Round(time.Second), other)
	}

	if since := now.Sub(l.seen.blank); !l.seen.blank.IsZero() && since < l.timing.undisturbed() {
		return errors.Errorf("waiting for up to %s: there is no Lease, and a live holder would make it again", (l.timing.undisturbed() - since).Round(time.Millisecond))
	}

	return nil
}

// hasEnded says whether the holder of the last read Lease is proven to be dead.
func (l *Lock) hasEnded(holder string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	return holder != "" && holder == l.ended
}

// read records a Lease, or nil if there is none.
func (l *Lock) read(c *coordinationv1.Lease) {
	ended := l.prove(c)

	l.mu.Lock()
	defer l.mu.Unlock()

	l.seen.see(c, time.Now())
	l.ended = ended
}

// prove returns the holder of a Lease if it is proven to be dead. That proof is for this version of the
// Lease only: in any other version, the same holder may come from a backup, and another instance may
// have taken the Lease meanwhile.
func (l *Lock) prove(c *coordinationv1.Lease) string {
	if c == nil {
		return ""
	}

	holder := ptr.Deref(c.Spec.HolderIdentity, "")
	if holder == "" || holder == l.Identity() || l.options.Files.Last(holder) != versionOf(c).String() {
		return ""
	}

	return holder
}

// sign adds the annotations to a Lease that this instance is about to hold or to release, and the
// name of its shard as a label: people list the shards by it.
func (l *Lock) sign(c *coordinationv1.Lease) {
	l.mu.Lock()
	names := withNames([]string{l.Identity()}, l.seen.names...)
	l.mu.Unlock()

	metav1.SetMetaDataAnnotation(&c.ObjectMeta, shard.HoldersAnnotationKey, strings.Join(names, ","))

	if ptr.Deref(c.Spec.HolderIdentity, "") == "" {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, shard.ReleasedAnnotationKey, l.Identity())
	} else {
		delete(c.Annotations, shard.ReleasedAnnotationKey)
	}

	if id, ok := shard.FromLeaseName(c.GetName()); ok && id.Name() != "" {
		metav1.SetMetaDataLabel(&c.ObjectMeta, shard.LabelKey, id.Name())
	}

	delete(c.Labels, shard.AssignableLabelKey)

	if l.options.Assignable {
		metav1.SetMetaDataLabel(&c.ObjectMeta, shard.AssignableLabelKey, "true")
	}
}

// signedLeases is a client of the Lease of a Lock. It records each Lease that it reads, and signs each
// Lease that it writes.
type signedLeases struct {
	coordinationv1client.LeaseInterface

	lock *Lock
}

// Leases returns the client itself: a LeaseLock needs a client of any namespace, and uses one.
func (s *signedLeases) Leases(string) coordinationv1client.LeaseInterface { return s }

func (s *signedLeases) Get(ctx context.Context, name string, o metav1.GetOptions) (*coordinationv1.Lease, error) {
	l, err := s.LeaseInterface.Get(ctx, name, o)

	switch {
	case err == nil:
		s.lock.read(l)
	case kerrors.IsNotFound(err):
		s.lock.read(nil)
	}

	return l, err
}

func (s *signedLeases) Create(ctx context.Context, l *coordinationv1.Lease, o metav1.CreateOptions) (*coordinationv1.Lease, error) {
	s.lock.sign(l)

	return s.written(s.LeaseInterface.Create(ctx, l, o))
}

func (s *signedLeases) Update(ctx context.Context, l *coordinationv1.Lease, o metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	s.lock.sign(l)

	return s.written(s.LeaseInterface.Update(ctx, l, o))
}

func (s *signedLeases) written(l *coordinationv1.Lease, err error) (*coordinationv1.Lease, error) {
	if err == nil {
		// Without this note, others wait until the Lease expires.
		_ = s.lock.options.Files.Wrote(versionOf(l).String())
	}

	return l, err
}
