// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package terraform runs the terraform or tofu program.
//
// A CLI is a program that was found once and is then shared. Each command is a method with its own
// file, and runs one process. Its output is returned as values: a Plan, the outputs, the state, or
// an *Error with the diagnostics of the program.
//
// A run inherits neither the environment nor the directory of this process. Both, and the name of
// the Terraform workspace, come from the supplied Workspace.
package terraform
