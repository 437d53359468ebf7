// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"strings"
	"time"
)

// A fault is one disturbance in the schedule.
type fault struct {
	// traits of the Workspace that the fault creates.
	traits

	// after the start of the test.
	after time.Duration

	kind kind

	// subject is the name of a Workspace, of an instance or of a shard.
	subject string

	// shard that the Workspace is given to or created in, "" for none.
	shard string

	// takes is for how long an instance or the API server is away, or the network in
	// trouble, and how long the creation of a resource takes.
	takes time.Duration

	// leader says that the fault happens to the replica that is the leader of the instance
	// at that time.
	leader bool

	// drop and spareCLI are the fields of the trouble.
	drop, spareCLI bool

	// age is how old the copy is that is put back.
	age time.Duration

	// bare says that the restored manifest has no annotations of the provider.
	bare bool

	// orphan says that a Workspace is deleted without its finalizers before it is
	// created again, as when a cluster is lost.
	orphan bool
}

// Traits of a Workspace that is created.
type traits struct {
	// of is the name of the Workspace that it is a copy of.
	of string

	// flavour selects the ProviderConfig and the backend configuration that completes it.
	flavour flavour

	// namespace for the Workspace, if it has to be a certain one.
	namespace string

	// lingers is how long an apply goes on after the resource was created.
	lingers time.Duration

	// sluggish is after how long its CLI reacts to an interrupt.
	sluggish time.Duration

	// fails says that an apply fails after the resource was created.
	fails bool

	// number makes Workspaces different: the resource of one does not match the module of
	// another. It also selects the printed secret and how it is printed.
	number int
}

// A flavour is a way to configure a backend.
type flavour string

const (
	plain flavour = "default"

	// The texts of these differ from plain, and mean the same state.
	comment flavour = "comment"
	region  flavour = "region"
	newline flavour = "newline"

	// The texts of these say a part only. The environment or arguments say the rest, in
	// which the two differ.
	envX    flavour = "env-x"
	envY    flavour = "env-y"
	suffixX flavour = "suffix-x"
	suffixY flavour = "suffix-y"

	// No backend: the state is in the working directory.
	noBackend flavour = "none"

	// The module fails and prints a secret.
	leaky flavour = "leaky"
)

func (f fault) String() string {
	s := &strings.Builder{}
	if f.kind == deleteLease || f.kind == emptyLease || f.kind == restoreLease {
		fmt.Fprintf(s, "%s of shard %q", f.kind, f.subject)
	} else {
		fmt.Fprintf(s, "%s %s", f.kind, f.subject)
	}

	if f.kind == relabel || f.kind == create || f.kind == copying {
		fmt.Fprintf(s, " in shard %q", f.shard)
	}

	if f.takes > 0 {
		fmt.Fprintf(s, " (%s)", f.takes.Round(time.Millisecond))
	}

	for _, d := range []struct {
		says bool
		text string
	}{
		{f.of != "", ", of " + f.of},
		{f.flavour != "" && f.flavour != plain, ", backend " + string(f.flavour)},
		{f.lingers > 0, ", lingers " + f.lingers.String()},
		{f.sluggish > 0, ", sluggish " + f.sluggish.Round(time.Millisecond).String()},
		{f.fails, ", fails halfway"},
		{f.leader, ", the leader"},
		{f.drop, ", drops"},
		{f.spareCLI, ", not the CLI"},
		{f.age > 0, fmt.Sprintf(", as %s ago", f.age.Round(time.Second))},
		{f.kind == putBack && f.shard != "", fmt.Sprintf(", in shard %q", f.shard)},
		{f.bare, ", without annotations"},
		{f.orphan, ", without finalizers"},
	} {
		if d.says {
			s.WriteString(d.text)
		}
	}

	return s.String()
}
