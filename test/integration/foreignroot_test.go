// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestForeignRoot starts an instance on the directory of an instance of another cluster:
// it ends with an error and changes nothing. Otherwise each of the two would remove the
// workdirs of the other as garbage.
func TestForeignRoot(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	root := t.TempDir()
	i := startInstance(t, c, withShard(unique("shard")), withRoot(root))
	i.stop(t)

	own := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "extension-apiserver-authentication"}}
	c.get(t, own)

	filesystem.Write(t, root, filesystem.Files{".cluster": "another\n", "0a0f3a2a-7f0e-4a52-9d56-6b5e2a4f0a01/main.tf": "theirs"})

	before := filesystem.Read(t, root)

	out, err := runProvider(t, c, root, "--shard-name="+unique("shard"), "--cli="+i.runs.cli, "--gc-interval=1ms")
	if err == nil {
		t.Error("want it to end with an error")
	}

	for _, text := range []string{"XP_TF_DIR", root, `cluster "another"`, string(own.GetUID()), "use another directory"} {
		if !strings.Contains(out, text) {
			t.Errorf("want %q in the output, got:\n%s", text, out)
		}
	}

	if diff := cmp.Diff(before, filesystem.Read(t, root)); diff != "" {
		t.Errorf("files of the other cluster: -before, +after:\n%s", diff)
	}
}
