// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/module"
)

// An origin has the sources of all modules.
type origin struct {
	cache string

	// goroot has the Go standard library of the version goversion.
	goroot, goversion string
}

// exceptions returns the file with the terms of each module that has no license file. A new
// version of a module may have such a file, and is no exception until a person has looked.
func exceptions() map[module.Version]string {
	return map[module.Version]string{
		// The README names the Apache License 2.0, the license of this project, so that the image
		// has its text as well.
		{Path: "github.com/aliyun/aliyun-oss-go-sdk", Version: "v0.0.0-20190103054945-8205d1f41e70"}: "README.md",
	}
}

// copy copies the license files of all modules to the directory. The error names every module
// without a license, so that one run finds all.
func (o origin) copy(modules []module.Version, to string) error {
	var failed []error

	for _, m := range modules {
		if err := o.copyModule(m, filepath.Join(to, filepath.FromSlash(m.Path+"@"+m.Version))); err != nil {
			failed = append(failed, fmt.Errorf("module %s@%s: %w", m.Path, m.Version, err))
		}
	}

	return errors.Join(failed...)
}

func (o origin) copyModule(m module.Version, to string) error {
	dir, err := o.dir(m)
	if err != nil {
		return err
	}

	tree := os.DirFS(dir)

	paths, err := terms(m, tree)
	if err != nil {
		return err
	}

	for _, p := range paths {
		if err := copyFile(tree, p, filepath.Join(to, filepath.FromSlash(p))); err != nil {
			return err
		}
	}

	return nil
}

// terms returns the paths of the files with the terms of a module.
func terms(m module.Version, tree fs.FS) ([]string, error) {
	if m.Path == std {
		// The directories below have sources of the go command too, which is in no binary.
		return []string{"LICENSE", "PATENTS"}, nil
	}

	paths, licensed, err := notices(tree)
	if err != nil {
		return nil, err
	}

	if exception, ok := exceptions()[m]; ok {
		return append(paths, exception), nil
	}

	if !licensed {
		return nil, errors.New("there is no license file: find the terms of the module, and add the file that has them to the exceptions in hack/notices")
	}

	return paths, nil
}

func (o origin) dir(m module.Version) (string, error) {
	if m.Path == std {
		if m.Version != o.goversion {
			return "", fmt.Errorf("the go command on PATH has version %s: use the one that has built the binary", o.goversion)
		}

		return o.goroot, nil
	}

	path, err := module.EscapePath(m.Path)
	if err != nil {
		return "", err
	}

	version, err := module.EscapeVersion(m.Version)
	if err != nil {
		return "", err
	}

	dir := filepath.Join(o.cache, filepath.FromSlash(path)+"@"+version)
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("the module is not in the module cache: run `go mod download` where the go.mod of the binary is: %w", err)
	}

	return dir, nil
}

// copyFile copies a file of a module. Everybody can read the copy.
func copyFile(tree fs.FS, from, to string) error {
	text, err := fs.ReadFile(tree, from)
	if err != nil {
		return err
	}

	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // There is nothing secret in an image.
		return err
	}

	return os.WriteFile(to, text, 0o644) //nolint:gosec // There is nothing secret in an image.
}
