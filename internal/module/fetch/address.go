// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	getter "github.com/hashicorp/go-getter"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// fetchedDir, in Request.Dir, is the directory for everything that is downloaded from an
// address, before the wanted directory is taken from it.
const fetchedDir = "fetched"

// getAddress fetches from a go-getter address, and returns the revision.
func getAddress(ctx context.Context, r Request, s *store) (string, error) {
	src, err := getter.Detect(r.Address, "", detectors())
	if err != nil {
		return "", err
	}
	// The directory inside is not left to go-getter: it follows every symbolic link
	// while it copies, or refuses all of them.
	src, sub := getter.SourceDirSubdir(src)
	dst := filepath.Join(r.Dir, fetchedDir)

	git := &gitAccess{dir: r.Dir, private: r.Private}
	if len(r.GitCredentials) > 0 {
		if err := git.addCredentials(r.GitCredentials); err != nil {
			return "", err
		}
	}

	check := &revisionCheck{known: r.Known, address: src, store: s}
	c := &getter.Client{
		Src:  src,
		Dst:  dst,
		Mode: getter.ClientModeDir,
		// Unlike fields, options also apply to the addresses that a server refers to.
		Options: []getter.ClientOption{
			getter.WithContext(ctx),
			getter.WithDetectors(detectors()),
			getter.WithGetters(getters(check, git)),
			getter.WithDecompressors(decompressors()),
			withoutSymlinks,
		},
	}

	err = c.Get()
	switch {
	case errors.Is(err, errStored):
		return check.revision, s.get(sub, filepath.Join(r.Dir, moduleDir))
	case err != nil:
		return "", err
	}

	s.put(dst)

	return check.revision, moveModule(dst, sub, filepath.Join(r.Dir, moduleDir))
}

// withoutSymlinks makes go-getter refuse symbolic links where it would follow them: in a
// subdirectory of an address that a server refers to.
func withoutSymlinks(c *getter.Client) error {
	c.DisableSymlinks = true

	return nil
}

// detectors returns those of go-getter.
func detectors() []getter.Detector {
	return []getter.Detector{
		&getter.GitHubDetector{},
		&getter.GitLabDetector{},
		&getter.GitDetector{},
		&getter.BitBucketDetector{},
		&getter.S3Detector{},
		&getter.GCSDetector{},
		&pathDetector{},
	}
}

// A pathDetector takes everything for a path.
type pathDetector struct {
	getter.FileDetector
}

// Detect refuses paths that are relative, because there is nothing that they could
// be relative to.
func (d *pathDetector) Detect(src, pwd string) (string, bool, error) {
	if src != "" && !filepath.IsAbs(src) {
		return "", true, errors.New("it is neither a URL nor an absolute path")
	}

	return d.FileDetector.Detect(src, pwd)
}

// getters returns those of go-getter. Of the ones that are most used some methods
// are replaced.
func getters(check *revisionCheck, git *gitAccess) map[string]getter.Getter {
	web := newHTTPGetter(check)

	return map[string]getter.Getter{
		"file":  &fileGetter{check: check, private: git.private},
		"gcs":   &getter.GCSGetter{},
		"git":   &gitGetter{check: check, access: git},
		"hg":    &getter.HgGetter{},
		"http":  web,
		"https": web,
		"s3":    &getter.S3Getter{},
	}
}

// moveModule moves the directory sub, which may be a pattern, of the downloaded files to
// dst.
func moveModule(fetched, sub, dst string) error {
	found, err := locate(fetched, sub)
	if err != nil {
		return err
	}

	return os.Rename(found, dst)
}

// locate returns the path of the directory sub, which may be a pattern, of the downloaded
// files. There are no symbolic links in the path below that directory.
func locate(fetched, sub string) (string, error) {
	if _, err := os.Lstat(fetched); errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("there is nothing")
	}

	if sub == "" {
		return fetched, nil
	}

	root, err := os.OpenRoot(fetched)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	clean := filepath.Clean(strings.TrimLeft(sub, "/"))
	if !filepath.IsLocal(clean) {
		return "", errors.Errorf("directory %q leads out of the module", sub)
	}

	matches, err := fs.Glob(root.FS(), clean)
	switch {
	case err != nil:
		return "", errors.Wrapf(err, "cannot use directory %q", sub)
	case len(matches) == 0:
		return "", errors.Errorf("there is no directory %q", sub)
	case len(matches) > 1:
		return "", errors.Errorf("directory %q is ambiguous: there are %s", sub, strings.Join(matches, ", "))
	}
	// os.Root ensures that no link on the way leads out of the directory. The rest of
	// this function only computes the path.
	info, err := root.Stat(matches[0])
	if err != nil {
		return "", errors.Wrapf(err, "cannot use directory %q", sub)
	}

	if !info.IsDir() {
		return "", errors.Errorf("%q is not a directory", sub)
	}

	return filepath.EvalSymlinks(filepath.Join(fetched, matches[0]))
}
