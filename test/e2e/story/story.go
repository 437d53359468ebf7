// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package story is the life of an installation of the provider in a real cluster, from its first
// instance to the end, in steps. Each step does what the documentation says, and is followed by
// the same checks of all Workspaces, instances and logs: see settle.
package story

import (
	"context"
	"net"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/e2e/infrastructure"
)

// system is the namespace of Crossplane and of the instances.
const system = "crossplane-system"

// A Cluster is the cluster of the story, which has Crossplane already, and a node that runs
// containers.
type Cluster struct {
	// Client may do anything, and knows the kinds of Kubernetes, of the provider, and of Crossplane's
	// packages.
	Client client.WithWatch

	// Config of clients that may do anything.
	Config *rest.Config

	// Listen returns a listener at an address that pods can reach.
	Listen func() (net.Listener, error)

	// Publish builds a Crossplane package of the directory, whose last element is "package", with the
	// image of the provider in it, and pushes it to a registry of the cluster. It returns the reference,
	// with the version as the tag. Packages of different versions have different digests.
	Publish func(ctx context.Context, version, dir string) (string, error)

	// PublishCLIs is like Publish, with the programs of CLIs in the image, beside the one that runs by default.
	PublishCLIs func(ctx context.Context, version, dir string) (string, error)
	CLIs        [2]commonv1beta1.CLI

	// Kill sends SIGKILL to a container.
	Kill func(pod *corev1.Pod, container string) error

	// Crossplane runs the CLI of Crossplane, and returns its output.
	Crossplane func(ctx context.Context, args ...string) (string, error)

	// Log returns what a container has written, before its restarts as well. The pod may be gone.
	Log func(pod *corev1.Pod, container string) (string, error)

	// Root is the directory of the repository, and Dir one for files of the story.
	Root, Dir string
}

// A Step of the story.
type Step struct {
	// Name says what happens.
	Name string

	// Run does it, and checks the results.
	Run func(ctx context.Context, s *Story) error
}

// A Story is told once. Each step depends on those before it.
type Story struct {
	Cluster

	things infrastructure.Infrastructure
	server *http.Server

	// base is the address of the things and modules.
	base string

	witness *witness

	// first and second are references of two versions of the package.
	first, second string

	// workspaces are those that exist, and deleted the names of those that are gone.
	workspaces map[string]subject
	deleted    []string

	// sharded says that shards have taken over from the first instance.
	sharded bool

	// kills says how often the story has killed the container of a pod.
	kills map[types.UID]int32

	// before has the names of all objects before the first step.
	before map[string]bool
}

// New prepares a story. The caller has to close it: it lasts longer than the context.
func New(ctx context.Context, c Cluster) (*Story, error) {
	s := &Story{Cluster: c, workspaces: map[string]subject{}, kills: map[types.UID]int32{}}

	if err := s.prepare(ctx); err != nil {
		s.Close()

		return nil, errors.Wrap(err, "cannot prepare the story")
	}

	return s, nil
}

func (s *Story) prepare(ctx context.Context) error {
	if err := s.serve(); err != nil {
		return err
	}

	var err error

	s.witness, err = watch(context.WithoutCancel(ctx), s.Config)

	return err
}

// serve answers the requests of modules.
func (s *Story) serve() error {
	l, err := s.Listen()
	if err != nil {
		return err
	}

	s.base = "http://" + l.Addr().String()

	fetch, err := modules()
	if err != nil {
		return errors.Join(err, l.Close())
	}

	mux := http.NewServeMux()
	mux.Handle("/", s.things.Handler())
	mux.HandleFunc("GET "+archive, fetch)

	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}

	go func() {
		// It ends when the story is closed.
		_ = s.server.Serve(l)
	}()

	return nil
}

// Close ends what the story has started outside of the cluster.
func (s *Story) Close() {
	if s.witness != nil {
		s.witness.stop()
	}

	if s.server != nil {
		// Requests that are held would wait for ever.
		_ = s.server.Close()
	}
}

// Steps of a story, in order.
func Steps() []Step {
	return []Step{
		step("one instance of the package creates Workspaces of both kinds", (*Story).single),
		step("crossplane beta trace shows why a Workspace is not Ready", (*Story).traced),
		step("static shards take over from it, and from each other", (*Story).static),
		step("a pod is deleted during two applies", (*Story).stopped),
		step("a container is killed during an apply", (*Story).killed),
		step("the node is drained", (*Story).drained),
		step("the package and the shards are upgraded during an apply", (*Story).upgraded),
		step("a Workspace runs with a CLI of its own, and moves to another one", (*Story).chosen),
		step("a package cannot be established, and is rolled back", (*Story).unestablished),
		step("elastic shards take over, and are scaled down and up", (*Story).elastic),
		step("a namespace with Workspaces is deleted", (*Story).namespace),
		step("the provider is uninstalled as docs/install.md says", (*Story).uninstalled),
	}
}

// step adds the checks after every step.
func step(name string, run func(*Story, context.Context) error) Step {
	return Step{Name: name, Run: func(ctx context.Context, s *Story) error {
		if err := run(s, ctx); err != nil {
			return err
		}

		return errors.Wrap(s.settle(ctx), "after the step")
	}}
}
