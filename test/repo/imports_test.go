// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package repo

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// An arrow has the packages that a package may import. Tests may import anything.
type arrow struct {
	// from is a pattern for the packages that it is about.
	from string

	// to are patterns for the packages of this module that they may import. All
	// others are refused.
	to []string

	// never are patterns for the packages that they may not import. All others outside of this
	// module are allowed.
	//
	// Only direct imports count: crossplane-runtime's errors alone depends on the client
	// of controller-runtime.
	never []string

	// why is the reason for the restriction.
	why string
}

// kubernetesClients talk to an API server.
func kubernetesClients() []string {
	return []string{"sigs.k8s.io/controller-runtime/...", "k8s.io/client-go/..."}
}

// arrows holds a row for every package that ends up in the provider. The first row
// that matches a package is its row.
//
// A pattern is an import path, those of this module without the module; a final
// "/..." covers all packages below it as well.
func arrows() []arrow {
	return []arrow{
		{
			from: "cmd/provider",
			to:   []string{"internal/app"},
			why:  "main parses flags, runs and sets the exit code; decisions that can go wrong are in other packages, where they are tested",
		},
		{
			from: "cmd/fetch",
			to:   []string{"internal/module/fetch/child"},
			why:  "it is the process that fetches modules",
		},
		{
			from:  "internal/app",
			to:    []string{"apis/...", "internal/..."},
			never: []string{"internal/module/fetch/child"},
			why:   "it connects all packages but the one of another program, which links the clients of AWS and GCS",
		},
		{
			from: "internal/controller/workspace",
			to: []string{
				"apis/common/...", "internal/listing", "internal/providerconfig", "internal/redact", "internal/regular", "internal/runner", "internal/schedule",
				"internal/statelock", "internal/terraform", "internal/workdir", "internal/workspace",
			},
			why: "one controller serves both kinds of Workspace and does not depend on shards: app puts the shard packages in front of it",
		},
		{
			from: "internal/schedule",
			to:   []string{"apis/common/...", "internal/providerconfig", "internal/queue", "internal/redact", "internal/statusclient", "internal/terraform", "internal/workspace"},
			why:  "when a Workspace is reconciled depends on the Workspace and on its last observation, and not on the actions of the controller",
		},
		{
			from: "internal/runner",
			to: []string{
				"apis/common/...", "internal/environ", "internal/initcache", "internal/keyref", "internal/module", "internal/plugincache",
				"internal/process", "internal/redact", "internal/regular", "internal/statelock", "internal/terraform", "internal/vars", "internal/workdir",
			},
			why: "it runs the CLI for one Workspace, and another package decides on the results",
		},
		{
			from: "internal/statelock",
			to:   []string{"internal/terraform"},
			why:  "whether a lock was left behind depends on its holder, not on its purpose",
		},
		{
			from: "internal/controller/config",
			to:   []string{"apis/...", "internal/listing", "internal/providerconfig"},
			why:  "counting the users of a ProviderConfig has nothing to do with running Workspaces",
		},
		{
			from: "internal/gc",
			to:   []string{"internal/listing", "internal/periodic", "internal/workdir", "internal/workspace"},
			why:  "which directories are garbage depends on all existing Workspaces, and not on the memory of this instance",
		},
		{
			from:  "internal/shard",
			never: kubernetesClients(),
			why:   "the instance of a Workspace is a pure function, the same on every instance",
		},
		{
			from: "internal/shard/unserved",
			to:   []string{"apis/common/v1beta1", "internal/listing", "internal/periodic", "internal/shard", "internal/workspace"},
			why:  "it writes a condition of a Workspace, and depends on no controller",
		},
		{
			from: "internal/shard/...",
			to:   []string{"apis/common/v1beta1", "internal/listing", "internal/periodic", "internal/shard", "internal/shard/session"},
			why:  "sharding is read, tested and switched off in one place",
		},
		{
			from: "internal/queue",
			why:  "the order of items does not depend on their type",
		},
		{
			from:  "internal/periodic",
			never: []string{"k8s.io/...", "sigs.k8s.io/..."},
			why:   "tasks of any package run at intervals",
		},
		{
			from:  "internal/remedy",
			never: []string{"k8s.io/...", "sigs.k8s.io/..."},
			why:   "the provider and the CLI get the same texts of git and of the network",
		},
		{
			from: "internal/listing",
			why:  "listing works for any kind",
		},
		{
			from: "internal/drain",
			why:  "draining works for any reconciler",
		},
		{
			from: "internal/statusclient",
			to:   []string{"apis/common/v1beta1"},
			why:  "finishing work on an object works for any kind",
		},
		{
			from: "internal/metrics",
			why:  "measurements are handed to it",
		},
		{
			from:  "internal/redact",
			never: []string{"k8s.io/...", "sigs.k8s.io/..."},
			why:   "secrets are handed to it",
		},
		{
			from:  "internal/regular",
			never: []string{"k8s.io/...", "sigs.k8s.io/..."},
			why:   "a file is read the same way for all callers",
		},
		{
			from: "internal/keyref",
			to:   []string{"internal/regular"},
			why:  "a key is read the same way for all callers",
		},
		{
			from: "internal/providerconfig",
			to:   []string{"apis/...", "internal/environ", "internal/keyref", "internal/regular"},
			why:  "a ProviderConfig is resolved for any managed resource",
		},
		{
			from:  "internal/workspace",
			to:    []string{"apis/..."},
			never: []string{"os", "os/exec", "net/http", "k8s.io/client-go/..."},
			why:   "it holds rules and does no I/O",
		},
		{
			from: "internal/module",
			to:   []string{"apis/common/...", "internal/dircache", "internal/keyref", "internal/module/fetch", "internal/regular", "internal/remedy", "internal/terraform", "internal/workdir"},
			why:  "it serves both scopes: references have got their namespaces before",
		},
		{
			from:  "internal/module/fetch",
			to:    []string{"internal/environ", "internal/process", "internal/regular", "internal/remedy"},
			never: []string{"github.com/hashicorp/go-getter"},
			why:   "only the process of a fetch links what downloads",
		},
		{
			from: "internal/module/fetch/child",
			to:   []string{"internal/module/fetch", "internal/process", "internal/regular"},
			why:  "a fetch runs in a separate process and depends only on its request",
		},
		{
			from: "internal/vars",
			to:   []string{"apis/common/...", "internal/terraform"},
			why:  "it converts values and does not know where they come from",
		},
		{
			from:  "internal/terraform",
			to:    []string{"internal/environ", "internal/process", "internal/regular", "internal/remedy"},
			never: []string{"k8s.io/...", "sigs.k8s.io/..."},
			why:   "it runs the CLI and does not depend on Kubernetes",
		},
		{
			from:  "internal/process",
			never: []string{"k8s.io/...", "sigs.k8s.io/..."},
			why:   "every program runs the same way",
		},
		{
			from:  "internal/environ",
			never: []string{"k8s.io/...", "sigs.k8s.io/..."},
			why:   "an environment is a list of strings",
		},
		{
			from:  "internal/dircache",
			to:    []string{"internal/periodic"},
			never: []string{"k8s.io/...", "sigs.k8s.io/..."},
			why:   "it keeps directories with any content",
		},
		{
			from:  "internal/initcache",
			to:    []string{"internal/dircache", "internal/regular"},
			never: []string{"k8s.io/...", "sigs.k8s.io/..."},
			why:   "the key is the only input that it has about an entry",
		},
		{
			from:  "internal/plugincache",
			to:    []string{"internal/dircache", "internal/environ", "internal/periodic", "internal/regular", "internal/terraform"},
			never: []string{"k8s.io/...", "sigs.k8s.io/..."},
			why:   "it depends on the CLI, and not on Workspaces",
		},
		{
			from:  "internal/workdir",
			to:    []string{"internal/regular"},
			never: kubernetesClients(),
			why:   "it manages directories and sends no requests to the API server",
		},
		{
			from: "apis",
			to:   []string{"apis/..."},
			why:  "the API is imported by everything, so it imports nothing but itself",
		},
		{
			from: "apis/common/...",
			why:  "both groups are made of it",
		},
		{
			from: "apis/...",
			to:   []string{"apis/common/..."},
			why:  "the two groups change independently of each other",
		},
	}
}

