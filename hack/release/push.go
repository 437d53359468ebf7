// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func discard() *log.Logger { return log.New(io.Discard, "", 0) }

// pushAll pushes the index by its digest, signs it, attaches the SBOMs, and writes the tag last: no user finds a release
// of which a part is missing.
func (r *release) pushAll(ctx context.Context, index v1.ImageIndex) error {
	tag, err := r.tag()
	if err != nil {
		return err
	}

	digest, err := index.Digest()
	if err != nil {
		return err
	}

	if err := r.checkTag(ctx, tag, digest); err != nil {
		return err
	}

	ref := tag.Digest(digest.String())

	if err := r.step("push "+ref.String(), func() error { return remote.WriteIndex(ref, index, remoteOptions(ctx)...) }); err != nil {
		return err
	}

	if err := r.step("sign it", func() error { return r.sign(ctx, ref) }); err != nil {
		return err
	}

	if err := r.step("attach the SBOMs", func() error { return r.attach(ctx, tag.Repository, index) }); err != nil {
		return err
	}

	return r.step("write the tag "+tag.String(), func() error { return remote.Tag(tag, index, remoteOptions(ctx)...) })
}

// checkTag refuses to replace a version by one that was built in another way.
func (r *release) checkTag(ctx context.Context, tag name.Tag, digest v1.Hash) error {
	there, err := remote.Head(tag, remoteOptions(ctx)...)

	switch {
	case isMissing(err):
		return nil
	case err != nil:
		return fmt.Errorf("cannot read %s: %w", tag, err)
	case there.Digest != digest:
		return fmt.Errorf("%s exists with digest %s, and this build has digest %s: the compiler or the base image differs, and a version is never replaced", tag, there.Digest, digest)
	}

	return nil
}

// Crossplane verifies signatures in the form of cosign v2, which is a tag beside the image, and no others.
func (r *release) signer(args ...string) []string {
	args = append(args, "--yes", "--use-signing-config=false")

	if r.key != "" {
		args = append(args, "--key="+r.key)
	}

	if !r.tlog {
		args = append(args, "--tlog-upload=false")
	}

	return args
}

// checkKey reads the public key of the key that signs, and refuses a key that cannot be read.
func (r *release) checkKey(ctx context.Context) error {
	if r.key == "" {
		return nil
	}

	var err error
	if r.publicKey, err = run(ctx, r.root, nil, r.cosign, "public-key", "--key="+r.key); err != nil {
		return fmt.Errorf("KEY is %q, want a key of cosign that the password in COSIGN_PASSWORD opens: %w", r.key, err)
	}

	return nil
}

// sign signs the index, the package for each architecture, and the checksums.
func (r *release) sign(ctx context.Context, ref name.Digest) error {
	if _, err := run(ctx, r.dir(), nil, r.cosign, r.signer("sign", "--recursive", "--new-bundle-format=false", ref.String())...); err != nil {
		return err
	}

	_, err := run(ctx, r.dir(), nil, r.cosign, r.signer("sign-blob", "--bundle="+checksumsFile+".sigstore.json", checksumsFile)...)

	return err
}

// attach attaches the SBOMs of all programs to the packages that they are in, as signed attestations.
func (r *release) attach(ctx context.Context, repository name.Repository, index v1.ImageIndex) error {
	m, err := index.IndexManifest()
	if err != nil {
		return err
	}

	for _, d := range m.Manifests {
		sboms, err := filepath.Glob(r.file(r.sbom(d.Platform.Architecture, "*")))
		if err != nil {
			return err
		}

		for _, sbom := range sboms {
			args := r.signer("attest", "--new-bundle-format=false", "--type=cyclonedx", "--predicate="+sbom, repository.Digest(d.Digest.String()).String())
			if _, err := run(ctx, r.dir(), nil, r.cosign, args...); err != nil {
				return err
			}
		}
	}

	return nil
}
