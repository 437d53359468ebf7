// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"strings"
)

// output is the path of the file with the output of a process.
type output string

func (o output) String() string {
	text, err := os.ReadFile(string(o))
	if err != nil {
		return err.Error()
	}

	return string(text)
}

// tail returns the last n lines.
func (o output) tail(n int) string {
	lines := strings.Split(o.String(), "\n")
	if len(lines) <= n {
		return strings.Join(lines, "\n")
	}

	return fmt.Sprintf("(%d lines before)\n", len(lines)-n) + strings.Join(lines[len(lines)-n:], "\n")
}
