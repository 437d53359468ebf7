// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package vars gets the variables of a Workspace, those of its module and those of
// its environment, out of its specification and the ConfigMaps and Secrets that it
// refers to, into the form that the CLI reads.
package vars
