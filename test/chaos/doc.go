// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package chaos runs real instances of the provider, as shards with a partition of the
// Workspaces, under a random mix of faults, and tests that the guarantees of the provider
// hold.
//
// Faults come in classes (see classes): of processes, of the API server, of the network
// between each instance and the API server (proxy), of Leases, of writes by people
// (labels, specs, older manifests, copies, two Workspaces with one state), of disks, and
// modules that print secrets. The flag -faults limits them to some classes, which finds a
// single cause faster. If an instance has a second replica, most faults happen to the
// leader.
//
// Nothing is judged while faults are injected. Everything is recorded: runs of the CLI by
// the program that replaces it (recorder), actions of a module on its resources by the
// module (ledger), every stored version of every state (versions), every version of
// Workspaces, Events and Leases (witness), and the injected faults (journal). Verdicts are
// pure functions of these records: overlaps.go, resources.go, destroyed.go, states.go,
// workdirs.go, canaries.go, settled.go. The excuses for a resource that is in no state are
// in excuses.go.
//
// The same seed makes the same schedule of faults. The effects also depend on the machine.
package chaos
