// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
)

// settle is how long to wait for more when the users of a ProviderConfig change. When
// a thousand Workspaces are created, they are counted once a second, not a thousand
// times.
const settle = time.Second

// A usageSource makes requests for ProviderConfigs of one kind whose set of users has
// changed. It is a source.SyncingSource: nothing is reconciled before all users are
// known.
type usageSource struct {
	usages *providerconfig.Usages
	kind   string
}

// Start adds requests to the supplied queue from now on.
func (s *usageSource) Start(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	s.usages.Subscribe(s.kind, func(n types.NamespacedName) { q.AddAfter(reconcile.Request{NamespacedName: n}, settle) })

	return nil
}

// WaitForSync waits until all usages are known.
func (s *usageSource) WaitForSync(ctx context.Context) error { return s.usages.WaitForSync(ctx) }
