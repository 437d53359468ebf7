// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	getter "github.com/hashicorp/go-getter"

	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
	"github.com/crossplane-contrib/provider-terraform/internal/process"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
)

// cloneDir is the directory of a clone, in the directory of temporary files of this process. Its
// name is always the same, because errors may contain it.
const cloneDir = "repository"

// sshKeyFile is the file with the key in Request.Dir.
const sshKeyFile = "sshkey"

// maxStderr limits the output of git in a message.
const maxStderr = 64 << 10

// commitID matches the full name of a commit, which never changes.
var commitID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// remoteName matches the names that a clone gives to the refs of its remote. No remote lists them.
var remoteName = regexp.MustCompile(`^(refs/)?(remotes/)?origin/`)

// A gitGetter checks the revision before it clones, and keeps credentials out of arguments.
type gitGetter struct {
	getter.GitGetter

	source *source
}

// Get clones a repository.
func (g *gitGetter) Get(dst string, u *url.URL) error {
	u, err := g.prepare(u)
	if err != nil {
		return err
	}

	revision, listed, err := resolve(g.Context(), u)
	if err != nil {
		return err
	}

	if err := g.source.found(revision); err != nil {
		return err
	}

	if err := g.clone(dst, u); err != nil {
		return err
	}

	// The ref may have changed during the clone. Or the clone is of a mirror that lags behind the one
	// that listed the ref: its tree must not count as the new revision until the ref changes again.
	if now, _, err := resolve(g.Context(), u); err != nil || now != revision || !isListed(g.Context(), dst, listed) {
		return g.source.found("")
	}

	return nil
}

// GetFile gets one file of a repository.
func (g *gitGetter) GetFile(dst string, u *url.URL) error {
	return getRepositoryFile(dst, u, func(dst string, u *url.URL) error {
		u, err := g.prepare(u)
		if err != nil {
			return err
		}

		return g.clone(dst, u)
	})
}

// clone clones a repository. The error of go-getter for a ref that does not exist says that it is invalid.
func (g *gitGetter) clone(dst string, u *url.URL) error {
	ref := u.Query().Get("ref")

	err := g.GitGetter.Get(dst, u)
	if err != nil && strings.Contains(err.Error(), "invalid ref: ") {
		return fmt.Errorf("the repository has no branch, tag or commit %q%s", ref, refAdvice(ref))
	}

	return err
}

// refAdvice says how to write what looks like this ref by mistake. A ref has neither // nor a space.
func refAdvice(ref string) string {
	switch {
	case strings.Contains(ref, "//"):
		return `: write //DIRECTORY before the "?"`
	case strings.Contains(ref, " "):
		return ": write + as %2B"
	case strings.HasPrefix(ref, "refs/heads/"):
		return ": write it without refs/heads/"
	}

	return ""
}

// getRepositoryFile copies one file of a repository to dst. get clones the repository. The getters of
// go-getter would follow a link of the repository to a file of this machine.
func getRepositoryFile(dst string, u *url.URL, get func(dst string, u *url.URL) error) error {
	dir := filepath.Join(os.TempDir(), cloneDir)
	defer os.RemoveAll(dir) //nolint:errcheck // The caller of the fetch removes the rest.

	repository := *u
	repository.Path = path.Dir(u.Path)

	if err := get(dir, &repository); err != nil {
		return err
	}

	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // It is only read from.

	src, err := regular.OpenIn(root, path.Base(u.Path))
	if err != nil {
		return fmt.Errorf("cannot open file of the repository: %w", err)
	}
	defer src.Close() //nolint:errcheck // It is only read from.

	file, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // go-getter has made the directory.
	if err != nil {
		return err
	}

	_, err = io.Copy(file, src)

	return errors.Join(err, file.Close())
}

// prepare returns u, if it may be fetched, without its credentials, and writes them to files that git
// reads. In a URL they would be among the arguments of git, which every process on the node can see,
// and stay in the configuration of the repository.
func (g *gitGetter) prepare(u *url.URL) (*url.URL, error) {
	if err := g.source.checkURL(u); err != nil {
		return nil, err
	}

	if key := u.Query().Get("sshkey"); key != "" {
		u = without(u, "sshkey")

		if err := g.useSSHKey(key); err != nil {
			return nil, err
		}
	}

	if u.User == nil || u.Scheme != "http" && u.Scheme != "https" {
		return u, nil
	}

	r := &g.source.request

	// The name may select an entry of .git-credentials. Or it is a token, without a password: the helper ignores an entry without
	// one, but accepts an empty one.
	password, known := u.User.Password()
	if !known {
		password = passwordFor(r.GitCredentials, u)
	}

	line := url.URL{Scheme: u.Scheme, Host: u.Host, User: url.UserPassword(u.User.Username(), password)}
	bare := *u
	bare.User = nil

	// Git uses the first entry that fits: that of the address takes precedence.
	r.GitCredentials = slices.Concat([]byte(line.String()+"\n"), r.GitCredentials)

	return &bare, r.UseGitCredentials()
}

