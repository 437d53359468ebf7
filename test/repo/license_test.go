// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package repo

import (
	"strings"
	"testing"
)

// licenseHeader is how every Go file begins.
const licenseHeader = `// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

`

// license requires the license header at the top of every file. Only a build constraint
// may come before it, because controller-gen puts one there.
func license(files []file) []string {
	var complaints []string

	for _, f := range files {
		source := f.source
		if strings.HasPrefix(source, "//go:build ") {
			_, source, _ = strings.Cut(source, "\n\n")
		}

		if !strings.HasPrefix(source, licenseHeader) {
			complaints = append(complaints, f.name+": does not begin with the license header")
		}
	}

	return complaints
}

func TestLicense(t *testing.T) {
	t.Parallel()

	testRule(t, license, map[string]ruleCase{
		"Kept": {
			reason: "The header comes first.",
			tree:   tree{"a/a.go": licenseHeader + "package a"},
		},
		"BuildConstraint": {
			reason: "The header may come right after a build constraint.",
			tree:   tree{"a/a.go": "//go:build linux\n\n" + licenseHeader + "package a"},
		},
		"Missing": {
			reason: "Tests need the header as well.",
			tree:   tree{"a/a_test.go": "package a"},
			want:   []string{"a/a_test.go: does not begin with the license header"},
		},
		"OtherLicense": {
			reason: "There is one license.",
			tree:   tree{"a/a.go": strings.ReplaceAll(licenseHeader, "Apache-2.0", "MIT") + "package a"},
			want:   []string{"a/a.go: does not begin with the license header"},
		},
		"PackageComment": {
			reason: "Without an empty line the header would become part of the package comment.",
			tree:   tree{"a/a.go": strings.TrimSuffix(licenseHeader, "\n") + "package a"},
			want:   []string{"a/a.go: does not begin with the license header"},
		},
	})
}
