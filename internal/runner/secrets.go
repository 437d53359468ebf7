// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// secretsIn returns what is secret in a file of credentials: everything, except for the blocks of a CLI configuration
// that say where providers come from and where a host has its services, and for the hosts of its tokens. Messages name its paths, addresses and providers, and people
// have to correct them. With an "@", an address may have a password.
func secretsIn(name string, data []byte) [][]byte {
	if name != cliConfigFile {
		return [][]byte{data}
	}

	f, ok := terraform.ParseFile(data, name)
	if !ok {
		return [][]byte{data}
	}

	var secrets [][]byte

	rest := 0
	body, _ := f.Body.(*hclsyntax.Body)

	for _, b := range body.Blocks {
		start, end := b.TypeRange.Start.Byte, b.CloseBraceRange.End.Byte
		if b.Type == "credentials" {
			end = b.OpenBraceRange.Start.Byte
		}

		if slices.Contains([]string{"provider_installation", "host", "credentials"}, b.Type) && !bytes.ContainsRune(data[start:end], '@') {
			secrets = append(secrets, data[rest:start])
			rest = end
		}
	}

	return append(secrets, data[rest:])
}

// variablesIn returns the names of variables in files of them, in JSON, that would be hidden because they have a digit. They are in addresses
// and messages, which the CLI prints, and a person has to read. A name that is also a word of a value, or of another secret, may be secret.
func variablesIn(files [][]byte, others ...[]byte) []string {
	var names []string

	hidden := map[string]bool{}
	hide := func(text string) {
		for word := range strings.FieldsFuncSeq(text, isNoIdentifier) {
			hidden[word] = true
		}
	}

	for _, data := range files {
		// It fails for HCL, whose names are not hidden.
		variables := map[string]any{}
		if json.Unmarshal(data, &variables) != nil {
			hide(string(data))
		}

		for name, value := range variables {
			hide(fmt.Sprint(value))

			if strings.ContainsAny(name, "0123456789") && hclsyntax.ValidIdentifier(name) {
				names = append(names, name)
			}
		}
	}

	for _, data := range others {
		hide(string(data))
	}

	return slices.DeleteFunc(names, func(name string) bool { return hidden[name] })
}

func isNoIdentifier(r rune) bool {
	return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}
