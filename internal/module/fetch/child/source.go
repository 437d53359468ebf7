// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// errSkipped ends a fetch: no download is needed.
var errSkipped = errors.New("the source need not be downloaded")

// A source is what the getters of one fetch know about its source.
//
// The revision is checked before, or as part of, the download. If the source changes in between,
// the recorded revision is older than the downloaded tree, and the next fetch downloads it again.
// There may be unnecessary downloads, but never a missing one.
type source struct {
	request fetch.Request

	// revision is that of the Result.
	revision string

	// page says that a server has sent a web page where an archive was expected.
	page bool

	// indirect says that the source refers to another one.
	indirect bool
}

// found records that the source has this revision. It returns errSkipped if no download is
// needed.
func (s *source) found(revision string) error {
	if s.indirect {
		return nil
	}

	s.revision = revision
	if revision != "" && (s.request.RevisionOnly || revision == s.request.Known) {
		return errSkipped
	}

	return nil
}

// redirect records that the source refers to another one. From now on revisions are not those of
// the address, which may refer to another source the next time.
func (s *source) redirect() {
	s.indirect = true
	s.revision, s.request.Known, s.request.RevisionOnly = "", "", false
}

// checkURL is checkPath for the repository at u, if it is one of this machine.
func (s *source) checkURL(u *url.URL) error {
	if u.Scheme != "file" {
		return nil
	}

	return s.checkPath(u.Path)
}

// checkPath fails if a server, instead of the user, asked for a path of this machine, or if the path is
// Request.Private or below. It also fails if Request.Private is below the path: the files are copied to
// there, so that the copy would never end.
func (s *source) checkPath(path string) error {
	if s.indirect {
		return errors.New("the server refers to a file of this machine")
	}

	inside, err := regular.Within(s.request.Private, path)
	if err != nil {
		return fmt.Errorf("cannot open directory: %w", err)
	}

	if inside {
		return errors.New("it is below the directory of the working directories, XP_TF_DIR: a module cannot be there")
	}

	inside, err = regular.Within(path, s.request.Private)
	if inside {
		return errors.New("the working directory of the Workspace is inside of it")
	}

	return err
}
