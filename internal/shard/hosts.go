// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package shard

import "slices"

// maxHosts is the number of hosts of instances that are remembered.
const maxHosts = 5

// AddHost returns a list of hosts with one more in front: the latest host is first.
func AddHost(hosts []string, host string) []string {
	hosts = slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return h == host })
	hosts = slices.Insert(hosts, 0, host)

	return hosts[:min(len(hosts), maxHosts)]
}
