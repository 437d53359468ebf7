// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// tooLong is how long a request takes on a machine that has no time for it. Instances can
// renew no Lease then, and have to end.
const tooLong = 2 * retryPeriod

// watchLoad notes the times when the machine is overloaded, until the context ends. It
// sends requests to the API server directly, so that no trouble of the network delays
// them.
func watchLoad(ctx context.Context, kube client.Client, j *journal) error {
	for ctx.Err() == nil {
		start := time.Now()
		err := kube.Get(ctx, client.ObjectKey{Name: "default"}, &corev1.Namespace{})

		if took := time.Since(start); err == nil && took > tooLong {
			j.add(note{kind: slow, text: fmt.Sprintf("the machine is slow: a request took %s", took.Round(time.Millisecond))})()
		}

		// The end of the context ends the loop.
		_ = wait.For(ctx, retryPeriod/2)
	}

	return nil
}
