// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestModuleTree ensures that only files of modules that are called count, and only for what they declare.
func TestModuleTree(t *testing.T) {
	t.Parallel()

	const resource, call = "resource \"t\" \"r\" {}\n", "module \"m\" {\n  source = \"./m\"\n}\n"

	cases := map[string]struct {
		reason string
		files  map[string]string
		dirs   map[string]string
		want   []unreadFile
	}{
		"Root":    {reason: "Only OpenTofu reads it.", files: map[string]string{"e/main.tofu": resource, "e/versions.tf": ""}, want: []unreadFile{{"main.tofu", []string{"t.r"}}}},
		"Twin":    {reason: "The CLI has another one.", files: map[string]string{"e/main.tofu": resource, "e/main.tf": resource}},
		"Other":   {reason: "It declares no resources.", files: map[string]string{"e/main.tofu": "terraform {\n  encryption {}\n}\n"}},
		"Broken":  {reason: "What it declares is unknown.", files: map[string]string{"e/main.tofu": "\x00" + resource}},
		"Outside": {reason: "It is not in the entrypoint.", files: map[string]string{"main.tofu": resource, "e/main.tf": ""}},
		"Call":    {reason: "It calls a module.", files: map[string]string{"e/main.tofu": call}, want: []unreadFile{{"main.tofu", []string{"module.m"}}}},
		"JSON":    {reason: "It is the same in JSON.", files: map[string]string{"e/main.tofu.json": `{"resource": {"t": {"r": {}}}}`}, want: []unreadFile{{"main.tofu.json", []string{"t.r"}}}},
		"Called": {
			reason: "So is a file of a module that is called.",
			files:  map[string]string{"e/main.tf": call, "e/m/main.tofu": resource}, dirs: map[string]string{"": ".", "m": "m"},
			want: []unreadFile{{"m/main.tofu", []string{"module.m.t.r"}}},
		},
		"Nested": {
			reason: "At any depth.",
			files:  map[string]string{"e/main.tf": call, "shared/main.tf": call, "shared/m/x.tofu": resource}, dirs: map[string]string{"": ".", "m": "../shared", "m.m": "../shared/m"},
			want: []unreadFile{{"../shared/m/x.tofu", []string{"module.m.module.m.t.r"}}},
		},
		"Repeated": {
			reason: "Override files repeat calls. Each module is read once.",
			files:  map[string]string{"e/main.tf": call, "e/x_override.tf": call + call, "e/m/main.tofu": resource}, dirs: map[string]string{"": ".", "m": "m"},
			want: []unreadFile{{"m/main.tofu", []string{"module.m.t.r"}}},
		},
		"NotCalled": {
			reason: "Init keeps the record of a module that is not called any more.",
			files:  map[string]string{"e/main.tf": "", "e/m/main.tofu": resource}, dirs: map[string]string{"": ".", "m": "m"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			fsys := fstest.MapFS{}
			for name, text := range tc.files {
				fsys[name] = &fstest.MapFile{Data: []byte(text)}
			}

			m := moduleTree{cli: &terraform.CLI{Product: terraform.Terraform, Version: "1.5.7"}, fsys: fsys, entrypoint: "e", dirs: tc.dirs}
			m.read("", ".", "")

			if diff := cmp.Diff(tc.want, m.unread, cmp.AllowUnexported(unreadFile{})); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCheckRemoved ensures that a destroy is refused if the module, or one that it calls, keeps something in the state, in any instance. The
// next try must initialize: the module may call other versions then.
func TestCheckRemoved(t *testing.T) {
	t.Parallel()

	const (
		call    = "module \"m\" {\n  source = \"./m\"\n}\n"
		removed = "removed {\n  from = t.r\n  lifecycle {\n    destroy = false\n  }\n}\n"
		modules = `{"Modules":[{"Key":"","Dir":"."},{"Key":"m","Dir":"m"},{"Key":"m.m","Dir":"m/m"}]}`
	)

	cases := map[string]struct {
		reason string
		files  filesystem.Files
		module string // That has the resource in the state.
		want   string
	}{
		"Root":      {reason: "It is kept.", files: filesystem.Files{"main.tf": removed}, want: "for t.r, which"},
		"Called":    {reason: "So it is by a module that is called.", files: filesystem.Files{"main.tf": call, "m/main.tf": removed}, module: "module.m", want: "for module.m.t.r, which"},
		"Nested":    {reason: "At any depth.", files: filesystem.Files{"main.tf": call, "m/main.tf": call, "m/m/main.tf": removed}, module: "module.m.module.m", want: "for module.m.module.m.t.r, which"},
		"Instances": {reason: "In all instances.", files: filesystem.Files{"main.tf": call, "m/main.tf": call, "m/m/main.tf": removed}, module: `module.m[0].module.m[\"a.b\"]`, want: "for module.m.module.m.t.r, which"},
		"Module":    {reason: "With all that a module calls.", files: filesystem.Files{"main.tf": call, "m/main.tf": "removed {\n  from = module.m\n  lifecycle {\n    destroy = false\n  }\n}\n"}, module: `module.m[\"a\"].module.m[1]`, want: "for module.m.module.m.t.r, which"},
		"Elsewhere": {reason: "It is the one of another module.", files: filesystem.Files{"main.tf": call, "m/main.tf": removed}, module: "module.m.module.m"},
		"NotCalled": {reason: "The CLI does not read it.", files: filesystem.Files{"main.tf": "locals {}\n", "m/main.tf": removed}, module: "module.m"},
	}

	for name, tc := range cases {
		for _, version := range []string{"OpenTofu v1.12.6", "Terraform v1.7.0"} {
			t.Run(name+"/"+version, func(t *testing.T) {
				t.Parallel()

				address := t.TempDir()
				filesystem.Write(t, address, tc.files)

				p := newPlace(t)
				r := p.stubbed(t, firstUID, remote(address))
				r.CLI = p.cli(t, "other", version)

				if err := r.Prepare(t.Context()); err != nil {
					t.Fatal(err)
				}

				filesystem.Write(t, filepath.Join(r.run.Dir, terraform.DataDir), filesystem.Files{"modules/modules.json": modules})

				s, err := terraform.ParseState([]byte(`{"version":4,"resources":[{"mode":"managed","module":"` + tc.module + `","type":"t","name":"r","instances":[{}]}]}`))
				if err != nil {
					t.Fatal(err)
				}

				expectError(t, tc.reason, tc.want, r.CheckDestroy(s))

				if got := r.Dir.Initialized(r.Inputs.parameters.Entrypoint) == ""; got != (tc.want != "") {
					t.Errorf("%s: want the next try to initialize: %t, got %t", tc.reason, tc.want != "", got)
				}
			})
		}
	}
}
