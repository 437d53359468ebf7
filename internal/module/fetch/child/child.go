// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package child downloads the module of a fetch.Request in the process that fetch.Run starts. Of
// the packages without tests only cmd/fetch imports it: it links go-getter, and with it the clients of
// AWS and GCS.
package child

import (
	"context"
	"io"
	"path/filepath"

	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
)

// moduleDir is the directory in Request.Dir that contains the complete download.
const moduleDir = "module"

// Main fetches a module if args, the arguments of the process, ask for it. See fetch.Serve. main
// calls Main before anything else, and so does the TestMain of a test that needs these downloads.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) (handled bool, code int) {
	return fetch.Serve(ctx, args, stdin, stdout, get)
}

// get handles the request.
func get(ctx context.Context, r fetch.Request) (fetch.Result, error) {
	dst := filepath.Join(r.Dir, moduleDir)
	if a := r.Artifact; a != nil {
		return fetch.Result{Dir: dst, Source: a.URL, Revision: a.Digest}, getArtifact(ctx, *a, r.Dir, dst)
	}

	return getAddress(ctx, r, dst)
}
