// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// maxTempDir is the length of the longest directory for temporary files in which each run has one of its own: plugins make sockets there,
// and the path of a socket has at most 107 bytes.
const maxTempDir = 24

// tempDir returns the directory for temporary files of the runs in a working directory. A plugin or a provisioner that is killed leaves
// files there, which may have secrets in them. It is not in the working directory, whose path is too long for sockets.
func tempDir(dir *workdir.Dir) (path string, ok bool) {
	parent := os.TempDir()

	return filepath.Join(parent, "tf-"+strings.ReplaceAll(filepath.Base(dir.Path()), "-", "")), len(parent) <= maxTempDir
}

func (r *Runner) makeTempDir() error {
	path, ok := tempDir(r.Dir)
	if !ok {
		return nil
	}

	if err := os.Mkdir(path, 0o700); err != nil && !os.IsExist(err) {
		return errors.Wrap(err, "cannot make directory for temporary files")
	}

	return nil
}

func removeTempDir(dir *workdir.Dir) error {
	path, ok := tempDir(dir)
	if !ok {
		return nil
	}

	return errors.Wrap(os.RemoveAll(path), "cannot remove temporary files")
}
