// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestGitCredentials(t *testing.T) {
	t.Parallel()

	s := newGitServer(t)
	for repo, user := range map[string]string{"private": "me:s3cr3t-p4ss", "token": "t0k3n-0123456789:", "operator": "operator:0p3r4t0r", "odd": "odd:s3cr3t%zz^"} {
		s.repo(t, repo, files{"main.tf": repo})
		s.users[repo] = user
	}

	cases := map[string]struct {
		reason string
		// login is put before the host in the address.
		login, repo, creds string
		// operator says that a credential helper is configured for the whole system, and asked that
		// git is expected to use it.
		operator, asked bool
		// want is the message. It is empty for success.
		want string
	}{
		"File": {
			reason:   "Credentials may come from a file.",
			repo:     "private",
			creds:    "http://other:x@example.org\nhttp://me:s3cr3t-p4ss@" + s.host() + "\n",
			operator: true,
		},
		"Address": {
			reason:   "Credentials may be in the address.",
			login:    "me:s3cr3t-p4ss@",
			repo:     "private",
			operator: true,
		},
		"AddressEscaped": {
			reason: "They may be escaped there.",
			login:  "me:s3cr3t%2Dp4ss@",
			repo:   "private",
		},
		"AddressWins": {
			reason: "Credentials in the address take precedence.",
			login:  "me:s3cr3t-p4ss@",
			repo:   "private",
			creds:  "http://me:wr0ng-s3cr3t@" + s.host(),
		},
		"User": {
			reason: "A user in the address selects an entry, which may be escaped.",
			login:  "me@",
			repo:   "private",
			creds:  "http://other:wr0ng-s3cr3t@" + s.host() + "\nhttp://me:s3cr3t%2Dp4ss@" + s.host() + "\n",
		},
		"UserWithoutPassword": {
			reason: "Git does not use an entry without a password, and takes what is no escape for text.",
			login:  "odd@",
			repo:   "odd",
			creds:  "http://odd@" + s.host() + "\nhttp://odd:s3cr3t%zz^@" + s.host() + "\n",
		},
		"Token": {
			reason: "The credentials may be only a token.",
			login:  "t0k3n-0123456789@",
			repo:   "token",
		},
		"None": {
			reason: "Git does not prompt for credentials.",
			repo:   "private",
			want:   "fatal: cannot sign in to '" + s.url + "': the repository does not exist, or needs an entry for this host, and for the user in the address, in a file .git-credentials in spec.credentials of the ProviderConfig",
		},
		"OtherHost": {
			reason: "The file exists, and the message does not ask for one.",
			repo:   "private",
			creds:  "http://me:s3cr3t-p4ss@example.org\n",
			want:   "fatal: cannot sign in to '" + s.url + "': the repository does not exist, or the entries of .git-credentials in spec.credentials of the ProviderConfig do not fit this host, or the user in the address",
		},
		"WrongFile": {
			reason: "Wrong credentials are not shown.",
			repo:   "private",
			creds:  "http://me:wr0ng-s3cr3t@" + s.host(),
			want:   "fatal: Authentication failed for '" + s.url + "/private/': correct the first entry for this host, or for the user in the address, in .git-credentials, in spec.credentials of the ProviderConfig, or the user and token in the address",
		},
		"WrongAddress": {
			reason: "Nor are those in the address.",
			login:  "us3r-s3cr3t:wr0ng-s3cr3t@",
			repo:   "private",
			want:   `cannot fetch module "git::` + s.url + `/private": git ls-remote: exit status 128: fatal: Authentication failed for '` + s.url + "/private/'",
		},
		"Operator": {
			reason:   "The system-wide helper is used if there are no other credentials.",
			repo:     "operator",
			operator: true,
			asked:    true,
		},
		"NotOperator": {
			reason:   "The helper is not used if there are others, and does not learn them.",
			repo:     "operator",
			creds:    "http://me:s3cr3t-p4ss@" + s.host(),
			operator: true,
			want:     "fatal: Authentication failed",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			home := t.TempDir()
			trace, asked := filepath.Join(home, "trace"), filepath.Join(home, "asked")

			if tc.operator {
				filesystem.Write(t, home, files{
					"helper":     "#!/bin/sh\necho $1 >>" + asked + "\ncat >>" + asked + "\ntest $1 != get || printf 'username=operator\\npassword=0p3r4t0r\\n'\n",
					".gitconfig": "[credential]\n\thelper = \"!sh " + home + "/helper\"\n",
				})
			}

			p := newPlace(t, "git::http://"+tc.login+s.host()+"/"+tc.repo)
			p.request.Env = environment(t, "HOME="+home, "GIT_TRACE="+trace)
			p.request.GitCredentials = []byte(tc.creds)

			if tc.want == "" {
				p.ensure(t)
				p.expect(t, files{"main.tf": tc.repo})
			} else if got := p.ensureFails(t); !strings.Contains(got, tc.want) || strings.Contains(got, "s3cr3t") {
				t.Errorf("%s\nEnsure(...): want error %q, got %q", tc.reason, tc.want, got)
			}

			// The trace has the arguments of every process that git starts.
			expectNoSecret(t, trace)
			expectNoSecret(t, p.dir.Path())

			if log, err := os.ReadFile(asked); tc.asked != (err == nil) {
				t.Errorf("%s\nhelper of the operator: want used %t, got:\n%s", tc.reason, tc.asked, log)
			}
		})
	}
}

// expectNoSecret fails if a secret of TestGitCredentials is in a file below path.
func expectNoSecret(t *testing.T, path string) {
	t.Helper()

	err := filepath.Walk(path, func(name string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return err
		}

		data, err := os.ReadFile(name)
		for _, secret := range []string{"s3cr3t", "t0k3n-0123456789"} {
			if strings.Contains(string(data), secret) {
				t.Errorf("%q contains %q:\n%s", name, secret, data)
			}
		}

		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestGitTenants fetches for many tenants at once, all from the same host. Each has a repository
// that no other tenant may read, and all of them fetch the same public one, too.
func TestGitTenants(t *testing.T) {
	t.Parallel()

	const tenants = 6

	s := newGitServer(t)

	for i := range tenants {
		name := fmt.Sprintf("repo-%d", i)
		s.repo(t, name, files{"main.tf": name})
		s.users[name] = fmt.Sprintf("user-%d:password-%d", i, i)
	}

	fetcher := NewFetcher(nil, Options{Program: os.Args[0]})

	var wg sync.WaitGroup

	for i := range tenants {
		own := newPlace(t, fmt.Sprintf("git::%s/repo-%d", s.url, i))
		foreign := newPlace(t, fmt.Sprintf("git::%s/repo-%d", s.url, (i+1)%tenants))
		own.fetcher, foreign.fetcher = fetcher, fetcher

		credentials := fmt.Appendf(nil, "http://user-%d:password-%d@%s\n", i, i, s.host())
		own.request.GitCredentials, foreign.request.GitCredentials = credentials, credentials

		wg.Go(func() {
			if _, err := own.fetcher.Ensure(t.Context(), own.request); err != nil {
				t.Errorf("tenant %d: %v", i, err)

				return
			}

			if diff := cmp.Diff(files{"main.tf": fmt.Sprintf("repo-%d", i)}, content(t, own.dir.Path())); diff != "" {
				t.Errorf("tenant %d: -want, +got:\n%s", i, diff)
			}
		})
		wg.Go(func() {
			if _, err := foreign.fetcher.Ensure(t.Context(), foreign.request); err == nil {
				t.Errorf("tenant %d read the repository of another", i)
			}
		})
	}

	wg.Wait()
}
