// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"testing"

	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// TestInitKeyOfVariables ensures that Workspaces with other values of variables share a result only if no file of the
// module makes init depend on variables.
func TestInitKeyOfVariables(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		module string
		change func(r *Runner)
		want   bool
	}{
		"Unused":  {reason: "Init uses none.", module: `locals { a = var.a }`, change: inEnv("TF_VAR_a=b"), want: true},
		"Same":    {reason: "The values are the same.", module: `module "m" { source = var.a }`, want: true},
		"File":    {reason: "A file has another value.", module: `module "m" { source = var.a }`, change: file("values.tfvars", "a = 2")},
		"Env":     {reason: "So has the environment.", module: `module "m" { source = local.a }`, change: inEnv("TF_VAR_a=b")},
		"EnvOf":   {reason: "So has that of the provider.", module: "terraform {\n  encryption {\n    state {\n      method = var.a\n    }\n  }\n}", change: inEnviron("TF_VAR_a=b")},
		"Invalid": {reason: "It may depend on them.", module: `module "m" {`, change: inEnv("TF_VAR_a=b")},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			keys := map[string]bool{}

			for uid, change := range map[string]func(*Runner){firstUID: nil, secondUID: tc.change} {
				r := p.newRunner(t, uid, func(r *Runner) {
					r.Inputs.module["m/main.tf"] = workdir.File{Data: []byte(tc.module)}
					r.Inputs.env = []string{"KUBE_NAMESPACE=a"}
					r.Inputs.config["values.tfvars"] = workdir.File{Data: []byte("a = 1")}

					if change != nil {
						change(r)
					}
				})

				key, err := r.newInitKey()
				if err != nil || key == "" {
					t.Fatalf("newInitKey(): want a key, got %q and %v", key, err)
				}

				keys[key] = true
			}

			if got := len(keys) == 1; got != tc.want {
				t.Errorf("\n%s\nthe key is the same: want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
