// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package regular

import "path/filepath"

// Within says whether path is dir or below it. Links are followed.
func Within(dir, path string) (bool, error) {
	rel, err := Rel(dir, path)

	return filepath.IsLocal(rel), err
}

// Rel returns path relative to dir. Links are followed.
func Rel(dir, path string) (string, error) {
	path, err := resolve(path)
	if err != nil {
		return "", err
	}

	dir, err = resolve(dir)
	if err != nil {
		return "", err
	}

	return filepath.Rel(dir, path)
}

// resolve returns the absolute path without links. Links come first: two dots go up from the target
// of a link.
func resolve(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}

	return filepath.Abs(path)
}
