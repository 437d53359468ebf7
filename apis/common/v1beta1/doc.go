// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 holds the parts of the API that both groups share: the parameters
// and the observation of a Workspace, and the configuration of a run. It has no kinds
// of its own.
//
// Every type here is in its cluster-scoped form: a reference names the
// namespace of its target. The namespaced kinds convert to it, so that
// code written against this package serves both groups.
//
// +kubebuilder:object:generate=true
package v1beta1
