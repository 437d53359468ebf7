// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"slices"
	"strings"
)

// maxHosts is how many hosts of instances are remembered.
const maxHosts = 5

// AddHost returns a list of hosts, the latest first, with one more.
func AddHost(hosts []string, host string) []string {
	hosts = slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return h == host })
	hosts = slices.Insert(hosts, 0, host)

	return hosts[:min(len(hosts), maxHosts)]
}

// Hosts returns the hosts that the value of an annotation names, the latest first.
func Hosts(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(h string) bool { return h == "" })
}

// WithHost returns the value of an annotation with one more host.
func WithHost(list, host string) string {
	return strings.Join(AddHost(Hosts(list), host), ",")
}
