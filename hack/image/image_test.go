// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
)

// root of the repository, from the directory of this package.
const root = "../.."

const dockerfile = root + "/cluster/images/provider-terraform/Dockerfile"

// provider is the name of the program. It is part of the interface: it is the prefix of
// the environment variables of flags that have no variable of their own.
const provider = "crossplane-terraform-provider"

// read the stages of the Dockerfile.
func read(t *testing.T) (build, shipped stage) {
	t.Helper()

	build, shipped, err := stages(dockerfile)
	if err != nil {
		t.Fatal(err)
	}

	return build, shipped
}

func TestParse(t *testing.T) {
	t.Parallel()

	got := parse("ARG V=1\n# FROM a comment\nFROM a:$V AS one\nRUN b \\\n # no c\n && d\n\nFROM e\nENV F=1 \\\n    G=2\nUSER h\n")
	want := []stage{
		{{name: "FROM", args: "a:$V AS one"}, {name: "RUN", args: "b && d"}},
		{{name: "FROM", args: "e"}, {name: "ENV", args: "F=1 G=2"}, {name: "USER", args: "h"}},
	}

	if diff := cmp.Diff(want, got, cmp.AllowUnexported(instruction{})); diff != "" {
		t.Errorf("parse(...): -want, +got:\n%s", diff)
	}
}

// TestBases checks the names of the base images. Tools other than Docker know no default registry.
func TestBases(t *testing.T) {
	t.Parallel()

	build, shipped := read(t)

	want := []string{"--platform=$BUILDPLATFORM docker.io/library/golang:${GO_VERSION} AS build", "docker.io/library/debian:12-slim"}
	if diff := cmp.Diff(want, slices.Concat(build.all("FROM"), shipped.all("FROM"))); diff != "" {
		t.Errorf("FROM: -want, +got:\n%s", diff)
	}
}

// TestPrograms checks what is built for the image: both CLIs, the provider with its program for
// downloads, and the documents. The checksums of all modules are verified.
func TestPrograms(t *testing.T) {
	t.Parallel()

	build, shipped := read(t)
	run := strings.Join(build.all("RUN"), "\n")

	for _, want := range []string{
		`cp "$terraform/terraform" /out/`,
		`cp "$opentofu/tofu" /out/`,
		"-o /out/" + provider + " ./cmd/provider",
		"-o /out/" + fetch.ProgramName + " ./cmd/fetch",
		"hack/documents.sh /documents /out/*",
		"(cd hack/terraform && go mod verify)",
		"(cd hack/opentofu && go mod verify)",
		"(cd hack/cyclonedx-gomod && go mod verify)",
		"go mod download && go mod verify",
	} {
		if !strings.Contains(run, want) {
			t.Errorf("want %q in %q", want, run)
		}
	}

	// All programs that were built are on PATH, and their documents are where those of Debian packages are.
	want := []string{"--from=build /out/ /usr/local/bin/", "--from=build /documents/ /" + documents + "/"}
	if diff := cmp.Diff(want, shipped.all("COPY")); diff != "" {
		t.Errorf("COPY: -want, +got:\n%s", diff)
	}
}

// TestVersions checks the versions of the CLIs in the image. Terraform has another license
// from 1.6 on.
func TestVersions(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		module string
		want   string
	}{
		"terraform": {reason: "The user is the same as in all earlier versions.", module: "github.com/hashicorp/terraform", want: "v1.5.7"},
		"opentofu":  {reason: "The version can read states and modules of Terraform 1.5.", module: "github.com/opentofu/opentofu", want: `v1\.([6-9]|1[0-9])\.[0-9]+`},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			text, err := os.ReadFile(path.Join(root, "hack", name, "go.mod"))
			if err != nil {
				t.Fatal(err)
			}

			found := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(tc.module) + ` (\S+)`).FindSubmatch(text)
			if found == nil || !regexp.MustCompile(`^(`+tc.want+`)$`).Match(found[1]) {
				t.Errorf("%s: want %s of %s, got %q", tc.reason, tc.want, tc.module, found)
			}
		})
	}
}

// TestPackages checks the installed packages: those for fetching modules, those that
// modules have always found, and no others.
func TestPackages(t *testing.T) {
	t.Parallel()

	_, shipped := read(t)

	got, err := shipped.packages()
	if err != nil {
		t.Fatal(err)
	}

	want := []string{"ca-certificates", "curl", "git", "openssh-client", "tini"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("packages: -want, +got:\n%s", diff)
	}
}

// TestUsers checks the users that the provider can run as: the user of the image, and the
// one that Crossplane sets. Each has a name, a home, and the directories that are written
// to.
func TestUsers(t *testing.T) {
	t.Parallel()

	_, shipped := read(t)
	run := strings.Join(shipped.all("RUN"), "\n")

	for _, want := range []string{
		"for user in provider:65532 crossplane:2000; do",
		`useradd --no-log-init --uid "$id" --gid "$id" --home-dir /home/provider`,
		"install --directory --mode=1777 /home/provider /tf /tf/plugin-cache",
	} {
		if !strings.Contains(run, want) {
			t.Errorf("want %q in %q", want, run)
		}
	}
}

// TestNames checks that all files that build the programs of the provider give them the same names.
func TestNames(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile(root + "/Makefile")
	if err != nil {
		t.Fatal(err)
	}

	for _, want := range []string{"provider := $(bin)/" + provider + "\n", "fetch := $(bin)/" + fetch.ProgramName + "\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("want %q in the Makefile", want)
		}
	}
}
