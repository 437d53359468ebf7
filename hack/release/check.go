// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/crossplane-contrib/provider-terraform/hack/image"
)

// labelRevision is the label of an image with the commit that it was built from.
const labelRevision = "org.opencontainers.image.revision"

// A release in the making.
type release struct {
	*options

	// commit that is released, and its time, which is the time of the release.
	commit  string
	created time.Time

	// notes are the entries of CHANGELOG.md.
	notes string

	// bases are the images to build on by their architectures. They are nil if packages of this machine are. labels
	// name the base.
	bases  map[string]v1.Image
	labels map[string]string

	// publicKey is that of the key that signs, if there is one.
	publicKey string

	log io.Writer
}

// check refuses what cannot become a release, before anything is built.
func check(ctx context.Context, o *options) (*release, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}

	for _, program := range []string{"git", "apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%s is not on PATH: a release is built on Debian or Ubuntu: %w", program, err)
		}
	}

	r := &release{options: o, log: io.Discard}
	if err := r.checkRepository(ctx); err != nil {
		return nil, err
	}

	changelog, err := os.ReadFile(filepath.Join(o.root, "CHANGELOG.md")) //nolint:gosec // The user chooses the directory.
	if err != nil {
		return nil, err
	}

	if r.notes, err = section(string(changelog), o.version); err != nil {
		return nil, err
	}

	if o.push {
		if err := r.checkRegistry(ctx); err != nil {
			return nil, err
		}
	}

	if o.push && !o.check {
		if err := r.checkKey(ctx); err != nil {
			return nil, err
		}
	}

	return r, r.openBase(ctx)
}

// run runs a program in a directory and returns its output.
func run(ctx context.Context, dir string, env []string, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // The caller chooses the program.
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), env...)

	var stderr strings.Builder

	cmd.Stderr = &stderr

	stdout, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, stderr.String())
	}

	return string(stdout), nil
}

func (r *release) git(ctx context.Context, args ...string) (string, error) {
	out, err := run(ctx, r.root, nil, "git", args...)

	return strings.TrimSpace(out), err
}

// checkRepository refuses to release what is not committed, or another commit than that of the tag.
func (r *release) checkRepository(ctx context.Context) error {
	changes, err := r.git(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}

	if changes != "" {
		return fmt.Errorf("the working tree has changes that are not committed, want none: commit or stash them\n%s", changes)
	}

	if r.commit, err = r.git(ctx, "rev-parse", "HEAD"); err != nil {
		return err
	}

	seconds, err := r.git(ctx, "show", "--no-patch", "--format=%ct", "HEAD")
	if err != nil {
		return err
	}

	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return err
	}

	r.created = time.Unix(unix, 0).UTC()

	// It prints nothing if there is no such tag.
	tagged, err := r.git(ctx, "for-each-ref", "--format=%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)", "refs/tags/"+r.version)
	if err != nil {
		return err
	}

	if tagged != "" && tagged != r.commit {
		return fmt.Errorf("the tag %s is at commit %s, and HEAD is %s: check out the tag, or release another VERSION", r.version, tagged, r.commit)
	}

	return nil
}

func remoteOptions(ctx context.Context) []remote.Option {
	return []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
}

// checkRegistry refuses a registry that cannot be written to, or that has the version from another commit.
func (r *release) checkRegistry(ctx context.Context) error {
	tag, err := r.tag()
	if err != nil {
		return err
	}

	if err := remote.CheckPushPermission(tag, authn.DefaultKeychain, http.DefaultTransport); err != nil {
		return fmt.Errorf("cannot push to %s, the repository in REGISTRY: log in with docker login %s: %w", tag.Repository, tag.RegistryStr(), err)
	}

	there, err := remote.Image(tag, remoteOptions(ctx)...)
	if isMissing(err) {
		return nil
	}

	if err != nil {
		return fmt.Errorf("cannot read %s: %w", tag, err)
	}

	file, err := there.ConfigFile()
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", tag, err)
	}

	if commit := file.Config.Labels[labelRevision]; commit != r.commit {
		return fmt.Errorf("%s exists, built from commit %q, and HEAD is %s: a version is never replaced, release another VERSION", tag, commit, r.commit)
	}

	return nil
}

// isMissing says whether a registry has answered that there is no such image.
func isMissing(err error) bool {
	var answer *transport.Error

	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound
}

// openBase finds the images to build on. A release on a moving tag says which image that was.
func (r *release) openBase(ctx context.Context) error {
	if r.base == "" {
		var err error
		if r.base, err = image.Base(r.dockerfile(r.root)); err != nil {
			return err
		}
	}

	if r.base == basePackages {
		return nil
	}

	index, from, err := openIndex(ctx, r.base)
	if err != nil {
		return fmt.Errorf("cannot read the base image %q: set BASE to an image for all architectures: %w", r.base, err)
	}

	r.bases = map[string]v1.Image{}

	for _, architecture := range architectures() {
		if r.bases[architecture], err = image.ForArchitecture(index, architecture); err != nil {
			return fmt.Errorf("the base image %q: %w", r.base, err)
		}
	}

	digest, err := index.Digest()
	if err != nil {
		return err
	}

	r.labels = map[string]string{"org.opencontainers.image.base.digest": digest.String()}
	if from != "" {
		r.labels["org.opencontainers.image.base.name"] = from
	}

	return nil
}

// openIndex reads an index from a directory with an OCI layout or from a registry, and returns its reference there.
func openIndex(ctx context.Context, from string) (v1.ImageIndex, string, error) {
	if info, err := os.Stat(from); err == nil && info.IsDir() {
		index, err := image.OpenLayout(from)

		return index, "", err
	}

	ref, err := name.ParseReference(from)
	if err != nil {
		return nil, "", err
	}

	index, err := remote.Index(ref, remoteOptions(ctx)...)

	return index, ref.Name(), err
}

func (o *options) dockerfile(root string) string {
	return filepath.Join(root, "cluster", "images", packageName, "Dockerfile")
}
