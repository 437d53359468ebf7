// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// TestModules applies and destroys the modules of the story with real CLIs.
func TestModules(t *testing.T) {
	t.Parallel()

	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("needs curl, as the modules do")
	}

	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}

	for cli, path := range program.CLIs(t) {
		for file, module := range map[string]string{"main.tf": inHCL, "main.tf.json": inJSON} {
			t.Run(cli+" "+file, func(t *testing.T) {
				t.Parallel()

				s := serving(t)
				dir := t.TempDir()

				if err := os.WriteFile(filepath.Join(dir, file), []byte(module), 0o600); err != nil {
					t.Fatal(err)
				}

				run := func(args ...string) {
					cmd := exec.CommandContext(t.Context(), path, args...)
					cmd.Dir = dir
					cmd.Env = append(cmd.Environ(), "TF_VAR_url="+urlOf(s.base, "thing"))

					if out, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("%q: %v: %s", args, err, out)
					}
				}

				run("init")
				run("apply", "-auto-approve")
				run("apply", "-auto-approve")

				if err := s.things.History("thing").Once(0); err != nil {
					t.Error("after the apply: ", err)
				}

				run("destroy", "-auto-approve")

				if err := s.things.History("thing").Once(1); err != nil {
					t.Error("after the destroy: ", err)
				}

				if diff := cmp.Diff([]string{host}, s.things.History("thing").Created); diff != "" {
					t.Errorf("hosts of the client: -want, +got:\n%s", diff)
				}
			})
		}
	}
}

// serving returns a story with nothing but its server.
func serving(t *testing.T) *Story {
	t.Helper()

	s := &Story{Cluster: Cluster{Listen: func() (net.Listener, error) {
		return (&net.ListenConfig{}).Listen(context.WithoutCancel(t.Context()), "tcp", "127.0.0.1:0")
	}}}
	t.Cleanup(s.Close)

	if err := s.serve(); err != nil {
		t.Fatal(err)
	}

	return s
}
