// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"context"
	"maps"
	"path/filepath"
	"strings"

	getter "github.com/hashicorp/go-getter"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
)

// getAddress fetches from a go-getter address to dst.
func getAddress(ctx context.Context, r fetch.Request, dst string) (fetch.Result, error) {
	src, err := getter.Detect(r.Address, "", detectors())
	if err != nil {
		return fetch.Result{}, err
	}
	// go-getter does not handle the subdirectory: it either follows every symbolic link during the
	// copy, or refuses all of them.
	src, sub := getter.SourceDirSubdir(src)

	git := &gitAccess{request: r}
	if len(r.GitCredentials) > 0 {
		if err := git.addCredentials(r.GitCredentials); err != nil {
			return fetch.Result{}, err
		}
	}

	check := &revisionCheck{
		known: r.Known,
		// A file with checksums is downloaded first, and has its own revision.
		revisionOnly: r.RevisionOnly && !strings.Contains(src, "checksum=file"),
	}
	c := &getter.Client{
		Src:  src,
		Dst:  dst,
		Mode: getter.ClientModeDir,
		// Unlike fields, options also apply to addresses that a server refers to.
		Options: []getter.ClientOption{
			getter.WithContext(ctx),
			getter.WithDetectors(detectors()),
			getter.WithGetters(getters(check, git, r.Private)),
			getter.WithDecompressors(decompressors()),
			withoutSymlinks,
		},
	}

	err = c.Get()
	if errors.Is(err, errSkipped) {
		dst, err = "", nil
	}

	return fetch.Result{Dir: dst, Sub: sub, Source: src, Revision: check.revision}, err
}

// withoutSymlinks makes go-getter refuse symbolic links where it would follow them: in a
// subdirectory of an address that a server refers to.
func withoutSymlinks(c *getter.Client) error {
	c.DisableSymlinks = true

	return nil
}

// detectors returns the detectors of go-getter, except the last one, which accepts everything as
// a path.
func detectors() []getter.Detector {
	last := len(getter.Detectors) - 1

	return append(getter.Detectors[:last:last], &pathDetector{})
}

// A pathDetector accepts everything as a path.
type pathDetector struct {
	getter.FileDetector
}

// Detect refuses relative paths, because they have no base.
func (d *pathDetector) Detect(src, pwd string) (string, bool, error) {
	if src != "" && !filepath.IsAbs(src) {
		return "", true, errors.New("it is neither a URL nor an absolute path")
	}

	return d.FileDetector.Detect(src, pwd)
}

// getters returns the getters of go-getter. Some methods of the most common ones are replaced.
func getters(check *revisionCheck, git *gitAccess, private string) map[string]getter.Getter {
	local := localFiles{revisions: check, private: private}
	all := maps.Clone(getter.Getters)
	all["file"] = &fileGetter{local: local}
	all["git"] = &gitGetter{check: check, access: git, local: local}
	all["hg"] = &hgGetter{local: local}
	all["http"] = newHTTPGetter(check)
	all["https"] = all["http"]

	return all
}

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
