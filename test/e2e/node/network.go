// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"os"
	"os/exec"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// network gives the node its address. The interface is one end of a pair, because not every kernel has
// dummy interfaces.
func network(ctx context.Context) error {
	for _, args := range []string{
		"link set lo up",
		"link add node0 type veth peer name node1",
		"address add " + address + "/24 dev node0",
		"link set node1 up",
		"link set node0 up",
		// A kubelet and an API server want one.
		"route add default dev node0",
	} {
		out, err := exec.CommandContext(ctx, "ip", strings.Fields(args)...).CombinedOutput() //nolint:gosec // One of the lines above.
		if err != nil {
			return errors.Wrapf(err, "ip %s: %s", args, out)
		}
	}

	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0)
}
