// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package remedy

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var (
	// forced matches the prefix that a go-getter address may have before the URL.
	forced = regexp.MustCompile(`^(?:[A-Za-z0-9]+::)*`)

	// withHost matches a text that begins with a host of a domain.
	withHost = regexp.MustCompile(`^(?:(?:[A-Za-z0-9-]+\.)+(?:[A-Za-z]+|xn--[A-Za-z0-9-]+)|[0-9]+(?:\.[0-9]+){3})(?::[0-9]+)?/`)

	// addresses matches URLs in a text.
	addresses = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s'"<>]+`)
)

const (
	// OfBrowser matches what go-getter takes for a directory of an address that a browser shows, or that has one slash before the
	// directory: then it encodes the query.
	OfBrowser = `(?:(?:-/)?(?:tree|blob)/[^"]*|[^"]*%253F[^"]*)`

	// WriteDirectory is the remedy.
	WriteDirectory = "write the address as HOST/OWNER/REPOSITORY//DIRECTORY?ref=REF"
)

// Addresses returns a text with the result of Address in place of each URL, without the marks that follow it in a sentence.
func Addresses(text string) string {
	return addresses.ReplaceAllStringFunc(text, func(found string) string {
		address := strings.TrimRight(found, ").,;:`")

		return Address(address) + found[len(address):]
	})
}

// Address returns the address of a module for people: without user and password, and without the
// values of parameters that may be secret.
func Address(address string) string {
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
	path, _, _ := strings.Cut(rest[at+1:], "?")

	// A slash in a password looks like the end of the host, and digits before it like a port.
	switch {
	case scheme == "":
	case !isValid(scheme + path):
		at = strings.LastIndex(rest, "@")
	case hidesHost(path):
		at += 1 + strings.LastIndex(path, "@")
	}

	if rest[:at+1] == "git@" {
		// This is the usual user of ssh hosts.
		return rest
	}

	return rest[at+1:]
}

// hidesHost reports whether what looks like a host may be the begin of a user or password: it has no domain, and what follows an at
// sign has one. The path of a host of the cluster may have an at sign, too, for a package or a version.
func hidesHost(address string) bool {
	host, _, _ := strings.Cut(address, "/")
	at := strings.LastIndex(address, "@")

	return !strings.Contains(host, ".") && at > 0 && withHost.MatchString(address[at+1:])
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
