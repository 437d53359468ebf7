// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// gitDirVariable names the directory of the credentials file for git. Images with a
// git configuration of their own refer to it.
const gitDirVariable = "GIT_CRED_DIR"

// withGitCredentials returns env with what makes git take its credentials from the
// file in dir and from nowhere else: init runs git for modules that a module uses.
// What env configures git with already stays.
func withGitCredentials(env []string, dir string) ([]string, error) {
	const countVariable = "GIT_CONFIG_COUNT"

	n := 0

	for _, kv := range env {
		count, ok := strings.CutPrefix(kv, countVariable+"=")
		if !ok || count == "" {
			continue
		}

		var err error
		if n, err = strconv.Atoi(count); err != nil || n < 0 {
			return nil, errors.Errorf("the environment variable %s is %q: it must be a number", countVariable, count)
		}
	}

	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return isVariable(kv, countVariable) || isVariable(kv, gitDirVariable)
	})

	// The first value makes git forget the helpers that it knows.
	for _, helper := range []string{"", `store --file="$` + gitDirVariable + `/` + gitCredentialsFile + `"`} {
		env = append(env, "GIT_CONFIG_KEY_"+strconv.Itoa(n)+"=credential.helper", "GIT_CONFIG_VALUE_"+strconv.Itoa(n)+"="+helper)
		n++
	}

	return append(env, gitDirVariable+"="+dir, countVariable+"="+strconv.Itoa(n)), nil
}
