// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// errUnchanged ends a fetch: the source still has the known revision.
var errUnchanged = errors.New("the source is unchanged")

// A revisionCheck compares the revision of the source with the known one.
//
// The revision is looked up before, or as part of, the download. If the source changes
// in between, the recorded revision is older than the downloaded tree, and the next
// fetch downloads it again: too often, never too rarely.
type revisionCheck struct {
	known    string
	revision string
	indirect bool

	// address that is checked, and the store with earlier downloads from there.
	address string
	store   *store
}

// found records that the source has this revision. It returns errUnchanged if that is
// the known one.
func (c *revisionCheck) found(revision string) error {
	if c.indirect {
		return nil
	}

	if revision != "" && revision == c.known {
		return errUnchanged
	}

	c.revision = revision

	return nil
}

// redirect records that the source refers to another one. From now on revisions are not
// those of the address, which may refer to another source the next time.
func (c *revisionCheck) redirect() {
	*c = revisionCheck{indirect: true}
}

// stored returns the revision from the address that is in the store.
func (c *revisionCheck) stored() string {
	if c.indirect || c.known != "" {
		return ""
	}

	return c.store.lookup(c.address)
}

// reserve the tree with these names and this revision in the store: addresses with the
// same names and revision have the same tree. It returns errStored if the store has it.
func (c *revisionCheck) reserve(revision string, names ...string) error {
	if c.indirect {
		return nil
	}

	return c.store.reserve(revision, names...)
}

// fingerprint returns a short text that stands for these strings.
func fingerprint(s ...string) string {
	h := sha256.New()

	for _, s := range s {
		sum := sha256.Sum256([]byte(s))
		h.Write(sum[:])
	}

	return hex.EncodeToString(h.Sum(nil))
}
