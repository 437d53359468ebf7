// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	gcr "github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/hack/image"
)

const (
	registryAddress = address + ":5000"

	// pause is the image of the first container of each pod.
	pause = "pause:1"
)

// serve starts the registry at an address.
func (n *Node) serve(ctx context.Context, at string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if err != nil {
		return err
	}

	blobs := n.path("blobs")
	if err := os.MkdirAll(blobs, 0o700); err != nil {
		return err
	}

	// It ends with this process.
	server := &http.Server{
		Handler:           registry.New(registry.Logger(log.New(io.Discard, "", 0)), registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs))),
		ReadHeaderTimeout: time.Minute,
	}
	go server.Serve(l) //nolint:errcheck // Clients report what they do not get.

	n.Registry = l.Addr().String()

	return nil
}

// pushPause pushes the image that each pod needs.
func (n *Node) pushPause(ctx context.Context) error {
	img, err := image.Files(filepath.Join(n.options.Dir, "pause.tar.gz"), "65535", "/pause", map[string]string{"pause": n.options.Pause})
	if err != nil {
		return err
	}

	_, err = n.Push(ctx, pause, img)

	return err
}

// Push writes an image to the registry, under a name as "tools:v1". It returns the reference.
func (n *Node) Push(ctx context.Context, name string, img v1.Image) (string, error) {
	ref, err := gcr.NewTag(n.Registry + "/" + name)
	if err != nil {
		return "", err
	}

	return ref.String(), errors.Wrapf(remote.Write(ref, img, remote.WithContext(ctx)), "cannot push %s", ref)
}

// PushIndex writes an index and its images to the registry, under a name as "tools:v1".
func (n *Node) PushIndex(ctx context.Context, name string, index v1.ImageIndex) error {
	ref, err := gcr.NewTag(n.Registry + "/" + name)
	if err != nil {
		return err
	}

	return errors.Wrapf(remote.WriteIndex(ref, index, remote.WithContext(ctx)), "cannot push %s", ref)
}
