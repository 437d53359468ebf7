// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"os"
	"syscall"
)

// WriteScript writes an executable shell script. A process that was forked at the same time
// would have the file open for writing, and the kernel executes no file that is.
func WriteScript(path, text string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()

	return os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700) //nolint:gosec // It is executed.
}
