// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// output collects the output of a process. It is safe for concurrent use.
type output struct {
	mu   sync.Mutex
	data bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()

	return o.data.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()

	return o.data.String()
}

// tail returns the last n lines.
func (o *output) tail(n int) string {
	lines := strings.Split(o.String(), "\n")
	if len(lines) <= n {
		return strings.Join(lines, "\n")
	}

	return fmt.Sprintf("(%d lines before)\n", len(lines)-n) + strings.Join(lines[len(lines)-n:], "\n")
}
