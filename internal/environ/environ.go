// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package environ reads and changes environments: lists of KEY=VALUE, in which the last entry of
// a key counts, as in package os/exec. No function changes its argument.
package environ

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mattn/go-shellwords"
)

// gitConfigCount counts the pairs of GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n.
const gitConfigCount = "GIT_CONFIG_COUNT"

// maxVariable is the length at which Linux refuses to start a program with a variable, with its name and the
// zero byte at its end.
const maxVariable = 128 << 10

// CheckName returns an error if no variable can have the name.
func CheckName(name string) error {
	if name == "" || strings.ContainsAny(name, "=\x00") {
		return fmt.Errorf(`%.100q is not the name of an environment variable: it must not be empty, and must contain neither "=" nor NUL`, name)
	}

	return nil
}

// CheckValue returns an error, without the value, if the variable cannot have it.
func CheckValue(name string, value []byte) error {
	switch {
	case bytes.IndexByte(value, 0) >= 0:
		return errors.New("its value contains a NUL byte, which no environment variable can")
	case len(name)+len("=")+len(value) >= maxVariable:
		return fmt.Errorf("its value has %d bytes: an environment variable can have %d with its name", len(value), maxVariable-len("=")-1)
	}

	return nil
}

// Lookup returns the value of a variable, and whether there is one.
func Lookup(env []string, name string) (string, bool) {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}

	return "", false
}

// Args returns the arguments that terraform and tofu add to those of a command.
func Args(env []string, command string) []string {
	var args []string

	for _, name := range []string{"TF_CLI_ARGS", "TF_CLI_ARGS_" + command} {
		value, _ := Lookup(env, name)
		args = append(args, Words(value)...)
	}

	return args
}

// Words splits the value of a variable whose name begins with TF_CLI_ARGS, with the library that
// the CLI uses. The CLI fails if the quotes in it are not balanced.
func Words(value string) []string {
	words, err := shellwords.Parse(value)
	if err != nil {
		return strings.Fields(strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(value))
	}

	return words
}

// Flags returns the flags of the supplied names among arguments, with their values.
func Flags(args []string, names ...string) []string {
	var flags []string

	for i, arg := range args {
		name, _, hasValue := strings.Cut(strings.Replace(arg, "--", "-", 1), "=")
		if !slices.Contains(names, name) {
			continue
		}

		flags = append(flags, arg)
		if !hasValue && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") { // A Boolean flag has none.
			flags = append(flags, args[i+1])
		}
	}

	return flags
}

// Option splits an option, which begins with any number of "-", into its name and its value, and says whether it has one. A word that
// is no option is split in the same way.
func Option(word string) (name, value string, hasValue bool) {
	return strings.Cut(strings.TrimLeft(word, "-"), "=")
}

// Quote returns the value of a variable whose name begins with TF_CLI_ARGS that consists of these words.
func Quote(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}

	return strings.Join(quoted, " ")
}

// Without returns the environment without the variables of the supplied names.
func Without(env []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")

		return slices.Contains(names, name)
	})
}

// GitCredentialHelper returns the value of credential.helper with which git reads its credentials from the file of a path, in which the
// shell expands variables. The helper "store" alone also writes: it removes an entry that a server has refused, and moves one that was
// used to the begin, so that the order of the requests decides which entry the next one gets.
func GitCredentialHelper(path string) string {
	return `!f() { test "$1" != get || git credential-store --file="` + path + `" get; }; f`
}

// WithGitConfig adds configuration for git, given as alternating keys and values.
func WithGitConfig(env []string, config ...string) ([]string, error) {
	n := 0

	if count, ok := Lookup(env, gitConfigCount); ok && count != "" {
		var err error
		if n, err = strconv.Atoi(count); err != nil || n < 0 {
			return nil, fmt.Errorf("the environment variable %s is %q: it must be a number", gitConfigCount, count)
		}
	}

	env = Without(env, gitConfigCount)

	for kv := range slices.Chunk(config, 2) {
		env = append(env, "GIT_CONFIG_KEY_"+strconv.Itoa(n)+"="+kv[0], "GIT_CONFIG_VALUE_"+strconv.Itoa(n)+"="+kv[1])
		n++
	}

	return append(env, gitConfigCount+"="+strconv.Itoa(n)), nil
}
