// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"errors"
	"net/url"
	"slices"

	getter "github.com/hashicorp/go-getter"
)

// An hgGetter clones Mercurial repositories, except private ones of this machine.
type hgGetter struct {
	getter.HgGetter

	source *source
}

// Get clones a repository.
func (g *hgGetter) Get(dst string, u *url.URL) error {
	// Other schemes, such as union and bundle, open any number of repositories and files of this machine.
	if u.Opaque != "" || !slices.Contains([]string{"file", "http", "https", "ssh"}, u.Scheme) {
		return errors.New("it is not the address of a Mercurial repository that may be fetched: use the scheme https, http, ssh or file, with an absolute path")
	}

	if err := g.source.checkURL(u); err != nil {
		return err
	}

	return g.HgGetter.Get(dst, u)
}

// GetFile gets one file of a repository.
func (g *hgGetter) GetFile(dst string, u *url.URL) error { return getRepositoryFile(dst, u, g.Get) }
