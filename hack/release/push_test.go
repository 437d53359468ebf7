// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/crossplane-contrib/provider-terraform/hack/image"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// A store is a registry that counts what is written to it.
type store struct {
	address string
	writes  atomic.Int64
}

func newStore(t *testing.T) *store {
	t.Helper()

	s := &store{}
	handler := registry.New(registry.Logger(discard()))

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// To start an upload is how to ask for the right to push.
		if r.Method == http.MethodPut || r.Method == http.MethodPatch {
			s.writes.Add(1)
		}

		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)

	s.address = strings.TrimPrefix(server.URL, "http://")

	return s
}

// newKey makes a key of cosign. It returns the paths of its two parts.
func newKey(t *testing.T, cosign string) (private, public string) {
	t.Helper()

	dir := t.TempDir()
	if _, err := run(t.Context(), dir, nil, cosign, "generate-key-pair"); err != nil {
		t.Fatal(err)
	}

	return filepath.Join(dir, "cosign.key"), filepath.Join(dir, "cosign.pub")
}

// TestPush pushes a release to a registry and verifies it as a user does. Another push of the same commit changes
// nothing that a user sees, and one of another commit is refused.
func TestPush(t *testing.T) { //nolint:cyclop // What a user does, one after the other.
	need(t, envCrossplane)

	cosign := need(t, envCosign)

	t.Setenv("COSIGN_PASSWORD", password)

	key, public := newKey(t, cosign)
	root, registry := newRepository(t), newStore(t)

	o := newOptions(t, root)
	o.push, o.registry, o.key, o.tlog = true, registry.address+"/crossplane-contrib", key, false

	for range 2 {
		if err := publish(t.Context(), o, io.Discard); err != nil {
			t.Fatal(err)
		}
	}

	tag, err := name.NewTag(registry.address + "/crossplane-contrib/provider-terraform:v0.1.0")
	if err != nil {
		t.Fatal(err)
	}

	index, err := remote.Index(tag)
	if err != nil {
		t.Fatal(err)
	}

	local, err := image.OpenLayout(o.file(layoutDir))
	if err != nil {
		t.Fatal(err)
	}

	if want, got := digestOf(t, local), digestOf(t, index); want != got {
		t.Errorf("the tag has digest %s, want %s", got, want)
	}

	m, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}

	verify := func(ref, public string, args ...string) (string, error) {
		return run(t.Context(), root, nil, cosign, append(args, "--key="+public, "--insecure-ignore-tlog=true", ref)...)
	}

	if _, err := verify(tag.String(), public, "verify"); err != nil {
		t.Error(err)
	}

	_, other := newKey(t, cosign)
	if _, err := verify(tag.String(), other, "verify"); err == nil {
		t.Error("a signature of another key is accepted")
	}

	for _, d := range m.Manifests {
		ref := tag.Digest(d.Digest.String()).String()
		if _, err := verify(ref, public, "verify"); err != nil {
			t.Error(err)
		}

		out, err := verify(ref, public, "verify-attestation", "--type=cyclonedx")
		if err != nil {
			t.Error(err)
		}

		// Each push adds one for each program.
		if got := strings.Count(out, "\n"); got < 2 {
			t.Errorf("%s has %d SBOMs, want those of 2 programs: %s", d.Platform, got, out)
		}
	}

	if _, err := run(t.Context(), o.dir(), nil, cosign, "verify-blob", "--key="+public, "--bundle="+checksumsFile+".sigstore.json", "--insecure-ignore-tlog=true", checksumsFile); err != nil {
		t.Error(err)
	}

	if _, err := run(t.Context(), o.dir(), nil, "sha256sum", "--check", checksumsFile); err != nil {
		t.Error(err)
	}

	git(t, root, "commit", "--quiet", "--allow-empty", "--message=second")

	writes := registry.writes.Load()

	if err := publish(t.Context(), o, io.Discard); err == nil || !strings.Contains(err.Error(), "a version is never replaced") {
		t.Errorf("a release of another commit: %v", err)
	}

	if got := registry.writes.Load(); got != writes {
		t.Errorf("a refused release has written %d times", got-writes)
	}
}

// TestOrder pushes releases with a program in place of cosign, which records what it is called with. The tag is written
// after all signatures, and not if one of them fails.
func TestOrder(t *testing.T) {
	need(t, envCrossplane)
	t.Setenv("COSIGN_PASSWORD", password)

	for name, tc := range map[string]struct {
		reason string
		fails  string
		tagged bool
		calls  []string
	}{
		"Signed": {
			reason: "Each program of each architecture has an SBOM.",
			tagged: true,
			calls:  []string{"public-key", "sign --recursive", "sign-blob", "attest", "attest", "attest", "attest"},
		},
		"Unsigned": {
			reason: "A release that could not be signed has no tag.",
			fails:  "sign",
			calls:  []string{"public-key", "sign --recursive"},
		},
		"NoSBOM": {
			reason: "A release without an SBOM has no tag.",
			fails:  "attest",
			calls:  []string{"public-key", "sign --recursive", "sign-blob", "attest"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			registry, dir := newStore(t), t.TempDir()
			calls := filepath.Join(dir, "calls")

			o := newOptions(t, newRepository(t))
			o.push, o.registry, o.tlog = true, registry.address+"/a", true
			o.key, o.cosign = write(t, filepath.Join(dir, "cosign.key"), "key"), filepath.Join(dir, "cosign")

			if err := program.WriteScript(o.cosign, "echo \"$*\" >>'"+calls+"'; [ \"$1\" != '"+tc.fails+"' ]\n"); err != nil {
				t.Fatal(err)
			}

			if err := publish(t.Context(), o, io.Discard); (err == nil) != tc.tagged {
				t.Errorf("%s Got %v", tc.reason, err)
			}

			text, err := os.ReadFile(calls)
			if err != nil {
				t.Fatal(err)
			}

			var got []string

			for line := range strings.Lines(string(text)) {
				words := strings.Fields(line)
				if words[0] == "sign" {
					words[0] += " " + words[1]
				}

				got = append(got, words[0])
			}

			if diff := cmp.Diff(tc.calls, got); diff != "" {
				t.Errorf("%s -want, +got:\n%s", tc.reason, diff)
			}

			tag, err := o.tag()
			if err != nil {
				t.Fatal(err)
			}

			if _, err := remote.Head(tag); (err == nil) != tc.tagged {
				t.Errorf("%s The tag: %v", tc.reason, err)
			}
		})
	}
}
