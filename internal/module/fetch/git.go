// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	getter "github.com/hashicorp/go-getter"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// commitPrefix begins the revision of an address that names a commit in full.
const commitPrefix = "commit "

// credentialHelper is configuration that makes git forget all helpers that it knows,
// and use the file with the credentials of this fetch.
const credentialHelper = "[credential]\n\thelper =\n\thelper = \"store --file=\\\"$" + credentialsVariable + "\\\"\"\n"

// commitID matches the name of a commit, in full: what it stands for never changes.
var commitID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Immutable reports whether a source that has this revision has it for ever.
func Immutable(revision string) bool { return strings.HasPrefix(revision, commitPrefix) }

// gitAccess is what git needs to get into repositories.
type gitAccess struct {
	// dir is Request.Dir.
	dir string

	// credentials in the format of git-credential-store.
	credentials []byte
}

// addCredentials adds lines to the credentials, which win over those that are there.
func (a *gitAccess) addCredentials(lines []byte) error {
	a.credentials = slices.Concat(lines, []byte("\n"), a.credentials)
	if err := os.WriteFile(filepath.Join(a.dir, credentialsFile), a.credentials, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(a.dir, gitConfigFile), []byte(credentialHelper), 0o600)
}

// withoutUserinfo returns u without its credentials, which are put where git finds
// them. In a URL they would be among the arguments of git, for everybody on the
// node to see, and stay in the configuration of the repository.
func (a *gitAccess) withoutUserinfo(u *url.URL) (*url.URL, error) {
	if u.User == nil || u.Scheme != "http" && u.Scheme != "https" {
		return u, nil
	}
	// A token is often given as a name without a password. The helper is silent
	// unless there is one, even if it is empty.
	password, _ := u.User.Password()
	line := url.URL{Scheme: u.Scheme, Host: u.Host, User: url.UserPassword(u.User.Username(), password)}
	bare := *u
	bare.User = nil
	return &bare, a.addCredentials([]byte(line.String()))
}

// A gitGetter looks before it clones, and keeps credentials out of sight.
type gitGetter struct {
	getter.GitGetter

	look   *look
	access *gitAccess
}

// Get clones a repository.
func (g *gitGetter) Get(dst string, u *url.URL) error {
	u, err := g.access.withoutUserinfo(u)
	if err != nil {
		return err
	}
	revision, err := g.access.revision(g.Context(), u)
	if err != nil {
		return err
	}
	if err := g.look.at(revision); err != nil {
		return err
	}
	return g.GitGetter.Get(dst, u)
}

// GetFile gets one file of a repository.
func (g *gitGetter) GetFile(dst string, u *url.URL) error {
	u, err := g.access.withoutUserinfo(u)
	if err != nil {
		return err
	}
	return g.GitGetter.GetFile(dst, u)
}

// revision returns a text that changes when what the ref in u stands for does.
func (a *gitAccess) revision(ctx context.Context, u *url.URL) (string, error) {
	q := u.Query()
	ref := q.Get("ref")
	if commitID.MatchString(ref) {
		return commitPrefix + ref, nil
	}
	sshKey := q.Get("sshkey")
	for _, name := range []string{"ref", "sshkey", "depth"} {
		q.Del(name)
	}
	bare := *u
	bare.RawQuery = q.Encode()

	pattern := ref
	if ref == "" {
		pattern = "HEAD"
	}
	refs, err := a.listRefs(ctx, bare.String(), sshKey, pattern)
	if err == nil && refs == "" {
		// It may be the beginning of a commit's name, or an expression. Whatever it
		// is, it stands for the same as long as all refs do.
		refs, err = a.listRefs(ctx, bare.String(), sshKey)
	}
	if err != nil {
		return "", err
	}
	return "refs " + fingerprint(bare.String(), ref, refs), nil
}

// listRefs asks the repository for all refs whose names end in one of the patterns,
// or for all there are, and returns them with their commits.
func (a *gitAccess) listRefs(ctx context.Context, address, sshKey string, patterns ...string) (string, error) {
	stderr := &tail{max: maxStderr}
	refs := &bytes.Buffer{}

	args := append([]string{"ls-remote", "--", address}, patterns...)
	git := exec.CommandContext(ctx, "git", args...) //nolint:gosec // Two dashes end the options.
	git.Stdout = refs
	git.Stderr = stderr
	if sshKey != "" {
		var err error
		if git.Env, err = a.withSSHKey(os.Environ(), sshKey); err != nil {
			return "", err
		}
	}
	err := git.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", errors.Errorf("git ls-remote: %s: %s", exit.ProcessState, stderr.data)
	}
	return refs.String(), errors.Wrap(err, "cannot run git")
}

// withSSHKey returns an environment in which git uses the key, in base64, as
// go-getter does when it clones.
func (a *gitAccess) withSSHKey(env []string, key string) ([]string, error) {
	data, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return nil, errors.New("the sshkey in the address is not valid base64")
	}
	path := filepath.Join(a.dir, sshKeyFile)
	if err := os.WriteFile(path, data, 0o600); err != nil { //nolint:gosec // The caller has made the directory for it.
		return nil, err
	}
	ssh, ok := lookup(env, "GIT_SSH_COMMAND")
	if !ok || ssh == "" {
		ssh = "ssh"
	}
	// It is read by a shell, which knows the variable.
	return append(env, "CROSSPLANE_FETCH_SSHKEY="+path, "GIT_SSH_COMMAND="+ssh+` -i "$CROSSPLANE_FETCH_SSHKEY"`), nil
}
