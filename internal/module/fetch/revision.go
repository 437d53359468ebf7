// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// errUnchanged ends a fetch: the source has what is known already.
var errUnchanged = errors.New("the source is unchanged")

// A look compares what the source has with what is known of it.
//
// What a source has is looked up before, or as part of, its download. If it changes
// in between, the revision is older than what was downloaded, and the next fetch
// downloads it again: too often, never too rarely.
type look struct {
	known    string
	revision string
	indirect bool

	// address that the look is at, and what others have downloaded from there.
	address string
	shared  *sharing
}

// at notes that the source has this revision. It returns errUnchanged if that is
// known.
func (l *look) at(revision string) error {
	if l.indirect {
		return nil
	}
	if revision != "" && revision == l.known {
		return errUnchanged
	}
	l.revision = revision
	return nil
}

// refer notes that the source refers to another one. From now on revisions are not
// those of the address, which may refer to something else the next time.
func (l *look) refer() {
	*l = look{indirect: true}
}

// offered returns the revision that somebody else has downloaded from the address.
func (l *look) offered() string {
	if l.indirect || l.known != "" {
		return ""
	}
	return l.shared.known(l.address)
}

// claim what is at the address, which is the same wherever it has these names and this
// revision. It returns errShared if somebody else has downloaded it.
func (l *look) claim(revision string, names ...string) error {
	if l.indirect {
		return nil
	}
	return l.shared.claim(revision, names...)
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
