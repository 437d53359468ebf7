// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/remedy"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

const (
	// maxNamed is the number of directories that a message names.
	maxNamed = 5

	// maxDepth limits the depth of directories. The time to walk them grows with its square, and
	// nothing interrupts that.
	maxDepth = 256
)

// locate returns the path of the directory sub, which may be a pattern, of the downloaded files. There
// are no symbolic links in the path below that directory, and checkTree accepts it.
func locate(fetched, sub string) (string, error) {
	if _, err := os.Lstat(fetched); errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("the address leads to no files")
	}

	if sub == "" {
		return fetched, checkTree(fetched)
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

	if _, err := path.Match(clean, ""); err != nil {
		return "", errors.Wrapf(err, "cannot use directory %q", sub)
	}

	matches := match(root, clean)

	switch n := len(matches); {
	case n == 0 && ofBrowser.MatchString(sub):
		return "", errors.Errorf("there is no directory %q: %s", sub, remedy.WriteDirectory)
	case n == 0:
		return "", errors.Errorf("there is no directory %q", sub)
	case n > maxNamed:
		return "", errors.Errorf("directory %q is ambiguous: there are %s and more", sub, strings.Join(matches[:maxNamed], ", "))
	case n > 1:
		return "", errors.Errorf("directory %q is ambiguous: there are %s", sub, strings.Join(matches, ", "))
	}
	// os.Root ensures that no link on the way leads out of the directory. The rest of this
	// function only computes the path.
	info, err := root.Stat(matches[0])
	if err != nil {
		return "", errors.Wrapf(err, "cannot use directory %q", sub)
	}

	if !info.IsDir() {
		return "", errors.Errorf("%q is not a directory", sub)
	}

	found, err := filepath.EvalSymlinks(filepath.Join(fetched, matches[0]))
	if err != nil {
		return "", err
	}

	if err := checkTree(found); err != nil {
		return "", adviseEntrypoint(err, fetched, sub, matches[0])
	}

	return found, nil
}

// adviseEntrypoint replaces the remedy of a link that leads out of the directory sub, at the path dir of the
// downloaded files, if the module can be the whole of these files.
func adviseEntrypoint(err error, fetched, sub, dir string) error {
	link := linkError{}
	if !errors.As(err, &link) || checkTree(fetched) != nil {
		return err
	}

	// Such a link leads to a file there, unless its target is missing.
	if _, err := os.Stat(filepath.Join(fetched, dir, link.name)); err == nil {
		link.remedy = fmt.Sprintf("remove %q from spec.forProvider.module, and set spec.forProvider.entrypoint to %q", "//"+sub, dir)
	}

	return link
}

var ofBrowser = regexp.MustCompile(`^` + remedy.OfBrowser + `$`)

// match returns the first paths that match a pattern, at most maxNamed and one more. Names before the
// first wildcard, and after the last one, may be those of links.
func match(root *os.Root, pattern string) []string {
	parts := strings.Split(pattern, "/")
	isPattern := func(part string) bool { return strings.ContainsAny(part, `*?[\`) }

	first := max(0, slices.IndexFunc(parts, isPattern))

	last := len(parts)
	for last > first && !isPattern(parts[last-1]) {
		last--
	}

	var matches []string

	for dir := range regular.Dirs(root.FS(), cmp.Or(path.Join(parts[:first]...), "."), parts[first:last]...) {
		name := path.Join(append([]string{dir}, parts[last:]...)...)
		if _, err := root.Stat(name); err != nil {
			continue
		}

		if matches = append(matches, name); len(matches) > maxNamed {
			break
		}
	}

	return matches
}

// checkTree fails if dir contains something that is not allowed in a module: a symbolic link that leads
// out or in circles, something that is neither a file, a directory nor a link, a file that the CLI loads and
// whose name is not UTF-8, or too many levels of directories. A link to a missing target is allowed if it stays inside.
func checkTree(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // Nothing is written through it.

	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		// A module has no such names: see Dir.ReplaceTree. The directory could not be read, and no module can
		// call it. But the CLI would destroy what a file that is left out declares.
		case e.IsDir() && !utf8.ValidString(name):
			return fs.SkipDir
		case !utf8.ValidString(name) && isLoaded(e.Name()):
			return errors.Errorf("the name of the file %q is not UTF-8: rename it, or pack the archive with names in UTF-8", name)
		case strings.Count(name, "/") > maxDepth:
			return errors.Errorf("a file is below more than %d directories, which is the limit: %q", maxDepth, path.Base(name))
		case e.IsDir(), e.Type().IsRegular():
			return nil
		case e.Type() == fs.ModeSymlink:
			return checkLink(root, name)
		default:
			return errors.Errorf("%q is neither a file, a directory nor a link", name)
		}
	})
}

// isLoaded says whether a CLI reads the file of the supplied name although nothing refers to it.
func isLoaded(name string) bool {
	_, ok := terraform.ConfigurationFile(name)

	return ok || terraform.IsAutoVariables(name)
}

func checkLink(root *os.Root, name string) error {
	target, err := root.Readlink(name)
	if err != nil {
		return err
	}
	// The target of a link depends on other links: two dots after a link go up from its target. So
	// os.Root follows it. If the target is missing, the text of the link is checked instead.
	_, err = root.Stat(name)
	staysInside := !path.IsAbs(target) && filepath.IsLocal(path.Join(path.Dir(name), target))

	if err == nil || errors.Is(err, fs.ErrNotExist) && staysInside {
		return nil
	}

	return linkError{name: name, target: target, remedy: "replace it by the file, or by a relative link to a file of the module"}
}

// A linkError is the refusal of a symbolic link that leads out of a module.
type linkError struct{ name, target, remedy string }

func (e linkError) Error() string {
	return fmt.Sprintf("symbolic link %q leads out of the module, to %q: %s", e.name, e.target, e.remedy)
}
