// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package remedy

import (
	"net/url"
	"strings"
	"testing"
)

func TestAddress(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason, address, want string
	}{
		"Nothing":        {"An address without secrets does not change.", "git::https://example.org/a/b.git//sub?ref=v1&depth=1", "git::https://example.org/a/b.git//sub?ref=v1&depth=1"},
		"Password":       {"Name and password are removed.", "git::https://user:pass@example.org/a", "git::https://example.org/a"},
		"Token":          {"So is a name, which may be a token.", "https://token@example.org/a", "https://example.org/a"},
		"Port":           {"A port is no password.", "https://u:p@example.org:8443/a", "https://example.org:8443/a"},
		"TwoAts":         {"It is the last at sign that counts.", "https://u:p@x@example.org/a", "https://example.org/a"},
		"Slash":          {"A slash in a password makes the address invalid, and the password no less secret.", "https://user:pa/ss@example.org/a", "https://example.org/a"},
		"Digits":         {"Also if what precedes the slash looks like a port.", "https://user:12/ss@example.org/a", "https://example.org/a"},
		"DigitsBeforeIP": {"Also in front of an IP address.", "https://user:12/ss@10.0.0.1/a", "https://10.0.0.1/a"},
		"SlashInToken":   {"Or like a host.", "git::https://to/ken@example.org:8443/a?ref=x@y", "git::https://example.org:8443/a?ref=x@y"},
		"InCluster":      {"A host of the cluster has no domain.", "http://gitea:3000/org/pkg@v1.2/a?ref=v1", "http://gitea:3000/org/pkg@v1.2/a?ref=v1"},
		"Hash":           {"So does a hash, which looks like a fragment.", "git::https://user:pa#ss@example.org/a", "git::https://example.org/a"},
		"Question":       {"And a question mark, which looks like a query.", "git::https://user:1234?ss@example.org/a?ref=v1", "git::https://example.org/a?ref=v1"},
		"URLInRef":       {"A URL in a parameter of a short form is none.", "example.org/a?ref=x://y", "example.org/a?ref=redacted"},
		"Percent":        {"So does a wrong escape.", "https://user:pa%zzss@example.org/a", "https://example.org/a"},
		"AtInPath":       {"An at sign in a path is no password.", "https://example.org/@scope/pkg@1.0.zip", "https://example.org/@scope/pkg@1.0.zip"},
		"AtInRef":        {"Nor is one in a ref.", "https://example.org/a?ref=pkg@1.0", "https://example.org/a?ref=pkg@1.0"},
		"Presigned":      {"Unknown parameters may be secret.", "https://example.org/a.zip?X-Amz-Signature=abc&archive=zip", "https://example.org/a.zip?X-Amz-Signature=redacted&archive=zip"},
		"Keys":           {"Above all those of go-getter.", "s3::https://s3.example.org/b/k?aws_access_key_secret=abc&region=r", "s3::https://s3.example.org/b/k?aws_access_key_secret=redacted&region=r"},
		"SSHKey":         {"A private key.", "git::ssh://git@example.org/a?sshkey=abc==", "git::ssh://git@example.org/a?sshkey=redacted"},
		"NoValue":        {"A parameter without a value may be one without a name.", "https://example.org/a?secret", "https://example.org/a?redacted"},
		"NestedAddress":  {"An address in a parameter has secrets of its own.", "https://example.org/a?checksum=file:https://u:p@example.org/s", "https://example.org/a?checksum=redacted"},
		"NestedEscaped":  {"Escaped or not.", "https://example.org/a?checksum=file%3Ahttps%3A%2F%2Fu:p@example.org/s", "https://example.org/a?checksum=redacted"},
		"Fragment":       {"A fragment has no use.", "https://example.org/a#secret", "https://example.org/a"},
		"SCP":            {"The user of ssh is no secret.", "git@github.com:org/repo.git?ref=v1", "git@github.com:org/repo.git?ref=v1"},
		"ForcedSCP":      {"With the getter in front.", "git::git@github.com:org/repo.git", "git::git@github.com:org/repo.git"},
		"SSH":            {"As a URL.", "git::ssh://git@github.com/org/repo.git", "git::ssh://git@github.com/org/repo.git"},
		"OtherSCP":       {"Another user may be.", "user:pass@example.org:org/repo.git", "example.org:org/repo.git"},
		"Short":          {"Short forms have none.", "github.com/org/repo//sub", "github.com/org/repo//sub"},
		"ShortPassword":  {"They may have a password.", "user:pass@github.com/org/repo", "github.com/org/repo"},
		"Path":           {"A path is a path.", "/modules/a@b", "/modules/a@b"},
		"Empty":          {"An empty address stays empty.", "", ""},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := Address(tc.address); got != tc.want {
				t.Errorf("%s\nAddress(%q): want %q, got %q", tc.reason, tc.address, tc.want, got)
			}
		})
	}
}

// TestAddresses ensures that the sentence around an address stays.
func TestAddresses(t *testing.T) {
	t.Parallel()

	const in, want = "cannot get https://u:p@example.org/a?token=x: see (https://example.org/b?key=y).", "cannot get https://example.org/a?token=redacted: see (https://example.org/b?key=redacted)."
	if got := Addresses(in); got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

// FuzzAddress builds addresses from parts, and checks that the secret parts are removed.
func FuzzAddress(f *testing.F) {
	for _, seed := range [][5]string{
		{"git::https", "user", "pass", "example.org/a", "ref=v1"},
		{"https", "a/b", "p@:?#/x", "h:8080//x", "token=x"},
		{"ssh", "git", "%zz", "h/p@q", ""},
		{"a::b", "\x00", "\n", "", "a=b&c"},
		{"http", "u", "a b", "h?x", "checksum=file:https://u:p@h"},
		{"", "0", "0", "/@", ""},
		{"https", "u", "p", "/%zz@x", ""},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}

	f.Fuzz(func(t *testing.T, scheme, user, password, rest, query string) {
		const mark = "S3CR3T"
		if strings.Contains(scheme+rest+query, mark) || strings.ContainsAny(scheme, "/?#@") {
			return
		}

		escaped := scheme + "://" + url.UserPassword(user+mark, password+mark).String() + "@" + rest

		for _, address := range []string{escaped, escaped + "?" + query, scheme + "://h/p?" + url.QueryEscape(query) + "x=" + mark} {
			got := Address(address)
			if strings.Contains(got, mark) {
				t.Errorf("Address(%q): got %q", address, got)
			}

			if again := Address(got); again != got {
				t.Errorf("Address(%q): want the same, got %q", got, again)
			}

			if text := Addresses("fatal: cannot read '" + address + "': no"); strings.Contains(text, mark) && !strings.ContainsAny(address, " \t\n\r\v\f'\"<>") && addressesMatch(address) {
				t.Errorf("redacted text with %q: got %q", address, text)
			}
		}
	})
}

// addressesMatch says whether an address is recognized in a text.
func addressesMatch(address string) bool { return addresses.FindString(address) == address }
