// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bytes"
	"cmp"
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

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
)

// commitPrefix begins the revision of an address that names a commit in full.
const commitPrefix = "commit "

// credentialHelper is configuration that makes git ignore all other helpers, and use the
// file with the credentials of this fetch.
const credentialHelper = "[credential]\n\thelper =\n\thelper = \"store --file=\\\"$" + credentialsVariable + "\\\"\"\n"

// commitID matches the full name of a commit, which never changes.
var commitID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Immutable reports whether a source that has this revision has it for ever.
func Immutable(revision string) bool { return strings.HasPrefix(revision, commitPrefix) }

const (
	// head is the ref that a clone without any checks out.
	head = "HEAD"

	// peeled follows the name of a tag where git lists the commit behind it.
	peeled = "^{}"
)

// ambiguousRef matches names that may be another ref in a clone than the ref of the same
// name in the repository, or the beginning of a commit's name.
var ambiguousRef = regexp.MustCompile(`^((refs|heads|tags|remotes|origin)/.*|[0-9a-fA-F]{4,}|[A-Z_]*HEAD|@)$`)

// gitAccess holds the settings with which git accesses repositories.
type gitAccess struct {
	// dir is Request.Dir.
	dir string

	// private is Request.Private.
	private string

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

// withoutUserinfo returns u without its credentials, which are written to the file that
// git reads. In a URL they would be among the arguments of git, which every process on
// the node can see, and stay in the configuration of the repository.
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

// check that u is not a repository of this machine that must not be fetched from.
func (a *gitAccess) check(u *url.URL) error {
	if u.Scheme != "file" {
		return nil
	}

	return checkOutside(a.private, u.Path)
}

// A gitGetter checks the revision before it clones, and keeps credentials out of
// arguments.
type gitGetter struct {
	getter.GitGetter

	check  *revisionCheck
	access *gitAccess
}

// Get clones a repository.
func (g *gitGetter) Get(dst string, u *url.URL) error {
	u, err := g.access.withoutUserinfo(u)
	if err != nil {
		return err
	}

	if err := g.access.check(u); err != nil {
		return err
	}

	r, err := g.access.resolve(g.Context(), u)
	if err != nil {
		return err
	}

	if err := g.check.found(r.revision); err != nil {
		return err
	}

	return g.checkout(dst, u, r)
}

// checkout the commit of the ref in u, unless the store has it. All refs to the same
// commit, and all directories in it, share one checkout.
func (g *gitGetter) checkout(dst string, u *url.URL, r resolved) error {
	q := u.Query()

	shallow := q.Has("depth")
	if r.commit == "" || shallow {
		// The cloned commit depends on the ref, which may be changed during the clone.
		if err := g.check.reserve(r.revision, u.String(), string(g.access.credentials)); err != nil {
			return err
		}

		if err := g.GitGetter.Get(dst, u); err != nil {
			return err
		}

		return g.confirm(u, r)
	}

	q.Set("ref", r.commit)

	pinned := *u

	pinned.RawQuery = q.Encode()
	if err := g.check.reserve(r.commit, pinned.String(), string(g.access.credentials)); err != nil {
		return err
	}

	return g.GitGetter.Get(dst, &pinned)
}

// GetFile gets one file of a repository.
func (g *gitGetter) GetFile(dst string, u *url.URL) error {
	u, err := g.access.withoutUserinfo(u)
	if err != nil {
		return err
	}

	if err := g.access.check(u); err != nil {
		return err
	}

	return g.GitGetter.GetFile(dst, u)
}

// confirm that the ref in u still has the commit that it had before the clone.
func (g *gitGetter) confirm(u *url.URL, before resolved) error {
	if g.check.store == nil {
		return nil
	}

	now, err := g.access.resolve(g.Context(), u)
	if now != before {
		g.check.store.discard()
	}

	return err
}

// A resolved is the current value of a ref.
type resolved struct {
	// revision is a text that changes when that does.
	revision string

	// commit is its name in full, empty if only a clone can tell.
	commit string
}

// resolve the ref in u.
func (a *gitAccess) resolve(ctx context.Context, u *url.URL) (resolved, error) {
	q := u.Query()

	ref := q.Get("ref")
	if commitID.MatchString(ref) {
		return resolved{revision: commitPrefix + ref, commit: ref}, nil
	}

	sshKey := q.Get("sshkey")
	for _, name := range []string{"ref", "sshkey", "depth"} {
		q.Del(name)
	}

	bare := *u
	bare.RawQuery = q.Encode()

	// An annotated tag is followed by the commit that it stands for.
	patterns := []string{ref, ref + peeled}
	if ref == "" {
		patterns = []string{head}
	}

	refs, err := a.listRefs(ctx, bare.String(), sshKey, patterns...)
	if err == nil && refs == "" {
		// It may be the beginning of a commit's name, or an expression. In both cases its
		// value does not change as long as no ref does.
		refs, err = a.listRefs(ctx, bare.String(), sshKey)
	}

	if err != nil {
		return resolved{}, err
	}

	return resolved{revision: "refs " + fingerprint(bare.String(), ref, refs), commit: commitOf(ref, refs)}, nil
}

// commitOf returns the commit that a ref stands for among refs as git lists them. It
// is empty unless the ref is the short name of one branch or one tag and could be
// nothing else in a clone.
func commitOf(ref, refs string) string {
	commits := map[string]string{}

	for line := range strings.Lines(refs) {
		commit, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		commits[name] = commit
	}

	branch, tag := commits["refs/heads/"+ref], cmp.Or(commits["refs/tags/"+ref+peeled], commits["refs/tags/"+ref])
	switch {
	case ref == "":
		return commits[head]
	case branch != "" && tag != "", ambiguousRef.MatchString(ref):
		return ""
	}

	return cmp.Or(branch, tag)
}

// listRefs asks the repository for all refs whose names end in one of the patterns, or
// for all refs without a pattern, and returns them with their commits.
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
		return "", errors.Errorf("git ls-remote: %s: %s", exit.ProcessState, stderr.lines())
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

	ssh, ok := environ.Lookup(env, "GIT_SSH_COMMAND")
	if !ok || ssh == "" {
		ssh = "ssh"
	}
	// It is read by a shell, which knows the variable.
	return append(env, "CROSSPLANE_FETCH_SSHKEY="+path, "GIT_SSH_COMMAND="+ssh+` -i "$CROSSPLANE_FETCH_SSHKEY"`), nil
}
