// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestHTTPCredentials(t *testing.T) {
	t.Parallel()

	s := newFileServer(t)
	s.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if user, password, _ := r.BasicAuth(); user == "me" && password == "s3cr3t-p4ss" {
			return false
		}

		w.WriteHeader(http.StatusUnauthorized)

		return true
	})
	s.serve("/m.zip", zipped(t, files{"main.tf": "m"}))

	host := strings.TrimPrefix(s.url, "http://")
	home := t.TempDir()
	filesystem.Write(t, home, files{".netrc": "machine " + host + " login me password s3cr3t-p4ss\n"})

	cases := map[string]struct {
		reason  string
		address string
		env     []string
		// want is the message. It is empty for success.
		want string
	}{
		"Address": {
			reason:  "Credentials may be in the address.",
			address: "http://me:s3cr3t-p4ss@" + host + "/m.zip",
		},
		"Home": {
			reason:  "Or in the home directory that the caller passes.",
			address: s.url + "/m.zip",
			env:     []string{"HOME=" + home},
		},
		"None": {
			reason:  "Another home directory is not used.",
			address: s.url + "/m.zip",
			env:     []string{"PATH=" + os.Getenv("PATH")},
			want:    "bad response code: 401",
		},
		"Wrong": {
			reason:  "Wrong credentials are not shown.",
			address: "http://us3r-s3cr3t:wr0ng-s3cr3t@" + host + "/m.zip",
			want:    `cannot fetch module "` + s.url + `/m.zip": bad response code: 401`,
		},
		"Unreachable": {
			reason:  "Nor are credentials for a server that does not exist.",
			address: "http://us3r-s3cr3t:wr0ng-s3cr3t@127.0.0.1:1/m.zip?token=wr0ng-s3cr3t",
			want:    `cannot fetch module "http://127.0.0.1:1/m.zip?token=redacted": Get "http://127.0.0.1:1/m.zip?token=redacted": dial tcp 127.0.0.1:1: connect: connection refused`,
		},
		"NoURL": {
			reason:  "Nor are credentials in an invalid address.",
			address: "http://us3r-s3cr3t:wr0ng/s3cr3t%zz@127.0.0.1:1/m.zip",
			want:    `cannot fetch module "http://127.0.0.1:1/m.zip": it is neither a URL nor an absolute path`,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t, tc.address)
			if tc.env != nil {
				p.request.Env = tc.env
			}

			if tc.want == "" {
				p.ensure(t)
			} else if got := p.ensureFails(t); !strings.Contains(got, tc.want) || strings.Contains(got, "s3cr3t") {
				t.Errorf("%s\nEnsure(...): want error %q, got %q", tc.reason, tc.want, got)
			}

			expectNoSecret(t, p.dir.Path())
		})
	}
}

// TestNoInheritedHome ensures that a fetch does not use the home directory of this process. It
// changes the process and so cannot run in parallel.
func TestNoInheritedHome(t *testing.T) {
	s := newFileServer(t)
	s.serve("/m.zip", zipped(t, files{"main.tf": "m"}))

	home := t.TempDir()
	filesystem.Write(t, home, files{".netrc": "machine " + strings.TrimPrefix(s.url, "http://") + " login me password p\n"})
	t.Setenv("HOME", home)
	t.Setenv("NETRC", filepath.Join(home, ".netrc"))
	t.Setenv("AWS_SECRET_ACCESS_KEY", "of the provider")

	p := newPlace(t, s.url+"/m.zip")
	p.request.Env = []string{"PATH=" + os.Getenv("PATH")}
	p.ensure(t)

	for _, r := range s.requests {
		if user, _, ok := r.BasicAuth(); ok {
			t.Errorf("the fetch used the credentials of %q", user)
		}
	}
}
