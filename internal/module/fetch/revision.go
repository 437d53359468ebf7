// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import "github.com/crossplane/crossplane-runtime/v2/pkg/errors"

// errSkipped ends a fetch: no download is needed.
var errSkipped = errors.New("the source need not be downloaded")

// A revisionCheck compares the revision of the source with the known one.
//
// The revision is checked before, or as part of, the download. If the source changes in between,
// the recorded revision is older than the downloaded tree, and the next fetch downloads it again.
// There may be unnecessary downloads, but never a missing one.
type revisionCheck struct {
	// known and revisionOnly are those of the Request.
	known        string
	revisionOnly bool

	// revision is that of the Result.
	revision string

	// indirect says that the source refers to another one.
	indirect bool
}

// found records that the source has this revision. It returns errSkipped if no download is
// needed.
func (c *revisionCheck) found(revision string) error {
	if c.indirect {
		return nil
	}

	c.revision = revision
	if revision != "" && (c.revisionOnly || revision == c.known) {
		return errSkipped
	}

	return nil
}

// redirect records that the source refers to another one. From now on revisions are not those of
// the address, which may refer to another source the next time.
func (c *revisionCheck) redirect() {
	*c = revisionCheck{indirect: true}
}
