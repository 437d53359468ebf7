// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// A lockFile is the text of a dependency lock file. It is empty if there is none.
type lockFile string

func readLockFile(dir string) (lockFile, error) {
	data, err := regular.Read(filepath.Join(dir, ".terraform.lock.hcl"), maxConfig)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("cannot read dependency lock file: %w", err)
	}

	return lockFile(data), nil
}

// accepts says whether the CLI would take the package from a plugin cache. Other packages must
// not be in the private cache: the CLI would install the right one over them, and so write to
// files that other runs use.
//
// A locked provider needs the right checksum. For any other provider, a complete package is
// accepted if mayBreak is set (see mayBreakVariable), and a foreign package if the user has set
// that variable.
func (l lockFile) accepts(p pkg, mayBreak, chosen bool) bool {
	if !strings.Contains(string(l), `"`+p.address+`"`) {
		return mayBreak && (chosen || !p.foreign)
	}

	// Before the files of a foreign package are read.
	if !strings.Contains(string(l), `"`+p.version+`"`) {
		return false
	}

	sum, err := p.checksum()

	return err == nil && strings.Contains(string(l), `"`+sum+`"`)
}
