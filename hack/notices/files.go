// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// isLicense matches the names of files with the terms of a module: LICENSE, LICENSE.txt,
// MIT-LICENSE, COPYING.
var isLicense = regexp.MustCompile(`(?i)^([a-z0-9]+[-_.])?(licen[sc]es?|copying|unlicense)([-_.].*)?$`)

// isNotice matches the names of files that come with the terms.
var isNotice = regexp.MustCompile(`(?i)^(notices?|copyright|patents|authors)([-_.].*)?$`)

// isCode matches the names of code and settings: license.go, check_license.sh.
var isCode = regexp.MustCompile(`(?i)\.(go|sh|py|js|ts|ya?ml|json|toml|snap|tmpl|mdx)$`)

// notices returns the paths of all license files and notices in a module: those of the module,
// and those of code that was copied into it from elsewhere. The module has a license if there
// is a license file at its root.
func notices(tree fs.FS) (paths []string, licensed bool, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		if d.IsDir() {
			if isIgnored(name) {
				return fs.SkipDir
			}

			return nil
		}

		license := isLicense.MatchString(d.Name())
		if isCode.MatchString(d.Name()) || !license && !isNotice.MatchString(d.Name()) {
			return nil
		}

		paths = append(paths, name)
		licensed = licensed || license && path.Dir(name) == "."

		return nil
	})

	return paths, licensed, err
}

// isIgnored says whether the go command compiles nothing below the directory.
func isIgnored(name string) bool {
	base := path.Base(name)

	return name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"))
}
