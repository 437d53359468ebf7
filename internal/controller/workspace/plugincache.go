// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	pluginCacheVariable = "TF_PLUGIN_CACHE_DIR"

	// pluginCacheLock lies in the plugin cache, because what it protects may be
	// shared with other instances on one volume.
	pluginCacheLock = ".crossplane.lock"

	pluginCacheRetry = 100 * time.Millisecond
)

// lockPluginCache locks the plugin cache that the supplied environment names, if
// it names one: Terraform does not expect that two runs of init use one cache at
// once. The returned function unlocks it.
func lockPluginCache(ctx context.Context, env []string) (func(), error) {
	dir := ""

	for _, kv := range env {
		if isVariable(kv, pluginCacheVariable) {
			dir = strings.TrimPrefix(kv, pluginCacheVariable+"=")
		}
	}

	if dir == "" {
		return func() {}, nil
	}

	l := flock.New(filepath.Join(dir, pluginCacheLock))
	if _, err := l.TryLockContext(ctx, pluginCacheRetry); err != nil {
		return nil, errors.Wrapf(err, "cannot lock plugin cache %q", dir)
	}

	// Closing the file unlocks it, so that there is nothing to be done about an
	// error here.
	return func() { _ = l.Close() }, nil
}

// isVariable says whether kv, a KEY=VALUE, is the variable of the supplied name.
func isVariable(kv, name string) bool {
	return strings.HasPrefix(kv, name+"=")
}
