// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed"
	"net/http"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/e2e/infrastructure"
)

// A module creates one thing in the infrastructure, whose address is its variable url.
var (
	//go:embed testdata/thing.tf
	inHCL string

	//go:embed testdata/thing.tf.json
	inJSON string
)

const (
	// archive is the path of an archive with the module in a directory of it.
	archive = "/modules.tar.gz"

	archiveDir = "modules/thing"
)

// A source says where the module of a Workspace comes from.
type source func(base string) commonv1beta1.ModuleParameters

func inlineHCL(string) commonv1beta1.ModuleParameters {
	return commonv1beta1.ModuleParameters{Source: commonv1beta1.ModuleSourceInline, Module: inHCL}
}

func inlineJSON(string) commonv1beta1.ModuleParameters {
	return commonv1beta1.ModuleParameters{Source: commonv1beta1.ModuleSourceInline, Module: inJSON, InlineFormat: new(commonv1beta1.FileFormatJSON)}
}

// remote is the module in an archive, which the instance downloads.
func remote(base string) commonv1beta1.ModuleParameters {
	return commonv1beta1.ModuleParameters{Source: commonv1beta1.ModuleSourceRemote, Module: base + archive + "//" + archiveDir}
}

// urlOf is the address of the thing of a Workspace. No two Workspaces of the story have the same
// name.
func urlOf(base, name string) string { return base + infrastructure.Path(name) }

// modules answers requests for the archive.
func modules() (http.HandlerFunc, error) {
	var b bytes.Buffer

	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)

	if err := t.WriteHeader(&tar.Header{Name: archiveDir + "/main.tf", Mode: 0o644, Size: int64(len(inHCL))}); err != nil {
		return nil, err
	}

	if _, err := t.Write([]byte(inHCL)); err != nil {
		return nil, err
	}

	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return nil, err
	}

	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, archive, time.Time{}, bytes.NewReader(b.Bytes()))
	}, nil
}
