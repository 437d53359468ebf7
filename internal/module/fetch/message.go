// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/process"
)

const (
	// maxLines and maxMessage limit a message. The cause of a failure is at its end.
	maxLines   = 5
	maxMessage = 1000
)

var (
	// noise matches parts of messages of go-getter and git without information.
	noise = regexp.MustCompile(`^error downloading '[^']*': |Cloning into '[^']*'\.\.\.|` +
		`\s*Please make sure you have the correct access rights\s+and the repository exists\.`)

	// localPort matches the local end of a connection. It changes every time, but a condition must
	// not.
	localPort = regexp.MustCompile(`\b(tcp|udp) \S+->`)
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

	for line := range strings.Lines(err.Error()) {
		// Extra white space would make room for the end of a secret.
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			_, _ = end.Write([]byte(line + "\n"))
		}
	}

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
	text = localPort.ReplaceAllString(text, "$1 ")

	return oneLine(redactText(text))
}

// oneLine returns the last lines of a text as one.
func oneLine(text string) string {
	var lines []string

	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}

	if first := len(lines) - maxLines; first > 0 {
		lines = slices.Delete(lines, 0, first)
	}

	joined := strings.ReplaceAll(strings.Join(lines, "; "), ":; ", ": ")
	if over := len(joined) - maxMessage; over > 0 {
		joined = "..." + strings.ToValidUTF8(joined[over:], "")
	}

	return joined
}
