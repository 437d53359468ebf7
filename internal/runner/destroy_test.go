// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// TestDestroyInitializes ensures that nothing is destroyed after an init before the caller has
// checked the state again: the backend may be another one than before.
func TestDestroyInitializes(t *testing.T) {
	t.Parallel()

	changed := errors.New("another state")

	for name, again := range map[string]error{"Same": nil, "Changed": changed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			cli, log := filepath.Join(p.bin, "tofu-of-destroy"), filepath.Join(p.outside, "log")

			if err := program.WriteScript(cli, fmt.Sprintf(`
case $1 in
version | --version | -version) echo OpenTofu v1.2.3 ;;
init) echo init >>'%[1]s' ;;
destroy)
  [ -e '%[1]s' ] && echo destroyed >>'%[1]s' && exit
  echo '{"@level":"error","type":"diagnostic","diagnostic":{"severity":"error","summary":"Backend initialization required, please run \"tofu init\""}}'
  exit 1
  ;;
esac
`, log)); err != nil {
				t.Fatal(err)
			}

			stub, err := terraform.Find(t.Context(), cli, terraform.Options{})
			if err != nil {
				t.Fatal(err)
			}

			r := p.newRunner(t, "00000000-0000-0000-0000-000000000001", func(r *Runner) { r.CLI = stub })
			if _, err := r.Destroy(t.Context(), func() error { return again }, nil); !errors.Is(err, again) {
				t.Errorf("want the error %v, got %v", again, err)
			}

			want := "init\ndestroyed\n"
			if again != nil {
				want = "init\n"
			}

			got, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("what the CLI has done: -want, +got:\n%s", diff)
			}
		})
	}
}
