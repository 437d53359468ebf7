// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package module gets the module of a Workspace from the source in its specification. It returns
// the files of an inline module, and fetches all others into the working directory.
package module

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// Files of a module by name, relative to the directory of the Workspace.
type Files map[string][]byte

// A kind of source says how a module gets into the working directory: it is in the specification,
// or it is fetched. Exactly one of the functions is set, and that one decides.
type kind struct {
	// files returns the files of a module in the specification.
	files func(p commonv1beta1.WorkspaceParameters) Files

	// find returns the current source of a module that is fetched, for a Workspace in the supplied
	// namespace.
	find func(f *Fetcher, ctx context.Context, address, namespace string) (source, error)
}

// kindOf returns the kind of a source. A new one is a case here, in the text of the error, and in
// the enum of ModuleParameters.Source. For a kind that is fetched, source.settled says when the
// module in the directory is up to date.
func kindOf(s commonv1beta1.ModuleSource) (kind, error) {
	switch s {
	case commonv1beta1.ModuleSourceInline:
		return kind{files: inline}, nil
	case commonv1beta1.ModuleSourceRemote:
		return kind{find: (*Fetcher).remote}, nil
	case commonv1beta1.ModuleSourceFlux:
		return kind{find: (*Fetcher).flux}, nil
	default:
		return kind{}, errors.Errorf("spec.forProvider.source %q is not supported: it must be Inline, Remote or Flux", s)
	}
}

// InlineFiles returns the files of the module in p. It returns none if the module is not in p: a
// Fetcher fetches such modules.
func InlineFiles(p commonv1beta1.WorkspaceParameters) (Files, error) {
	k, err := kindOf(p.Source)
	if err != nil || k.files == nil {
		return nil, err
	}

	return k.files(p), nil
}