// matches says whether an import path matches a pattern.
func matches(pattern, importPath string) bool {
	tree, all := strings.CutSuffix(pattern, "/...")

	return importPath == tree || all && strings.HasPrefix(importPath, tree+"/")
}

func matchesAny(patterns []string, importPath string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, importPath) })
}

// imports refuses imports that are against the arrows.
func imports(files []file) []string {
	var complaints []string

	shipped := []string{"apis/...", "cmd/...", "internal/..."}

	for _, f := range files {
		if f.isTest() || !matchesAny(shipped, f.dir()) {
			continue
		}

		row := slices.IndexFunc(arrows(), func(a arrow) bool { return matches(a.from, f.dir()) })
		if row < 0 {
			complaints = append(complaints, f.name+": "+f.dir()+" has no row in the table of arrows: add the packages that it may import")

			continue
		}

		complaints = append(complaints, arrows()[row].check(f)...)
	}

	return complaints
}

func (a arrow) check(f file) []string {
	var complaints []string

	for _, spec := range f.syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			complaints = append(complaints, f.at(spec)+": "+err.Error())

			continue
		}

		allowed := !matchesAny(a.never, imported)
		if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
			imported = ours
			allowed = matchesAny(a.to, ours) && !matchesAny(a.never, ours)
		}

		if !allowed {
			complaints = append(complaints, f.at(spec)+": imports "+imported+": "+a.why)
		}
	}

	return complaints
}

