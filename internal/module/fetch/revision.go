// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

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

	// source and revision are those of the Result.
	source, revision string

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

// setSource sets the source, if it is not the address.
func (c *revisionCheck) setSource(source string) {
	if !c.indirect {
		c.source = source
	}
}

// redirect records that the source refers to another one. From now on revisions are not those of
// the address, which may refer to another source the next time.
func (c *revisionCheck) redirect() {
	*c = revisionCheck{indirect: true}
}

// fingerprint returns a short text that identifies these strings.
func fingerprint(s ...string) string {
	h := sha256.New()

	for _, s := range s {
		sum := sha256.Sum256([]byte(s))
		h.Write(sum[:])
	}

	return hex.EncodeToString(h.Sum(nil))
}
