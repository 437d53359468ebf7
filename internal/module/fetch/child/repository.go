// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// cloneDir is the directory of a clone, in the directory of temporary files of this process. Its
// name is always the same, because errors may contain it.
const cloneDir = "repository"

// getRepositoryFile copies one file of a repository to dst. get clones the repository. The getters of
// go-getter would follow a link of the repository to a file of this machine.
func getRepositoryFile(dst string, u *url.URL, get func(dst string, u *url.URL) error) error {
	dir := filepath.Join(os.TempDir(), cloneDir)
	defer os.RemoveAll(dir) //nolint:errcheck // The caller of the fetch removes the rest.

	repository := *u
	repository.Path = path.Dir(u.Path)

	if err := get(dir, &repository); err != nil {
		return err
	}

	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // It is only read from.

	src, err := regular.OpenIn(root, path.Base(u.Path))
	if err != nil {
		return errors.Wrap(err, "cannot open file of the repository")
	}
	defer src.Close() //nolint:errcheck // It is only read from.

	file, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // go-getter has made the directory.
	if err != nil {
		return err
	}

	_, err = io.Copy(file, src)

	return errors.Join(err, file.Close())
}
