// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
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
