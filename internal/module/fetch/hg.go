// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"net/url"

	getter "github.com/hashicorp/go-getter"
)

// An hgGetter clones Mercurial repositories, except private ones of this machine.
type hgGetter struct {
	getter.HgGetter

	local localFiles
}

// Get clones a repository.
func (g *hgGetter) Get(dst string, u *url.URL) error {
	if err := g.local.checkURL(u); err != nil {
		return err
	}

	return g.HgGetter.Get(dst, u)
}

// GetFile gets one file of a repository.
func (g *hgGetter) GetFile(dst string, u *url.URL) error { return getRepositoryFile(dst, u, g.Get) }
