// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestResolve lists refs of a repository, and compares them with what a clone has checked out: a
// mirror may lag behind the one that listed them.
func TestResolve(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()

		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}

	git("init", "--quiet", "--initial-branch=main")
	git("commit", "--quiet", "--allow-empty", "--message=first")
	git("branch", "backup/origin/main")
	git("commit", "--quiet", "--allow-empty", "--message=old")
	git("tag", "old")
	git("commit", "--quiet", "--allow-empty", "--message=new")
	git("tag", "--annotate", "--message=new", "new")

	cases := map[string]struct {
		reason   string
		ref      string
		checkout string
		want     bool
	}{
		"Branch":     {reason: "This commit was listed.", ref: "main", checkout: "main", want: true},
		"Default":    {reason: "No ref is the default branch.", checkout: "main", want: true},
		"Annotated":  {reason: "A tag may be an object of its own.", ref: "new", checkout: "new", want: true},
		"Mirror":     {reason: "The clone is of an earlier commit.", ref: "main", checkout: "old"},
		"MirrorTag":  {reason: "So is that of a tag.", ref: "new", checkout: "old"},
		"Expression": {reason: "The commits of expressions are not listed.", ref: "main~1", checkout: "main", want: true},
		"Remote":     {reason: "A name that only clones have is no other branch.", ref: "origin/main", checkout: "main", want: true},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			git("checkout", "--quiet", tc.checkout)

			_, listed, err := resolve(t.Context(), &url.URL{Scheme: "file", Path: dir, RawQuery: url.Values{"ref": {tc.ref}}.Encode()})
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, isListed(t.Context(), dir, listed)); diff != "" {
				t.Errorf("%s\nisListed(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
