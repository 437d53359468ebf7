// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// sumsFile has the SHA-256 of each program of a directory, as sha256sum prints them.
const sumsFile = "SHA256SUMS"

// A Store has the CLIs that this process can run: the default one, and those of a directory.
type Store struct {
	// Default is the CLI of a Workspace that does not ask for one.
	Default *CLI

	dir  string
	clis []*CLI
}

// OpenStore returns a Store with the supplied default, and the programs in dir, unless that is empty: each executable
// file is one, whatever its name. The directory has to have a file SHA256SUMS, in which each of them is listed: a copy
// that was cut short must not run. It is an error if this process could write one of them, because the modules run as
// the same user, or if two of them are the same product and version.
func OpenStore(ctx context.Context, standard *CLI, dir string, o Options) (*Store, error) {
	s := &Store{Default: standard, dir: dir}
	if dir == "" {
		return s, nil
	}

	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("%q is not an absolute path", dir)
	}

	sums, err := readSums(filepath.Join(dir, sumsFile))
	if err != nil {
		return nil, err
	}

	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}

	if err := checkNotWritable(dir); err != nil {
		return nil, err
	}

	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}

		if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			continue
		}

		path := filepath.Join(dir, e.Name())
		if err := errors.Join(checkNotWritable(path), checkSum(path, sums[e.Name()])); err != nil {
			return nil, err
		}

		c, err := Find(ctx, path, o)
		if err != nil {
			return nil, err
		}

		if same := s.find(c.Product, c.Version); same != nil && same != standard {
			return nil, fmt.Errorf("%q and %q are both %s: remove one of them", same.Path, path, c)
		}

		s.clis = append(s.clis, c)
	}

	return s, nil
}

// Get returns the CLI of exactly the supplied product and version.
func (s *Store) Get(p Product, version string) (*CLI, error) {
	if c := s.find(p, version); c != nil {
		return c, nil
	}

	wanted := (&CLI{Product: p, Version: version}).String()

	var have []string
	for _, c := range s.All() {
		if !slices.Contains(have, c.String()) {
			have = append(have, c.String())
		}
	}

	switch {
	case !exact.MatchString(version):
		return nil, fmt.Errorf("the version %q is not one such as 1.12.6, without v, and no range: this instance has %s", version, strings.Join(have, ", "))
	case s.dir == "":
		return nil, fmt.Errorf("this instance has only %s: %s takes a directory with CLIs and --cli-dir", s.Default, wanted)
	default:
		return nil, fmt.Errorf("this instance does not have %s in --cli-dir, it has %s", wanted, strings.Join(have, ", "))
	}
}

// exact matches the versions that CLIs have.
var exact = regexp.MustCompile(`^\d+\.\d+\.\d+(?:[-+].+)?$`)

// All CLIs, the default one first.
func (s *Store) All() []*CLI { return append([]*CLI{s.Default}, s.clis...) }

// find returns the CLI of a product and version, or nil. One of the directory precedes the default one: it has a
// checksum.
func (s *Store) find(p Product, version string) *CLI {
	for _, c := range slices.Backward(s.All()) {
		if c.Product == p && c.Version == version {
			return c
		}
	}

	return nil
}

// String returns the product and the version.
func (c *CLI) String() string {
	name := "Terraform"
	if c.Product == OpenTofu {
		name = "OpenTofu"
	}

	return name + " " + c.Version
}

// readSums returns the checksums in a file, by the names of the files.
func readSums(path string) (map[string]string, error) {
	data, err := os.ReadFile(path) //nolint:gosec // The operator chooses it.
	if err != nil {
		return nil, fmt.Errorf("cannot read the checksums of the programs: %w", err)
	}

	sums := map[string]string{}

	for line := range strings.Lines(string(data)) {
		// The second column begins with an asterisk for a binary file.
		if sum, name, ok := strings.Cut(line, " "); ok {
			sums[strings.TrimPrefix(strings.TrimSpace(name), "*")] = strings.ToLower(sum)
		}
	}

	return sums, nil
}

func checkSum(path, want string) error {
	if want == "" {
		return fmt.Errorf("%s has no line for %q", sumsFile, filepath.Base(path))
	}

	f, err := os.Open(path) //nolint:gosec // The operator chooses it.
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // Nothing was written.

	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}

	if have := hex.EncodeToString(h.Sum(nil)); have != want {
		return fmt.Errorf("%q has the SHA-256 %s, and %s says %s: copy it again", path, have, sumsFile, want)
	}

	return nil
}

// checkNotWritable returns an error if a module, which runs as the user of this process, could replace the file. Root
// can replace any: for root, only what others could do counts.
func checkNotWritable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}

	writable := info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0
	if os.Geteuid() != 0 {
		writable = unix.Access(path, unix.W_OK) == nil
	}

	if !writable {
		return nil
	}

	return fmt.Errorf("%q is writable for the provider, so that a module could replace a program: make it read-only, for example as a part of the image", path)
}
