// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/utils/ptr"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
)

// holders is a client of Leases that writes the host of whoever holds one to an
// annotation, where it stays: who gives a Lease back leaves no name in it, but may have
// had to kill a run that left a lock on a state. It is safe for concurrent use.
type holders struct {
	coordinationv1client.CoordinationV1Interface

	identity string

	mu    sync.Mutex
	hosts []string
}

// before returns the hosts of those who held the Lease that was last read and not held
// by this instance.
func (h *holders) before() []string {
	h.mu.Lock()
	defer h.mu.Unlock()

	return h.hosts
}

// Leases returns the client of those in a namespace.
func (h *holders) Leases(namespace string) coordinationv1client.LeaseInterface {
	return &signed{LeaseInterface: h.CoordinationV1Interface.Leases(namespace), holders: h}
}

// read who held a Lease.
func (h *holders) read(l *coordinationv1.Lease) {
	holder := ptr.Deref(l.Spec.HolderIdentity, "")
	if holder == h.identity {
		return
	}

	list := l.GetAnnotations()[shard.HoldersAnnotationKey]
	// A version that signs nothing may have held it.
	if host := HostOf(holder); host != "" {
		list = shard.WithHost(list, host)
	}

	h.mu.Lock()
	defer h.mu.Unlock()

	h.hosts = shard.Hosts(list)
}

// sign a Lease that this instance holds or is about to.
func (h *holders) sign(l *coordinationv1.Lease) {
	host := HostOf(h.identity)
	if host == "" || ptr.Deref(l.Spec.HolderIdentity, "") != h.identity {
		return
	}

	metav1.SetMetaDataAnnotation(&l.ObjectMeta, shard.HoldersAnnotationKey, shard.WithHost(l.GetAnnotations()[shard.HoldersAnnotationKey], host))
}

// signed are the Leases of one namespace.
type signed struct {
	coordinationv1client.LeaseInterface

	holders *holders
}

func (s *signed) Get(ctx context.Context, name string, o metav1.GetOptions) (*coordinationv1.Lease, error) {
	l, err := s.LeaseInterface.Get(ctx, name, o)
	if err == nil {
		s.holders.read(l)
	}

	return l, err
}

func (s *signed) Create(ctx context.Context, l *coordinationv1.Lease, o metav1.CreateOptions) (*coordinationv1.Lease, error) {
	s.holders.sign(l)

	return s.LeaseInterface.Create(ctx, l, o)
}

func (s *signed) Update(ctx context.Context, l *coordinationv1.Lease, o metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	s.holders.sign(l)

	return s.LeaseInterface.Update(ctx, l, o)
}
