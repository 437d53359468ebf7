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

// watchLoad notes when the machine has no time, until the context ends. It asks the API
// server itself, which no trouble of the network delays.
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