func TestImports(t *testing.T) {
	t.Parallel()

	testRule(t, imports, map[string]ruleCase{
		"Allowed": {
			reason: "Arrows may be followed, in any number, and other modules may be imported.",
			tree: tree{
				"internal/gc/gc.go": `package gc
import (
	"os"
	_ "sigs.k8s.io/controller-runtime/pkg/client"
	_ "` + module + `/internal/workdir"
	_ "` + module + `/internal/workspace"
)`,
			},
		},
		"Test": {
			reason: "A test may import packages that its package may not.",
			tree: tree{
				"internal/workdir/workdir_test.go": `package workdir
import _ "` + module + `/apis/cluster/v1beta1"`,
			},
		},
		"Tools": {
			reason: "A package outside of the provider may import everything.",
			tree: tree{
				"hack/demo/main.go": `package main
import _ "` + module + `/internal/app"`,
			},
		},
		"Backwards": {
			reason: "Nothing imports app, which imports everything.",
			tree: tree{
				"internal/metrics/metrics.go": `package metrics

import _ "` + module + `/internal/app"`,
			},
			want: []string{
				"internal/metrics/metrics.go:3: imports internal/app: measurements are handed to it",
			},
		},
		"OtherProcess": {
			reason: "A package may be excepted from those below another one.",
			tree: tree{
				"internal/app/app.go": `package app

import _ "` + module + `/internal/module/fetch/child"`,
			},
			want: []string{
				"internal/app/app.go:3: imports internal/module/fetch/child: it connects all packages but the one of another program, which links the clients of AWS and GCS",
			},
		},
		"ControllerKnowsShards": {
			reason: "A package below one that may not be imported may not be imported either.",
			tree: tree{
				"internal/controller/workspace/connector.go": `package workspace
import (
	_ "` + module + `/apis/common/v1beta1"
	_ "` + module + `/apis/cluster/v1beta1"
	_ "` + module + `/internal/shard"
	_ "` + module + `/internal/shard/claim"
)`,
			},
			want: []string{
				"internal/controller/workspace/connector.go:4: imports apis/cluster/v1beta1: one controller serves both kinds of Workspace and does not depend on shards: app puts the shard packages in front of it",
				"internal/controller/workspace/connector.go:5: imports internal/shard: one controller serves both kinds of Workspace and does not depend on shards: app puts the shard packages in front of it",
				"internal/controller/workspace/connector.go:6: imports internal/shard/claim: one controller serves both kinds of Workspace and does not depend on shards: app puts the shard packages in front of it",
			},
		},
		"PureAndImpureSharding": {
			reason: "The most specific row applies.",
			tree: tree{
				"internal/shard/id.go": `package shard
import _ "sigs.k8s.io/controller-runtime/pkg/client"`,
				"internal/shard/session/session.go": `package session
import (
	_ "sigs.k8s.io/controller-runtime/pkg/client"
	_ "` + module + `/internal/shard/claim"
)`,
			},
			want: []string{
				"internal/shard/id.go:2: imports sigs.k8s.io/controller-runtime/pkg/client: the instance of a Workspace is a pure function, the same on every instance",
				"internal/shard/session/session.go:4: imports internal/shard/claim: sharding is read, tested and switched off in one place",
			},
		},
		"NewPackage": {
			reason: "A new package may not import anything before it has a row.",
			tree:   tree{"internal/new/new.go": "package new"},
			want:   []string{"internal/new/new.go: internal/new has no row in the table of arrows: add the packages that it may import"},
		},
		"SimilarName": {
			reason: "A row for one package does not cover another whose name begins the same.",
			tree:   tree{"internal/shardless/x.go": "package shardless"},
			want:   []string{"internal/shardless/x.go: internal/shardless has no row in the table of arrows: add the packages that it may import"},
		},
	})
}
