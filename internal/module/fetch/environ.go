// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
)

const (
	// credentialsVariable has the path of the file with the credentials for git. A shell expands
	// the variable, so that the path needs no quoting.
	credentialsVariable = "CROSSPLANE_FETCH_CREDENTIALS"

	// Files and directories in Request.Dir.
	credentialsFile = "credentials"
	gitConfigFile   = "gitconfig"
	tempDir         = "tmp"
	homeDir         = "home"
)

// MaxSilence is how long an HTTP server may send nothing.
const MaxSilence = time.Minute

// environment returns the environment of a fetch in dir, based on the environment from the
// caller.
func environment(base []string, dir string) ([]string, error) {
	// These variables would make git work on the repository of another program.
	env := environ.Without(base, "GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_NAMESPACE",
		"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
	if _, ok := environ.Lookup(env, "HOME"); !ok {
		// Without the variable, programs ask the system for the home directory of the user, and may
		// find credentials there that are not meant for them.
		env = append(env, "HOME="+filepath.Join(dir, homeDir))
	}

	env = append(env,
		// After the process was killed, the rest of it is removed together with dir.
		"TMPDIR="+filepath.Join(dir, tempDir),
		credentialsVariable+"="+filepath.Join(dir, credentialsFile),
		// Messages go into conditions.
		"LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=",
		"SSH_ASKPASS=",
		// A directory above dir may be the repository of an older module, with any configuration.
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir),
	)

	return environ.WithGitConfig(env,
		// Git ignores it if it does not exist.
		"include.path", filepath.Join(dir, gitConfigFile),
		// A server that does not answer must not take a worker until --timeout.
		"http.lowSpeedLimit", "1",
		"http.lowSpeedTime", strconv.Itoa(int(MaxSilence.Seconds())),
		// Maintenance would run in the background while the files are moved.
		"maintenance.auto", "false",
	)
}

// UseGitCredentials makes git, in the environment of the fetch, use the credentials of the request and
// no others.
func (r Request) UseGitCredentials() error {
	if err := os.WriteFile(filepath.Join(r.Dir, credentialsFile), r.GitCredentials, 0o600); err != nil {
		return err
	}

	// The first value makes git forget the helpers that it knows.
	config := fmt.Sprintf("[credential]\n\thelper =\n\thelper = %q\n", environ.GitCredentialHelper("$"+credentialsVariable))

	return os.WriteFile(filepath.Join(r.Dir, gitConfigFile), []byte(config), 0o600)
}
