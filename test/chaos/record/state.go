// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// State returns a text that identifies the state that a run works with: two runs have the
// same text if, and only if, they use the same state. It is derived from the inputs of the
// CLI: the backend that the directory was initialized with, completed by the environment.
// It is empty if that is not known.
func State(dir string, environ []string) (string, error) {
	env := map[string]string{}

	for _, kv := range environ {
		key, value, _ := strings.Cut(kv, "=")
		env[key] = value
	}

	name := cmp.Or(env["TF_WORKSPACE"], "default")

	data, err := os.ReadFile(filepath.Join(dir, ".terraform", "terraform.tfstate")) //nolint:gosec // The directory is that of the run.
	if os.IsNotExist(err) {
		return "disk/" + dir + "/" + name, nil
	}

	if err != nil {
		return "", fmt.Errorf("cannot read backend: %w", err)
	}

	initialized := struct {
		Backend struct {
			Type   string `json:"type"`
			Config struct {
				Namespace string `json:"namespace"`
				Suffix    string `json:"secret_suffix"`
			} `json:"config"`
		} `json:"backend"`
	}{}
	if err := json.Unmarshal(data, &initialized); err != nil {
		// A CLI that was killed may have left half of the file. The next init makes it whole.
		return "", nil //nolint:nilerr // See above.
	}

	b := initialized.Backend
	if b.Type != "kubernetes" {
		return "disk/" + dir + "/" + name, nil
	}

	return Secret(cmp.Or(b.Config.Namespace, env["KUBE_NAMESPACE"], "default"), b.Config.Suffix, name), nil
}

// Secret identifies a state that the kubernetes backend keeps in a namespace, for the
// Terraform workspace of the supplied name.
func Secret(namespace, suffix, name string) string {
	return strings.Join([]string{"kubernetes", namespace, suffix, name}, "/")
}
