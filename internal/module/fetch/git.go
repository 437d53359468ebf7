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

	"github.com/crossplane-contrib/provider-terraform/internal/process"
)

// commitPrefix begins the revision of a source that has a known commit.
const commitPrefix = "commit "

// credentialHelper is configuration that makes git ignore all other helpers, and use the
// file with the credentials of this fetch.
const credentialHelper = "[credential]\n\thelper =\n\thelper = \"store --file=\\\"$" + credentialsVariable + "\\\"\"\n"

// commitID matches the full name of a commit, which never changes.
var commitID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Immutable reports whether an address that had this revision has it for ever: the
// address names the commit in full.
func Immutable(address, revision string) bool {
	commit, ok := strings.CutPrefix(revision, commitPrefix)
	_, query, _ := strings.Cut(address, "?")

	return ok && slices.Contains(strings.Split(query, "&"), "ref="+commit)
}

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

// prepare returns u without its credentials, which are written to files that git reads. In
// a URL they would be among the arguments of git, which every process on the node can see,
// and stay in the configuration of the repository. It is an error if u is a private
// repository of this machine.
func (a *gitAccess) prepare(u *url.URL) (*url.URL, error) {
	if u.Scheme == "file" {
		return u, checkOutside(a.private, u.Path)
	}

	if key := u.Query().Get("sshkey"); key != "" {
		u = without(u, "sshkey")

		if err := a.useSSHKey(key); err != nil {
			return nil, err
		}
	}

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

// A gitGetter checks the revision before it clones, and keeps credentials out of
// arguments.
type gitGetter struct {
	getter.GitGetter

	check  *revisionCheck
	access *gitAccess
}

// Get clones a repository.
func (g *gitGetter) Get(dst string, u *url.URL) error {
	g.check.setSource("git::" + without(u, "ref").String())

	u, err := g.access.prepare(u)
	if err != nil {
		return err
	}

	revision, err := resolve(g.Context(), u)
	if err != nil {
		return err
	}

	if err := g.check.found(revision); err != nil {
		return err
	}

	// A shallow clone has no other commits than that of the ref.
	commit, isCommit := strings.CutPrefix(revision, commitPrefix)
	if isCommit && !u.Query().Has("depth") {
		u = without(u, "ref")
		q := u.Query()
		q.Set("ref", commit)
		u.RawQuery = q.Encode()

		return g.GitGetter.Get(dst, u)
	}

	if err := g.GitGetter.Get(dst, u); err != nil {
		return err
	}

	// The ref may have changed during the clone.
	if now, err := resolve(g.Context(), u); err != nil || now != revision {
		return g.check.found("")
	}

	return nil
}

// GetFile gets one file of a repository.
func (g *gitGetter) GetFile(dst string, u *url.URL) error {
	u, err := g.access.prepare(u)
	if err != nil {
		return err
	}

	return g.GitGetter.GetFile(dst, u)
}

// without returns u without these parameters.
func without(u *url.URL, parameters ...string) *url.URL {
	q := u.Query()
	for _, name := range parameters {
		q.Del(name)
	}

	bare := *u
	bare.RawQuery = q.Encode()

	return &bare
}

// resolve the ref in u: it returns a revision that changes when the value of the ref does.
// It names the commit unless only a clone can tell that.
func resolve(ctx context.Context, u *url.URL) (string, error) {
	ref := u.Query().Get("ref")
	if commitID.MatchString(ref) {
		return commitPrefix + ref, nil
	}

	address := without(u, "ref", "depth").String()

	// An annotated tag is followed by the commit that it stands for.
	patterns := []string{ref, ref + peeled}
	if ref == "" {
		patterns = []string{head}
	}

	refs, err := listRefs(ctx, address, patterns...)
	if err == nil && refs == "" {
		// It may be the beginning of a commit's name, or an expression. In both cases its
		// value does not change as long as no ref does.
		refs, err = listRefs(ctx, address)
	}

	if commit := commitOf(ref, refs); commit != "" {
		return commitPrefix + commit, err
	}

	return "refs " + fingerprint(ref, refs), err
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
func listRefs(ctx context.Context, address string, patterns ...string) (string, error) {
	stderr := &process.Tail{Max: maxStderr}
	refs := &bytes.Buffer{}

	args := append([]string{"ls-remote", "--", address}, patterns...)
	git := exec.CommandContext(ctx, "git", args...) //nolint:gosec // Two dashes end the options.
	git.Stdout = refs
	git.Stderr = stderr

	err := git.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", errors.Errorf("git ls-remote: %s: %s", exit.ProcessState, stderr.String())
	}

	return refs.String(), errors.Wrap(err, "cannot run git")
}

// useSSHKey makes git, in the environment of this process, use a key in base64. Go-getter
// would write the path of the key to a shell command without quotes.
func (a *gitAccess) useSSHKey(key string) error {
	data, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return errors.New("the sshkey in the address is not valid base64")
	}

	path := filepath.Join(a.dir, sshKeyFile)
	if err := os.WriteFile(path, data, 0o600); err != nil { //nolint:gosec // The caller has made the directory for it.
		return err
	}

	// A shell reads the command and expands the variable.
	command := cmp.Or(os.Getenv("GIT_SSH_COMMAND"), "ssh") + ` -i "$CROSSPLANE_FETCH_SSHKEY"`

	return errors.Join(
		os.Setenv("CROSSPLANE_FETCH_SSHKEY", path), //nolint:forbidigo // This process is for one fetch.
		os.Setenv("GIT_SSH_COMMAND", command),      //nolint:forbidigo // As above.
	)
}
