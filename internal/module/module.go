// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package module gets the module of a Workspace from the source in its specification. It returns
// the files of an inline module, and fetches all others into the working directory.
package module

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// Files of a module by name, relative to the directory of the Workspace.
type Files map[string][]byte

// Get returns the files of the module that p describes. It returns none if the module is not
// inline: a Fetcher fetches such modules.
func Get(p commonv1beta1.WorkspaceParameters) (Files, error) {
	switch p.Source {
	case commonv1beta1.ModuleSourceInline:
		return inline(p), nil
	case commonv1beta1.ModuleSourceRemote, commonv1beta1.ModuleSourceFlux:
		return Files{}, nil
	default:
		return nil, unsupported(p.Source)
	}
}

func unsupported(s commonv1beta1.ModuleSource) error {
	return errors.Errorf("spec.forProvider.source %q is not supported: it must be Inline, Remote or Flux", s)
}
