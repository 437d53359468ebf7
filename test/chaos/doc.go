// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package chaos tests that nothing goes wrong whatever goes wrong: real instances of
// the provider, as shards that share Workspaces out, under a random mix of faults.
//
// While faults are injected nothing is judged. Everything is written down instead:
// runs of the CLI by the program that stands in for it (recorder), what a module did
// to its resources by the module (ledger), every version of every state as it was
// stored (versions), faults as they were injected (journal). Verdicts are pure
// functions of these.
package chaos
