// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane-contrib/provider-terraform/internal/process"
	"github.com/crossplane-contrib/provider-terraform/internal/remedy"
)

const (
	// maxLines and maxMessage limit a message. The cause of a failure is at its end.
	maxLines   = 5
	maxMessage = 1000
)

// noise matches parts of messages of go-getter and git without information.
var noise = regexp.MustCompile(`^error downloading '[^']*': |Cloning into '[^']*'\.\.\.|` +
	`\s*Please make sure you have the correct access rights\s+and the repository exists\.`)

// said returns the text of an error, for message.
func said(err error) string {
	if ue := (*url.Error)(nil); errors.As(err, &ue) && ue.Op == "parse" {
		// The text may contain a part of the password.
		return "the address is not a valid URL"
	}

	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		return fmt.Sprintf("the download is longer than %d bytes", tooLong.Limit)
	}

	end := &process.Tail{Max: maxStderr}
	// Extra white space would make room for the end of a secret.
	_, _ = end.Write([]byte(strings.Join(lines(err.Error()), "\n") + "\n"))

	return cmp.Or(end.String(), "the message is too long to be shown")
}

// message returns the text of an error of the request as one line. The line is the same for the
// same error, and contains no credentials.
func (r Request) message(text string) string {
	if r.Redact != nil {
		text = r.Redact(text)
	}

	text = strings.ReplaceAll(text, r.Dir+"/", "")
	text = noise.ReplaceAllString(text, "")
	text = remedy.Same(remedy.Git(text, r.credentialsAdvice()))
	text = addresses.ReplaceAllStringFunc(text, Redact)

	return oneLine(text)
}

// credentialsAdvice says what may be wrong with the credentials for git when it asks for others.
func (r Request) credentialsAdvice() string {
	if len(r.GitCredentials) > 0 {
		return "the entries of .git-credentials in spec.credentials of the ProviderConfig do not fit this host, or are refused"
	}

	return remedy.AddGitFile
}

// oneLine returns the last lines of a text as one.
func oneLine(text string) string {
	all := lines(text)
	last := all[max(0, len(all)-maxLines):]

	joined := strings.ReplaceAll(strings.Join(last, "; "), ":; ", ": ")
	if over := len(joined) - maxMessage; over > 0 {
		joined = "..." + strings.ToValidUTF8(joined[over:], "")
	}

	return joined
}

// lines returns the lines of a text, without empty ones and extra white space.
func lines(text string) []string {
	var all []string

	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			all = append(all, line)
		}
	}

	return all
}

var (
	// forced matches the prefix that a go-getter address may have before the URL.
	forced = regexp.MustCompile(`^(?:[A-Za-z0-9]+::)*`)

	// addresses matches URLs in a text.
	addresses = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s'"<>]+`)
)

// Redact returns the address of a module for people: without user and password, and without the
// values of parameters that may be secret.
func Redact(address string) string {
	prefix := forced.FindString(address)
	address = address[len(prefix):]

	scheme, rest, isURL := strings.Cut(address, "://")
	if isURL && !strings.ContainsAny(scheme, "/?#") {
		scheme += "://"
	} else {
		scheme, rest = "", address
	}

	// The user comes first: a password may have the other marks, which should have been escaped.
	rest, _, _ = strings.Cut(withoutUser(scheme, rest), "#")

	rest, query, hasQuery := strings.Cut(rest, "?")
	if hasQuery {
		rest += "?" + redactQuery(query)
	}

	return prefix + scheme + rest
}

// withoutUser removes the user and the password.
func withoutUser(scheme, rest string) string {
	authority, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndex(authority, "@")
	// A slash in a password looks like the end of the host.
	if path, _, _ := strings.Cut(rest[at+1:], "?"); scheme != "" && !isValid(scheme+path) {
		at = strings.LastIndex(rest, "@")
	}

	if rest[:at+1] == "git@" {
		// This is the usual user of ssh hosts.
		return rest
	}

	return rest[at+1:]
}

func isValid(address string) bool {
	_, err := url.Parse(address)

	return err == nil
}

// redactQuery replaces values of parameters unless they are known to be harmless.
func redactQuery(query string) string {
	params := strings.Split(query, "&")
	for i, p := range params {
		name, value, ok := strings.Cut(p, "=")
		switch {
		case !ok:
			params[i] = "redacted"
		case !slices.Contains([]string{"archive", "checksum", "depth", "filename", "ref", "region", "rev", "tag", "version"}, name),
			isAddress(value):
			params[i] = name + "=" + "redacted"
		}
	}

	return strings.Join(params, "&")
}

// isAddress reports whether a value may be an address, with secrets of its own.
func isAddress(value string) bool {
	plain, err := url.QueryUnescape(value)

	return err != nil || strings.Contains(plain, "://")
}
