// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

type tree = filesystem.Files

// A repository is a git repository with a working tree and one branch.
type repository struct{ dir string }

// newRepository makes a repository in dir, with the supplied files.
func newRepository(t *testing.T, dir string, files tree) *repository {
	t.Helper()

	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatalf("cannot create directory: %v", err)
	}

	r := &repository{dir: dir}
	r.git(t, "init", "--quiet", "--initial-branch=main")
	r.commit(t, files)

	return r
}

// commit makes the supplied files the only ones on the branch.
func (r *repository) commit(t *testing.T, files tree) {
	t.Helper()

	r.git(t, "rm", "-r", "--force", "--quiet", "--ignore-unmatch", ".")
	filesystem.Write(t, r.dir, files)
	r.git(t, "add", "--all")
	r.git(t, "commit", "--quiet", "--message=change")
}

// git runs git in the repository, without the configuration of the machine.
func (r *repository) git(t *testing.T, args ...string) {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = r.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + t.TempDir(),
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@example.org",
	}

	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

// newGitHandler returns git's own HTTP server of the repositories below dir.
func newGitHandler(t *testing.T, dir string) http.Handler {
	t.Helper()

	path, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	if err != nil {
		t.Fatalf("cannot find git: %v", err)
	}

	return &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + dir},
	}
}
