// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/crossplane-contrib/provider-terraform/hack/image"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// TestRefusals checks what is refused before anything is built or pushed. Each message names what is wrong, its value
// and the remedy.
func TestRefusals(t *testing.T) {
	t.Setenv("COSIGN_PASSWORD", password)
	t.Setenv("SIGSTORE_ID_TOKEN", "")
	t.Setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "")

	registry := newStore(t)
	old := registry.address + "/old"

	img, err := image.Label(empty.Image, map[string]string{labelRevision: "abc"})
	if err != nil {
		t.Fatal(err)
	}

	tag, err := name.NewTag(old + "/provider-terraform:v0.1.0")
	if err != nil {
		t.Fatal(err)
	}

	if err := remote.Write(tag, img); err != nil {
		t.Fatal(err)
	}

	written := registry.writes.Load()

	cases := map[string]struct {
		reason string
		change func(t *testing.T, o *options)
		want   []string
	}{
		"NoVersion":   {"There is no version.", func(_ *testing.T, o *options) { o.version = "" }, []string{`VERSION is ""`, "want vX.Y.Z"}},
		"Version":     {"The version has no v.", func(_ *testing.T, o *options) { o.version = "0.1.0" }, []string{`VERSION is "0.1.0"`, "want vX.Y.Z"}},
		"Prerelease":  {"The version has a suffix.", func(_ *testing.T, o *options) { o.version = "v0.1.0-rc1" }, []string{`VERSION is "v0.1.0-rc1"`}},
		"LeadingZero": {"The version is not semantic.", func(_ *testing.T, o *options) { o.version = "v0.01.0" }, []string{`VERSION is "v0.01.0"`}},
		"NoRegistry":  {"There is no registry.", func(_ *testing.T, o *options) { o.registry = "" }, []string{"REGISTRY is not set", "-push=false"}},
		"Registry": {
			"The registry is a URL.",
			func(_ *testing.T, o *options) { o.registry = "https://example.org/a" },
			[]string{`REGISTRY is "https://example.org/a"`, "registry.example.org"},
		},
		"Unreachable": {
			"The registry does not answer.",
			func(_ *testing.T, o *options) { o.registry = "127.0.0.1:1/a" },
			[]string{"cannot push to 127.0.0.1:1/a/provider-terraform", "REGISTRY"},
		},
		"Replaced": {
			"The version was pushed from another commit.",
			func(_ *testing.T, o *options) { o.registry = old },
			[]string{old + "/provider-terraform:v0.1.0 exists", `commit "abc"`, "release another VERSION"},
		},
		"NoKey": {"Nobody signs.", func(_ *testing.T, o *options) { o.key = "" }, []string{"KEY is not set", "cosign generate-key-pair", "KEYLESS=1"}},
		"MissingKey": {
			"The key does not exist.",
			func(_ *testing.T, o *options) { o.key = "/missing/cosign.key" },
			[]string{"KEY names no key", "/missing/cosign.key"},
		},
		"BadKey": {
			"The key cannot be read.",
			func(t *testing.T, o *options) {
				t.Helper()

				o.cosign = filepath.Join(t.TempDir(), "cosign")
				if err := program.WriteScript(o.cosign, "echo wrong password >&2; exit 1\n"); err != nil {
					t.Fatal(err)
				}
			},
			[]string{"KEY is ", "COSIGN_PASSWORD", "wrong password"},
		},
		"TwoSigners": {"There are a key and an identity.", func(_ *testing.T, o *options) { o.keyless = true }, []string{"KEY is ", "KEYLESS is set", "want one of them"}},
		"NoIdentity": {
			"The job has no identity.",
			func(_ *testing.T, o *options) { o.key, o.keyless = "", true },
			[]string{"KEYLESS is set", "id-token: write"},
		},
		"Dirty": {
			"A file is not committed.",
			func(t *testing.T, o *options) { t.Helper(); write(t, filepath.Join(o.root, "new.go"), "package a") },
			[]string{"not committed", "?? new.go", "commit or stash"},
		},
		"Tag": {
			"The tag is at another commit.",
			func(t *testing.T, o *options) {
				t.Helper()
				git(t, o.root, "tag", "--annotate", "--message=m", "v0.1.0")
				git(t, o.root, "commit", "--quiet", "--allow-empty", "--message=second")
			},
			[]string{"the tag v0.1.0 is at commit ", "check out the tag"},
		},
		"NoEntry": {
			"The changelog does not have the version.",
			func(_ *testing.T, o *options) { o.version = "v0.2.0" },
			[]string{"CHANGELOG.md has no section for VERSION v0.2.0", `"## [0.2.0] - 2006-01-02"`},
		},
		"BadDate":    {"The date is none.", func(_ *testing.T, o *options) { o.version = "v0.0.2" }, []string{`CHANGELOG.md has "## [0.0.2] - 2026-13-01"`}},
		"EmptyEntry": {"The section is empty.", func(_ *testing.T, o *options) { o.version = "v0.0.1" }, []string{"CHANGELOG.md has no entries", "0.0.1"}},
		"Base": {
			"The base is missing.",
			func(_ *testing.T, o *options) { o.base = registry.address + "/debian:12" },
			[]string{"cannot read the base image", registry.address + "/debian:12", "BASE"},
		},
		"BaseOfOneArchitecture": {
			"The base does not have both architectures.",
			func(t *testing.T, o *options) {
				t.Helper()

				o.base = filepath.Join(t.TempDir(), "layout")
				if err := image.WriteLayout(o.base, empty.Index); err != nil {
					t.Fatal(err)
				}
			},
			[]string{"the base image", "no image for linux/amd64"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := newOptions(t, newRepository(t))
			o.push, o.registry, o.key = true, registry.address+"/new", write(t, filepath.Join(t.TempDir(), "cosign.key"), "key")

			o.cosign = filepath.Join(t.TempDir(), "cosign")
			if err := program.WriteScript(o.cosign, "echo public\n"); err != nil {
				t.Fatal(err)
			}

			o.outputs = func(context.Context, *release, string) ([]string, error) {
				t.Error("The programs are built.")

				return nil, context.Canceled
			}

			tc.change(t, o)

			err := publish(t.Context(), o, io.Discard)
			if err == nil {
				t.Fatalf("%s Want an error", tc.reason)
			}

			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s Want %q in %q", tc.reason, want, err)
				}
			}
		})
	}

	if got := registry.writes.Load(); got != written {
		t.Errorf("refused releases have written %d times", got-written)
	}
}

func TestSection(t *testing.T) {
	t.Parallel()

	got, err := section(changelog, "v0.1.0")
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff("### Added\n\n- Shards: [sharding](docs/sharding.md#limits).\n", got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestAbsolute(t *testing.T) {
	t.Parallel()

	got := absolute("[a](docs/a.md#b) [c](https://example.org/c) [d](#d) [e](SECURITY.md)", "https://example.org/p", "v0.1.0")
	want := "[a](https://example.org/p/blob/v0.1.0/docs/a.md#b) [c](https://example.org/c) [d](#d) [e](https://example.org/p/blob/v0.1.0/SECURITY.md)"

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
