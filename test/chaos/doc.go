// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package chaos tests that nothing goes wrong whatever goes wrong: real instances of
// the provider, as shards that share Workspaces out, under a random mix of faults.
//
// Faults come in classes (see classes): of processes, of the API server, of the network
// between each instance and the API server (proxy), of Leases, of what people write
// (labels, specs, older manifests, copies, two Workspaces with one state), of disks, and
// modules that print secrets. The flag -faults limits them to some classes, which finds one
// cause faster. Where an instance has a second replica, most faults happen to the leader.
//
// While faults are injected nothing is judged. Everything is written down instead:
// runs of the CLI by the program that stands in for it (recorder), what a module did
// to its resources by the module (ledger), every version of every state as it was
// stored (versions), every version of Workspaces, Events and Leases (witness), faults as
// they were injected (journal). Verdicts are pure functions of these: overlaps.go,
// resources.go, destroyed.go, states.go, workdirs.go, canaries.go, settled.go. What excuses
// a resource that got into no state is in excuses.go.
//
// The same seed makes the same schedule of faults. What comes of it depends on the
// machine, too.
package chaos
