// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package vars converts the variables of a Workspace, of its module and of its environment, into
// the form that the CLI reads. They come from its specification and from the ConfigMaps and
// Secrets that it refers to.
package vars
