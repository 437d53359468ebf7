// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

func fromSecret(filename, key string) commonv1beta1.ProviderCredentials {
	return commonv1beta1.ProviderCredentials{
		Filename: filename,
		Source:   xpv2.CredentialsSourceSecret,
		CommonCredentialSelectors: xpv2.CommonCredentialSelectors{SecretRef: &xpv2.SecretKeySelector{
			SecretReference: xpv2.SecretReference{Namespace: "ns", Name: "creds"},
			Key:             key,
		}},
	}
}

func fromPath(path string) []commonv1beta1.ProviderCredentials {
	return []commonv1beta1.ProviderCredentials{{
		Filename: "f", Source: xpv2.CredentialsSourceFilesystem,
		CommonCredentialSelectors: xpv2.CommonCredentialSelectors{Fs: &xpv2.FsSelector{Path: path}},
	}}
}

// reader serves one Secret. The behavior of the API server does not matter here.
func reader() client.Reader {
	return fake.NewClientBuilder().WithObjects(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "creds"},
		Data:       map[string][]byte{"key": []byte("s3cret"), "empty": {}},
	}).Build()
}

func TestCredentials(t *testing.T) {
	onDisk := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(onDisk, []byte("on disk"), 0o600); err != nil {
		t.Fatal(err)
	}

	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}

	private := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(private, "state"), []byte("state"), 0o600), os.Symlink(private, filepath.Join(filepath.Dir(onDisk), "link"))); err != nil {
		t.Fatal(err)
	}

	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}

	relative, err := filepath.Rel(cwd, filepath.Join(private, "state"))
	if err != nil {
		t.Fatal(err)
	}

	cases := map[string]struct {
		reason      string
		credentials []commonv1beta1.ProviderCredentials
		want        map[string][]byte
		err         string
	}{
		"Secret": {
			reason:      "The key of a Secret becomes a file; directories in its name are dropped.",
			credentials: []commonv1beta1.ProviderCredentials{fromSecret("some/where/creds.json", "key")},
			want:        map[string][]byte{"creds.json": []byte("s3cret")},
		},
		"LongFilename": {
			reason:      "No file can have the name.",
			credentials: []commonv1beta1.ProviderCredentials{fromSecret(strings.Repeat("n", 256), "key")},
			err:         "in spec.credentials of the ProviderConfig does not name a file",
		},
		"NULFilename": {
			reason:      "No file can have the name.",
			credentials: []commonv1beta1.ProviderCredentials{fromSecret("a\x00b", "key")},
			err:         `filename "a\x00b" in spec.credentials of the ProviderConfig does not name a file`,
		},
		"EmptyKey": {
			reason:      "A key that exists and is empty makes an empty file.",
			credentials: []commonv1beta1.ProviderCredentials{fromSecret("f", "empty")},
			want:        map[string][]byte{"f": {}},
		},
		"MissingKey": {
			reason:      "A missing key is an error, not an empty file.",
			credentials: []commonv1beta1.ProviderCredentials{fromSecret("f", "nope")},
			err:         "couldn't find key nope in Secret ns/creds: it has ",
		},
		"Environment": {
			reason: "A variable becomes a file.",
			credentials: []commonv1beta1.ProviderCredentials{{
				Filename: "f", Source: xpv2.CredentialsSourceEnvironment,
				CommonCredentialSelectors: xpv2.CommonCredentialSelectors{Env: &xpv2.EnvSelector{Name: "SET"}},
			}},
			want: map[string][]byte{"f": []byte("set")},
		},
		"UnsetEnvironment": {
			reason: "A variable that is not set makes an empty file: this must not change.",
			credentials: []commonv1beta1.ProviderCredentials{{
				Filename: "f", Source: xpv2.CredentialsSourceEnvironment,
				CommonCredentialSelectors: xpv2.CommonCredentialSelectors{Env: &xpv2.EnvSelector{Name: "UNSET"}},
			}},
			want: map[string][]byte{"f": {}},
		},
		"BadEnvironment": {
			reason: "No variable has this name.",
			credentials: []commonv1beta1.ProviderCredentials{{
				Filename: "f", Source: xpv2.CredentialsSourceEnvironment,
				CommonCredentialSelectors: xpv2.CommonCredentialSelectors{Env: &xpv2.EnvSelector{Name: "A=B"}},
			}},
			err: `cannot read credentials "f" in spec.credentials of the ProviderConfig: env.name: "A=B" is not the name of an environment variable`,
		},
		"Filesystem": {
			reason:      "A file of the provider becomes a file.",
			credentials: fromPath(onDisk),
			want:        map[string][]byte{"f": []byte("on disk")},
		},
		"Private": {
			reason:      "Tenants must not read the working directories of each other.",
			credentials: fromPath(filepath.Join(private, "state")),
			err:         "it is below the directory of the working directories, XP_TF_DIR",
		},
		"PrivateLink": {
			reason:      "Nor through a link.",
			credentials: fromPath(filepath.Join(filepath.Dir(onDisk), "link", "state")),
			err:         "it is below the directory of the working directories, XP_TF_DIR",
		},
		"PrivateRelative": {
			reason:      "Nor by a path that begins in the directory of the process.",
			credentials: fromPath(relative),
			err:         "it is below the directory of the working directories, XP_TF_DIR",
		},
		"Environ": {
			reason:      "Tenants must not read the environment of the provider.",
			credentials: fromPath("/proc/self/environ"),
			err:         "the kernel makes it up",
		},
		"Large": {
			reason:      "A file may be as large as a Secret.",
			credentials: fromPath(large),
			err:         "more than 1.0 MiB: use a smaller file",
		},
		"None": {
			reason:      "The source None makes an empty file.",
			credentials: []commonv1beta1.ProviderCredentials{{Filename: "f", Source: xpv2.CredentialsSourceNone}},
			want:        map[string][]byte{"f": nil},
		},
		"NoReference": {
			reason:      "A source without its reference is an error that names both.",
			credentials: []commonv1beta1.ProviderCredentials{{Filename: "f", Source: xpv2.CredentialsSourceSecret}},
			err:         "source is Secret, but secretRef is not set",
		},
		"NoFilename": {
			reason:      "A name that cannot be a file name is refused.",
			credentials: []commonv1beta1.ProviderCredentials{{Filename: "a/..", Source: xpv2.CredentialsSourceNone}},
			err:         `"a/.."`,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			lookup := func(name string) (string, bool) {
				if name == "SET" {
					return "set", true
				}

				return "", false
			}

			got, err := Sources{Kube: reader(), Lookup: lookup, Private: private}.Credentials(t.Context(), commonv1beta1.ProviderConfigSpec{Credentials: tc.credentials}, "")
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("\n%s\nCredentials(...): want an error with %q, got %v", tc.reason, tc.err, err)
				}

				return
			}

			if err != nil {
				t.Fatalf("\n%s\nCredentials(...): %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCredentials(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCredentialsTotal tests that the same file cannot be named so often that it fills the memory.
func TestCredentialsTotal(t *testing.T) {
	t.Parallel()

	large := func(string) (string, bool) { return strings.Repeat("a", 1<<20), true }
	c := commonv1beta1.ProviderCredentials{
		Filename: "f", Source: xpv2.CredentialsSourceEnvironment,
		CommonCredentialSelectors: xpv2.CommonCredentialSelectors{Env: &xpv2.EnvSelector{Name: "A"}},
	}

	for n, want := range map[int]bool{8: true, 9: false} {
		_, err := Sources{Kube: reader(), Lookup: large, Private: t.TempDir()}.Credentials(t.Context(), commonv1beta1.ProviderConfigSpec{Credentials: slices.Repeat([]commonv1beta1.ProviderCredentials{c}, n)}, "")
		if (err == nil) != want {
			t.Errorf("Credentials(...) with %d MiB: want them to be allowed: %t, got %v", n, want, err)
		}
	}
}

func FuzzCredentialsFilename(f *testing.F) {
	for _, name := range []string{"f", "../../etc/passwd", "/etc/passwd", "a/..", ".", "", "a\x00b", "..."} {
		f.Add(name)
	}

	f.Fuzz(func(t *testing.T, name string) {
		files, err := Sources{Kube: reader(), Lookup: os.LookupEnv, Private: os.DevNull}.Credentials(t.Context(), commonv1beta1.ProviderConfigSpec{
			Credentials: []commonv1beta1.ProviderCredentials{{Filename: name, Source: xpv2.CredentialsSourceNone}},
		}, "")
		if err != nil {
			return
		}

		for got := range files {
			if got != filepath.Base(got) || !filepath.IsLocal(got) || got == "." {
				t.Errorf("Credentials(...) of a file called %q: %q is not the name of a file", name, got)
			}
		}
	})
}
