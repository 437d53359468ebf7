// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import "strings"

// ConfigurationFile says whether one of the CLIs reads the file of the supplied name, which has no
// directory, as a part of a module. It also returns the name without its extension. The CLIs ignore
// hidden files, and the backup files of editors.
func ConfigurationFile(name string) (base string, ok bool) {
	if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") {
		return "", false
	}

	for _, extension := range []string{".tf", ".tofu", ".tf.json", ".tofu.json"} {
		if base, ok := strings.CutSuffix(name, extension); ok {
			return base, true
		}
	}

	return "", false
}
