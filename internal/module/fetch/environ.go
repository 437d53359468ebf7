// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// marker is the variable that says that a process is a fetch.
	marker = "CROSSPLANE_FETCH"

	// credentialsVariable has the path of the file with the credentials for git. What
	// refers to it is read by a shell, so that the path needs no quoting of its own.
	credentialsVariable = "CROSSPLANE_FETCH_CREDENTIALS"

	// Files and directories in Request.Dir.
	credentialsFile = "credentials"
	gitConfigFile   = "gitconfig"
	sshKeyFile      = "sshkey"
	tempDir         = "tmp"
	homeDir         = "home"
)

// environ returns the environment of a fetch in dir, made of that which the caller
// wants it to have.
func environ(base []string, dir string) ([]string, error) {
	env := slices.DeleteFunc(slices.Clone(base), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{
			// They would make git work on a repository of somebody else.
			"GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_NAMESPACE",
			"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
		}, name)
	})
	if _, ok := lookup(env, "HOME"); !ok {
		// Without the variable programs ask the system for the home directory of the
		// user, and may find credentials there that nobody meant them to have.
		env = append(env, "HOME="+filepath.Join(dir, homeDir))
	}
	env = append(env,
		marker+"=1",
		// What is left in there, because the process was killed, goes with dir.
		"TMPDIR="+filepath.Join(dir, tempDir),
		credentialsVariable+"="+filepath.Join(dir, credentialsFile),
		// Messages go into conditions.
		"LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=",
		"SSH_ASKPASS=",
		// Above dir there may be the repository of an older module, with whatever
		// configuration.
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir),
	)
	return withGitConfig(env,
		// Ignored as long as it does not exist.
		"include.path", filepath.Join(dir, gitConfigFile),
		// It would go on in the background, while the files are moved.
		"maintenance.auto", "false",
	)
}

// withGitConfig adds configuration of git, given as keys and values in turn, after
// that which the environment has already.
func withGitConfig(env []string, config ...string) ([]string, error) {
	n := 0
	if count, ok := lookup(env, "GIT_CONFIG_COUNT"); ok && count != "" {
		var err error
		if n, err = strconv.Atoi(count); err != nil || n < 0 {
			return nil, errors.Errorf("the environment variable GIT_CONFIG_COUNT is %q: must be a number", count)
		}
	}
	for kv := range slices.Chunk(config, 2) {
		env = append(env, "GIT_CONFIG_KEY_"+strconv.Itoa(n)+"="+kv[0], "GIT_CONFIG_VALUE_"+strconv.Itoa(n)+"="+kv[1])
		n++
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(n)), nil
}

// lookup returns the value of a variable: the last one counts.
func lookup(env []string, name string) (string, bool) {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}