// passwordFor returns the password in .git-credentials for the host and the user in the address, if there is one. It reads lines as git
// does: an entry without a password does not count, and what is no escape is text.
func passwordFor(credentials []byte, u *url.URL) string {
	for line := range strings.Lines(string(credentials)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), u.Scheme+"://")
		if end := strings.IndexAny(rest, "/?#"); end >= 0 {
			rest = rest[:end]
		}

		login, host, hasLogin := strings.Cut(rest, "@")
		name, password, hasPassword := strings.Cut(login, ":")

		if ok && hasLogin && hasPassword && host == u.Host && unescape(name) == u.User.Username() {
			return unescape(password)
		}
	}

	return ""
}

func unescape(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}

	return text
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

// resolve returns the revision of the ref in u. It changes when the ref stands for another commit,
// and may change when other refs do. If the ref has a name in the repository, resolve also returns
// the commits that are listed for this name.
func resolve(ctx context.Context, u *url.URL) (revision, listed string, err error) {
	ref := cmp.Or(u.Query().Get("ref"), "HEAD")
	if commitID.MatchString(ref) {
		return fetch.CommitPrefix + ref, "", nil
	}

	address := without(u, "ref", "depth").String()

	// A name of a clone only, like origin/main, would match the end of other names.
	if !remoteName.MatchString(ref) {
		// An annotated tag has a line for its commit, too.
		if listed, err = listRefs(ctx, address, ref, ref+"^{}"); err != nil {
			return "", "", err
		}
	}

	refs := listed
	if refs == "" {
		// It may be the beginning of a commit's name, or an expression. In both cases its value
		// does not change as long as no ref changes.
		refs, err = listRefs(ctx, address)
	}

	return fmt.Sprintf("refs %x", sha256.Sum256([]byte(refs))), listed, err
}

// isListed says whether the commit that is checked out in dir is one of those that were listed.
func isListed(ctx context.Context, dir, listed string) bool {
	if listed == "" {
		return true
	}

	head, err := exec.CommandContext(ctx, "git", "-C", dir, "rev-parse", "HEAD").Output() //nolint:gosec // The caller has made the directory.

	return err == nil && strings.Contains(listed, strings.TrimSpace(string(head)))
}

// listRefs returns all refs of the repository, with their commits, whose names end in one of the
// patterns. Without a pattern it returns all refs.
func listRefs(ctx context.Context, address string, patterns ...string) (string, error) {
	stderr := &process.Tail{Max: maxStderr}

	args := append([]string{"ls-remote", "--", address}, patterns...)
	git := exec.CommandContext(ctx, "git", args...) //nolint:gosec // Two dashes end the options.
	git.Stderr = stderr

	refs, err := git.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		remedy := ""
		if _, rest, ok := strings.Cut(address, ".git/"); ok && strings.Trim(rest, "/") != "" {
			remedy = "\nWrite //DIRECTORY after .git"
		}

		return "", fmt.Errorf("git ls-remote: %s: %s%s", exit.ProcessState, strings.TrimSpace(stderr.String()), remedy)
	}

	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("cannot run git: %w: it is not in PATH of the provider", err)
	}

	if err != nil {
		return "", fmt.Errorf("cannot run git: %w", err)
	}

	return string(refs), nil
}

// useSSHKey makes git, in the environment of this process, use a key in base64. go-getter would
// write the path of the key to a shell command without quotes.
func (g *gitGetter) useSSHKey(key string) error {
	data, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return errors.New("the sshkey in the address is not valid base64")
	}

	file := filepath.Join(g.source.request.Dir, sshKeyFile)
	if err := os.WriteFile(file, data, 0o600); err != nil { //nolint:gosec // The caller has made the directory for it.
		return err
	}

	// A shell reads the command and expands the variable.
	command := cmp.Or(os.Getenv("GIT_SSH_COMMAND"), "ssh") + ` -i "$CROSSPLANE_FETCH_SSHKEY"`

	return errors.Join(
		os.Setenv("CROSSPLANE_FETCH_SSHKEY", file), //nolint:forbidigo // This process is for one fetch.
		os.Setenv("GIT_SSH_COMMAND", command),      //nolint:forbidigo // As above.
	)
}
