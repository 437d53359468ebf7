// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

const tempVariable = "TMPDIR"

// maxTempDir is the length of the longest directory for temporary files in which each run has one of its own: plugins make sockets there,
// and the path of a socket has at most 107 bytes.
const maxTempDir = 24

// tempDir returns the directory for temporary files of the runs in a working directory. A plugin or a provisioner that is killed leaves
// files there, which may have secrets in them. It is not in the working directory, whose path is too long for sockets.
func tempDir(dir *workdir.Dir) (path string, ok bool) {
	parent := os.TempDir()

	return filepath.Join(parent, "tf-"+strings.ReplaceAll(filepath.Base(dir.Path()), "-", "")), len(parent) <= maxTempDir
}

// withTempDir makes that directory, and returns the environment with it. A Workspace may have one of its own. Without one, as with a
// file system that is full, the runs use the one of this process.
func (r *Runner) withTempDir(env []string) []string {
	path, ok := tempDir(r.Dir)
	if _, own := environ.Lookup(r.Inputs.env, tempVariable); own || !ok {
		return env
	}

	if err := os.Mkdir(path, 0o700); err != nil && !os.IsExist(err) {
		return env
	}

	return append(environ.Without(env, tempVariable), tempVariable+"="+path)
}

func removeTempDir(dir *workdir.Dir) error {
	path, ok := tempDir(dir)
	if !ok {
		return nil
	}

	err := os.RemoveAll(path)
	if err != nil {
		if root, err := os.OpenRoot(path); err == nil {
			defer root.Close() //nolint:errcheck // Nothing is written through it.

			workdir.MakeAccessible(root, ".")
		}

		err = os.RemoveAll(path)
	}

	// A read-only file system refuses to remove also what it does not have.
	if _, missing := os.Lstat(path); os.IsNotExist(missing) {
		return nil
	}

	return errors.Wrap(err, "cannot remove temporary files")
}
