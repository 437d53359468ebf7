// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"github.com/crossplane-contrib/provider-terraform/internal/environ"
)

// gitDirVariable names the directory of the credentials file for git. Images with a
// git configuration of their own refer to it.
const gitDirVariable = "GIT_CRED_DIR"

// withGitCredentials returns env with variables that make git take its credentials only from the
// file in dir: init runs git for modules that a module uses. Other configuration of git in env
// stays.
func withGitCredentials(env []string, dir string) ([]string, error) {
	env, err := environ.WithGitConfig(environ.Without(env, gitDirVariable),
		// The first value makes git forget the helpers that it knows.
		"credential.helper", "",
		"credential.helper", `store --file="$`+gitDirVariable+`/`+gitCredentialsFile+`"`,
	)
	if err != nil {
		return nil, err
	}

	return append(env, gitDirVariable+"="+dir), nil
}
