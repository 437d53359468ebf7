// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Digest returns the SHA-256, in hexadecimal, of the names and contents of the files, regardless
// of their order, and of the extra strings in their order. Different inputs have different
// encodings before they are hashed.
func Digest(files map[string]File, extra ...string) string {
	// The count and the lengths come first, so that content cannot be mistaken for the next entry.
	b := fmt.Appendf(nil, "%d,", len(files))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b = fmt.Appendf(b, "%d:%s,%d:%s,", len(name), name, len(files[name].Data), files[name].Data)
	}

	for _, s := range extra {
		b = fmt.Appendf(b, "%d:%s,", len(s), s)
	}

	sum := sha256.Sum256(b)

	return hex.EncodeToString(sum[:])
}

// Encode returns an unambiguous text, for Digest, for values of plain types or of API types.
func Encode(values ...any) string {
	// JSON encoding of strings, booleans and slices of them cannot fail, nor can that of JSON that
	// the API server has accepted.
	b, _ := json.Marshal(values)

	return string(b)
}
