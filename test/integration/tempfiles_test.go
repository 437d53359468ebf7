// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestTemporaryFiles leaves a temporary file behind, as a plugin does that is killed.
func TestTemporaryFiles(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	e, ns, shard := newEvidence(t), c.namespace(t), unique("shard")

	tmp, err := os.MkdirTemp("", "t") //nolint:usetesting // Below the directory of a test it would be too long.
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { os.RemoveAll(tmp) })

	startInstance(t, c, withShard(shard), withEnv("TMPDIR", tmp))

	const module = "variable \"dir\" {\n  type = string\n}\nresource \"terraform_data\" \"a\" {\n  provisioner \"local-exec\" {\n    command = \"mktemp >'${var.dir}/done'\"\n  }\n}\n"

	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(c.createConfig(t, namespacedScope, ns, withBackend(ns, "temporary"))), withModule(module), withVar("dir", string(e)))
	expectReady(t, c, ws)

	name, err := os.ReadFile(filepath.Join(string(e), "done"))
	if err != nil {
		t.Fatal(err)
	}

	dir := filepath.Dir(strings.TrimSpace(string(name)))
	if want := filepath.Join(tmp, "tf-"+strings.ReplaceAll(string(ws.GetUID()), "-", "")); dir != want {
		t.Errorf("want a temporary file in %s, got %s", want, name)
	}

	eventually(t, func() error {
		if _, err := os.Lstat(dir); !os.IsNotExist(err) {
			return errors.Errorf("temporary files of a run that has ended: %s, %v", dir, err)
		}

		return nil
	})
}
