// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strings"

	getter "github.com/hashicorp/go-getter"

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

	if len(r.GitCredentials) > 0 {
		if err := r.UseGitCredentials(); err != nil {
			return fetch.Result{}, err
		}
	}

	// A file with checksums is downloaded first, and has its own revision.
	r.RevisionOnly = r.RevisionOnly && !strings.Contains(src, "checksum=file")
	origin := &source{request: r}
	c := &getter.Client{
		Src:  src,
		Dst:  dst,
		Mode: getter.ClientModeDir,
		// Unlike fields, options also apply to addresses that a server refers to.
		Options: []getter.ClientOption{
			getter.WithContext(ctx),
			getter.WithDetectors(detectors()),
			getter.WithGetters(getters(origin)),
			getter.WithDecompressors(decompressors()),
			// Where go-getter would follow symbolic links, it refuses them: in a subdirectory of an
			// address that a server refers to.
			func(c *getter.Client) error {
				c.DisableSymlinks = true

				return nil
			},
		},
	}

	err = c.Get()
	if errors.Is(err, errSkipped) {
		dst, err = "", nil
	}

	err = explain(err, r.Address)

	if err != nil && origin.page {
		err = fmt.Errorf("%w: the server has sent a web page, perhaps because it asks for credentials", err)
	}

	return fetch.Result{Dir: dst, Sub: sub, Source: src, Revision: origin.revision}, err
}

// explain adds to the error of an address how to write it, if that is known.
func explain(err error, address string) error {
	switch {
	case err == nil:
		return nil
	case hostAsScheme.MatchString(err.Error()):
		return fmt.Errorf("%w. For git, write git@HOST:PATH", err)
	case inSubgroup.MatchString(address):
		return fmt.Errorf("%w. If the repository is in a subgroup, write git::https://gitlab.com/GROUP/SUBGROUP/REPOSITORY.git", err)
	case ofRegistry.MatchString(err.Error()):
		return fmt.Errorf("%w. %s", err, callRegistry)
	default:
		return err
	}
}

// detectors returns the detectors of go-getter, except the last one, which accepts everything as
// a path.
func detectors() []getter.Detector {
	last := len(getter.Detectors) - 1

	return append(getter.Detectors[:last:last], &pathDetector{})
}

const unknownScheme = "download not supported for scheme"

// hostAsScheme matches the error about HOST:PATH, which is the form of scp without the user.
var hostAsScheme = regexp.MustCompile(unknownScheme + ` '[\w-]+(?:\.[\w-]+)+'`)

// inSubgroup matches an address that go-getter shortens to its first two parts.
var inSubgroup = regexp.MustCompile(`^gitlab\.com/[^/?]+/[^/?]+/[^/?]`)

// ofRegistry matches the error about an address that only a CLI can fetch.
var ofRegistry = regexp.MustCompile(unknownScheme + ` '(?:tfr|oci)'`)

// callRegistry is how a module is used that go-getter cannot fetch.
const callRegistry = "To use a module of a registry, call it from an inline module"

// A pathDetector accepts everything as a path.
type pathDetector struct {
	getter.FileDetector
}

// Detect refuses relative paths, because they have no base.
func (d *pathDetector) Detect(src, pwd string) (string, bool, error) {
	// What a URL says after a colon may be a part of a password: the message does not show it.
	if scheme, rest, ok := strings.Cut(src, "://"); ok {
		if strings.HasPrefix(scheme, "http") && strings.Contains(rest, "@") {
			return "", true, errors.New("it is not a valid URL. Write the signs # / ? @ : of a user or a password as %23 %2F %3F %40 %3A, and % as %25")
		}

		return "", true, errors.New(`it is not a valid URL. What follows "HOST:" is the number of a port: write ssh://git@HOST/PATH, or git@HOST:PATH without ssh://. Write % as %25`)
	}

	if src != "" && !filepath.IsAbs(src) {
		return "", true, errors.New("it is neither a URL nor an absolute path. For a git repository write git::https://HOST/PATH. " + callRegistry)
	}

	return d.FileDetector.Detect(src, pwd)
}

// getters returns the getters of go-getter. Some methods of the most common ones are replaced.
func getters(s *source) map[string]getter.Getter {
	all := maps.Clone(getter.Getters)
	all["file"] = &fileGetter{source: s}
	all["git"] = &gitGetter{source: s}
	all["hg"] = &hgGetter{source: s}
	all["http"] = newHTTPGetter(s)
	all["https"] = all["http"]

	return all
}
