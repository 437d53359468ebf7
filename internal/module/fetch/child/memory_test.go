// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ulikunitz/xz"

	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
)

// TestMemory fetches an archive that makes a decompressor allocate more memory than a fetch may use.
func TestMemory(t *testing.T) {
	t.Parallel()

	b := &bytes.Buffer{}

	w, err := xz.NewWriter(b)
	if err != nil {
		t.Fatal(err)
	}

	if _, err := w.Write(makeTar(t, []packed{file("main.tf", "m")})); err != nil {
		t.Fatal(err)
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	// The header of the block follows that of the stream. It has the size of the dictionary, of
	// which 40 stands for 4 GiB, and ends with a checksum.
	const block, dictionary = 12, 4

	data := b.Bytes()
	header := data[block : block+4*(int(data[block])+1)]
	end := len(header) - 4
	header[dictionary] = 40
	binary.LittleEndian.PutUint32(header[end:], crc32.ChecksumIEEE(header[:end]))

	src := filepath.Join(t.TempDir(), "m.tar.xz")
	if err := os.WriteFile(src, data, 0o600); err != nil {
		t.Fatal(err)
	}

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()

	_, err = fetch.Run(t.Context(), self, []string{"PATH=" + os.Getenv("PATH")}, fetch.Request{Address: src, Dir: dir, Private: dir})

	got := ""
	if err != nil {
		got = err.Error()
	}

	if diff := cmp.Diff("the fetch needs more than 1024.0 MiB of memory, which is the limit: use a smaller module, or another format of archive", got); diff != "" {
		t.Errorf("Run(...): -want error, +got error:\n%s", diff)
	}
}
