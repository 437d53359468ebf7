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
	"strings"

	"github.com/crossplane-contrib/provider-terraform/internal/process"
	"github.com/crossplane-contrib/provider-terraform/internal/remedy"
)

const (
	// maxLines and maxMessage limit a message. The cause of a failure is at its end.
	maxLines   = 5
	maxMessage = 1000
)

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
	text = remedy.Same(remedy.Git(text, r.credentialsAdvice()))

	return oneLine(remedy.Addresses(text))
}

// credentialsAdvice says what may be wrong with the credentials for git when it asks for others.
func (r Request) credentialsAdvice() string {
	if len(r.GitCredentials) > 0 {
		return "the entries of .git-credentials in spec.credentials of the ProviderConfig do not fit this host, or the user in the address"
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
