// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// clusterName is the file, below the root, that names the cluster of the root. Older versions wrote
// no such file.
const clusterName = ".cluster"

// Bind binds the root to a cluster. It fails if the root is bound to another one: the directories
// of that cluster's Workspaces would be removed as garbage.
func (r *Root) Bind(cluster string) error {
	root, err := os.OpenRoot(r.path)
	if err != nil {
		return fmt.Errorf("cannot open the root of working directories: %w", err)
	}
	defer root.Close() //nolint:errcheck // Written files were closed and checked.

	if err := writeCluster(root, cluster); err != nil {
		return fmt.Errorf("cannot mark %q as that of this cluster: %w", r.path, err)
	}

	owner, err := root.ReadFile(clusterName)
	if err != nil {
		return fmt.Errorf("cannot find out which cluster %q belongs to: %w", r.path, err)
	}

	if got := strings.TrimSpace(string(owner)); got != cluster {
		return fmt.Errorf("%q belongs to cluster %q, and this is %q: use another directory for each cluster, or, if that cluster is gone or has become this one, delete %s",
			r.path, got, cluster, filepath.Join(r.path, clusterName))
	}

	return nil
}

// writeCluster writes the file unless it exists. Of several concurrent calls, one writes it. A file
// without content does not count: if the machine fails, the content may be lost.
func writeCluster(root *os.Root, cluster string) error {
	info, err := root.Lstat(clusterName)

	empty := err == nil && info.Size() == 0
	if !empty && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The file gets its name when its content is complete.
	temp := clusterName + "-" + rand.Text()
	defer root.Remove(temp) //nolint:errcheck // It may have got its name.

	if err := root.WriteFile(temp, []byte(cluster+"\n"), 0o600); err != nil {
		return err
	}

	err = root.Link(temp, clusterName)
	if err == nil || errors.Is(err, fs.ErrExist) && !empty {
		return nil
	}
	// The file is empty, or the file system has no hard links.
	return root.Rename(temp, clusterName)
}
