// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// maxConfig is the size of the largest configuration or dependency lock file that is read. Real ones
// have some kilobytes.
const maxConfig = regular.MiB

// Origin returns a digest that is the same for runs in dir that get the same providers from the same
// places. A package that was installed without a checksum is only as trustworthy as its source: a
// tenant who configures mirrors, proxies or certificates must not decide which programs other
// tenants execute. The digest may be that of secrets, so it must not be shown to tenants.
//
// A configuration file that only the CLI could read, such as a pipe, is an error.
func Origin(env []string, dir string) (string, error) {
	h := sha256.New()

	for _, kv := range slices.Sorted(slices.Values(env)) {
		name, _, _ := strings.Cut(kv, "=")
		if decidesOrigin(name) {
			fmt.Fprintf(h, "%d:%s", len(kv), kv)
		}
	}

	for _, path := range configFiles(env, dir) {
		data, err := regular.Read(path, maxConfig)

		// A file without read permission does not configure the CLI either.
		if denied := (*fs.PathError)(nil); err != nil && !errors.As(err, &denied) {
			return "", fmt.Errorf("cannot use configuration file of the CLI: %w", err)
		}

		fmt.Fprintf(h, "%d:%s", len(data), data)
	}

	return hex.EncodeToString(h.Sum(nil)), nil
}

// decidesOrigin says whether the variable affects the source of providers.
func decidesOrigin(name string) bool {
	upper := strings.ToUpper(name)

	switch {
	case strings.HasPrefix(name, "TF_VAR_"), strings.HasPrefix(name, "TF_LOG"), name == Variable, name == mayBreakVariable:
		return false
	case strings.HasPrefix(name, "TF_HTTP_"), name == "TF_ENCRYPTION":
		return false // They are about the state of one Workspace.
	case name == configVariable, name == oldConfigVariable:
		return false // The content of the file counts, not its path.
	case strings.HasPrefix(name, "TF_CLI_ARGS_"):
		return name == "TF_CLI_ARGS_init" // No other command installs providers.
	}

	return strings.HasPrefix(name, "TF_") || strings.HasPrefix(name, "SSL_CERT_") || strings.HasPrefix(name, "XDG_") ||
		strings.HasSuffix(upper, "_PROXY") || name == "HOME" || name == "NETRC"
}

const (
	configVariable    = "TF_CLI_CONFIG_FILE"
	oldConfigVariable = "TERRAFORM_CONFIG"
)

// configFiles returns the files that may configure the CLI in a directory.
func configFiles(env []string, dir string) []string {
	home, _ := environ.Lookup(env, "HOME")
	home = absolute(dir, home)
	// The error is that of a home directory with meta characters in its name, which matches nothing.
	files, _ := filepath.Glob(filepath.Join(home, ".terraform.d", "*.tfrc*"))

	// OpenTofu uses this directory if it does not find the files above and below.
	if xdg, _ := environ.Lookup(env, "XDG_CONFIG_HOME"); xdg != "" {
		xdg = filepath.Join(absolute(dir, xdg), "opentofu")
		found, _ := filepath.Glob(filepath.Join(xdg, "*.tfrc*"))
		files = append(files, append(found, filepath.Join(xdg, "tofurc"))...)
	}

	for _, name := range []string{configVariable, oldConfigVariable} {
		if path, _ := environ.Lookup(env, name); path != "" {
			return append(files, absolute(dir, path))
		}
	}

	return append(files, filepath.Join(home, ".terraformrc"), filepath.Join(home, ".tofurc"))
}

// absolute returns the absolute form of a path that the CLI uses in a directory.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}

	return filepath.Join(dir, path)
}
