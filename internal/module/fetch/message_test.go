// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/crossplane-contrib/provider-terraform/internal/redact"
)

func TestMessage(t *testing.T) {
	t.Parallel()

	_, parseErr := url.Parse("https://user:pa%zzss@example.org") //nolint:staticcheck // It is meant to fail.

	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Git": {
			reason: "The output of git becomes one line, without noise and changing parts.",
			err:    errors.New("error downloading 'https://u:p@example.org/a': /usr/bin/git exited with 128: Cloning into '/w/x/fetched'...\nremote: a\n\nfatal: repository 'https://u:p@example.org/a/' not found\n"), //nolint:revive // It is what git says.
			want:   "/usr/bin/git exited with 128: remote: a; fatal: repository 'https://example.org/a/' not found",
		},
		"Access": {
			reason: "The guesses of git about an unreadable repository are removed.",
			err:    errors.New("ssh: Could not resolve hostname a: Name or service not known\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n"), //nolint:revive // It is what git says.
			want:   "ssh: Could not resolve hostname a: Name or service not known; fatal: Could not read from remote repository.",
		},
		"Key": {
			reason: "A key has a place.",
			err:    errors.New("git@example.org: Permission denied (publickey).\r\nfatal: Could not read from remote repository.\n"), //nolint:revive // It is what git says.
			want:   "git@example.org: Permission denied (publickey): the repository does not exist, or needs a key in the parameter sshkey of the address; fatal: Could not read from remote repository.",
		},
		"HostKey": {
			reason: "So has the key of a server.",
			err:    errors.New("No ED25519 host key is known for example.org and you have requested strict checking.\r\nHost key verification failed.\r\nfatal: Could not read from remote repository.\n"), //nolint:revive // It is what git says.
			want:   "No ED25519 host key is known for example.org and you have requested strict checking.; Host key verification failed: mount a file known_hosts with the key of this server at /etc/ssh/ssh_known_hosts; fatal: Could not read from remote repository.",
		},
		"Lines": {
			reason: "Only the last lines are kept.",
			err:    errors.New("1\n2\n3\n4\n5\n6\n7"),
			want:   "3; 4; 5; 6; 7",
		},
		"Port": {
			reason: "The local port changes every time.",
			err:    errors.New("read tcp 127.0.0.1:40000->127.0.0.1:80: connection reset by peer"),
			want:   "read tcp 127.0.0.1:80: connection reset by peer",
		},
		"Connect": {
			reason: "So does the time until a connection is refused.",
			err:    errors.New("fatal: unable to access 'https://example.org/a/': Failed to connect to example.org port 443 via proxy after 133 ms: Could not connect to server"),
			want:   "fatal: unable to access 'https://example.org/a/': Failed to connect to example.org port 443 via proxy: Could not connect to server",
		},
		"NoAnswer": {
			reason: "So does that until there is no answer.",
			err:    errors.New("fatal: unable to access 'https://example.org/a/': Connection timed out after 300041 milliseconds"),
			want:   "fatal: unable to access 'https://example.org/a/': Connection timed out",
		},
		"Bucket": {
			reason: "So does the number of a request.",
			err:    errors.New("operation error S3: ListObjects, https response error StatusCode: 403, RequestID: ED53A1, HostID: aGE/b+c==, api error AccessDenied: Access Denied"),
			want:   "operation error S3: ListObjects, https response error StatusCode: 403, api error AccessDenied: Access Denied",
		},
		"BucketOfOldClient": {
			reason: "It has two forms.",
			err:    errors.New("AccessDenied: Access Denied\n\tstatus code: 403, request id: CFA8, host id: aGE/b+c=="),
			want:   "AccessDenied: Access Denied; status code: 403",
		},
		"Parse": {
			reason: "The error of an invalid URL may contain a part of the password.",
			err:    fmt.Errorf("x: %w", parseErr),
			want:   "the address is not a valid URL",
		},
		"TooLong": {
			reason: "A download is limited.",
			err:    fmt.Errorf("x: %w", &http.MaxBytesError{Limit: 10}),
			want:   "the download is longer than 10 bytes",
		},
		"Path": {
			reason: "The temporary directory changes every time.",
			err:    errors.New("open /w/x/fetched/main.tf: permission denied"),
			want:   "open fetched/main.tf: permission denied",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := (Request{Dir: "/w/x"}).message(said(tc.err)); got != tc.want {
				t.Errorf("%s\nmessage(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}

	long := (Request{Dir: "/w/x"}).message("begin" + strings.Repeat("é", maxMessage) + "end")
	if len(long) > maxMessage+3 || !utf8.ValidString(long) || !strings.HasPrefix(long, "...") || !strings.HasSuffix(long, "end") {
		t.Errorf("message(...) of a long text: got %q", long)
	}
}

// TestNoPartOfSecret puts a secret at every offset around the places where a message is cut.
func TestNoPartOfSecret(t *testing.T) {
	t.Parallel()

	const (
		key    = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\nBKcw\n-----END KEY-----\n"
		short  = "abcd\nefgh\nijkl\nmnop\nqrst\nuvwx\nyz12"
		secret = "https://me:hunter22@localhost/a"
	)

	r := Request{Dir: "/w/x", Redact: redact.New([]byte(key), []byte(short), []byte(secret)).Text}
	bare := func(text string) string {
		return strings.NewReplacer(";", "", " ", "", "\n", "").Replace(text)
	}

	for name, printed := range map[string]string{"Key": key, "Joined": strings.Join(strings.Fields(key), " "), "ShortLines": short, "URL": secret} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			expect := func(text string) {
				t.Helper()

				shown := bare(r.message(said(errors.New(text))))
				for i := range len(bare(printed)) - redact.MinLength + 1 {
					if part := bare(printed)[i : i+redact.MinLength]; strings.Contains(shown, part) {
						t.Fatalf("there is %q in %q", part, shown)
					}
				}
			}

			for n := range len(printed) + 20 {
				expect(printed + strings.Repeat(".", maxMessage-n))
				expect("." + printed + strings.Repeat("\n.", n/10))
			}
			// Here only a few bytes are left between two cuts.
			for n := 0; n < len(printed)+2; n += 7 {
				expect(printed + strings.Repeat(" ", maxStderr-n))
			}
		})
	}
}
