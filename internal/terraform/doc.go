// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package terraform runs the terraform or tofu program.
//
// A CLI is a program that was found once and is then shared. Every method of it is
// one process (PullState, Plan, Apply and so on; DeleteWorkspace may do without),
// each has a file of its own with the function that builds its arguments, and all
// go through the same runner. What the program answers comes back as values: a
// Plan, the outputs, the state, or an *Error with the program's own diagnostics.
//
// Nothing of this process reaches a run by itself: its environment, directory and
// workspace name are those of the Workspace it is given.
package terraform
