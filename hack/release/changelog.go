// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// section returns the text of a version in CHANGELOG.md, without its heading.
func section(changelog, version string) (string, error) {
	number := strings.TrimPrefix(version, "v")
	prefix := "## [" + number + "]"

	_, rest, ok := strings.Cut("\n"+changelog, "\n"+prefix)
	if !ok {
		return "", fmt.Errorf("CHANGELOG.md has no section for VERSION %s, want %q with the entries of the release below it", version, prefix+" - "+time.DateOnly)
	}

	heading, text, _ := strings.Cut(rest, "\n")

	if _, err := time.Parse(" - "+time.DateOnly, heading); err != nil {
		return "", fmt.Errorf("CHANGELOG.md has %q, want %q with the date of the release", prefix+heading, prefix+" - "+time.DateOnly)
	}

	text, _, _ = strings.Cut(text, "\n## ")
	if text = strings.TrimSpace(text); text == "" {
		return "", fmt.Errorf("CHANGELOG.md has no entries below %q", prefix+heading)
	}

	return text + "\n", nil
}

// absolute makes links to files of the repository absolute: the page of a release is elsewhere.
func absolute(text, source, version string) string {
	return regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`).ReplaceAllString(text, "]("+source+"/blob/"+version+"/$1$2)")
}
