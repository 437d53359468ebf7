// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// withVarMap sets the input variables that the supplied JSON object has.
func withVarMap(json string) workspaceOption {
	return withParameters(func(p *commonv1beta1.ModuleParameters) { p.VarMap = &runtime.RawExtension{Raw: []byte(json)} })
}

// echo returns a module that has an output for each of the supplied variables, of
// any type.
func echo(variables ...string) string {
	text := &strings.Builder{}
	for _, v := range variables {
		text.WriteString("variable \"" + v + "\" { type = any }\noutput \"" + v + "\" { value = var." + v + " }\n")
	}

	return text.String()
}

// TestVariableTypes sets variables of every type by text. The text is the value of simple
// types, with any characters, and an expression for the others.
func TestVariableTypes(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	cfg := c.createConfig(t, clusterScope, ns, withoutBackend())
	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg),
		withModule(moduleFile(t, "variables.tf")),
		withVar("untyped", `["no", "list"]`),
		withVar("text", "\"quoted\" ${word} %{if}\nC:\\new\n"),
		withVar("number", "9007199254740993"),
		withVar("flag", "true"),
		withVar("list", `["a", "b", ]`),
		withVar("object", `{ name = "n", size = 2 }`),
		withVar("anything", "[\n  1,\n  { deep = null },\n] # one"),
		withVar("twice", "first"),
		withVar("twice", "last"),
	)
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{
		"untyped":  `"[\"no\", \"list\"]"`,
		"text":     `"\"quoted\" ${word} %{if}\nC:\\new\n"`,
		"number":   `9007199254740993`,
		"flag":     `true`,
		"list":     `["a", "b"]`,
		"object":   `{"name": "n", "size": 2, "color": "red"}`,
		"anything": `[1, {"deep": null}]`,
		"twice":    `"last"`,
	})
}

// TestVariableFiles sets variables by files from ConfigMaps and Secrets in either
// format, and by an object.
func TestVariableFiles(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	// A file may serve several modules: a variable there need not be declared.
	r := references{env: []commonv1beta1.EnvVar{{Name: "TF_VAR_unknown", Value: "env"}}, varFiles: []commonv1beta1.VarFile{
		configMapVars(c.configMapKey(t, ns, "default = [\"format\"]\n"), nil),
		configMapVars(c.configMapKey(t, ns, "public = {\n  syntax = \"HCL\"\n}\nunknown = \"file\"\n"), inFormat(commonv1beta1.FileFormatHCL)),
		configMapVars(c.configMapKey(t, ns, `{"open": {"syntax": "JSON"}}`), inFormat(commonv1beta1.FileFormatJSON)),
		secretVars(c.secretKey(t, ns, "private = {\n  syntax = \"HCL\"\n}\n"), inFormat(commonv1beta1.FileFormatHCL)),
		secretVars(c.secretKey(t, ns, `{"closed": {"syntax": "JSON"}}`), inFormat(commonv1beta1.FileFormatJSON)),
		// There is a key, and nothing in it.
		configMapVars(c.configMapKey(t, ns, ""), nil),
	}}

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	ws := c.createReferring(t, namespacedScope, ns, r, inShard(shard), withConfig(cfg),
		withModule(echo("default", "public", "open", "private", "closed", "object")),
		withVarMap(`{"object": {"deep": [true, 1.5, {"er": "${text}"}]}, "unknown": "map"}`))

	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{
		"default": `["format"]`,
		"public":  `{"syntax": "HCL"}`,
		"open":    `{"syntax": "JSON"}`,
		"private": `{"syntax": "HCL"}`,
		"closed":  `{"syntax": "JSON"}`,
		"object":  `{"deep": [true, 1.5, {"er": "${text}"}]}`,
	})
}

// TestPrecedence sets variables in many ways at once. The name of each is the way that has
// to win. It is set in that way and in all ways with lower precedence.
func TestPrecedence(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useOpenTofu(t)

	r := references{
		env: []commonv1beta1.EnvVar{
			{Name: "TF_VAR_env", Value: `"env"`},
			{Name: "TF_VAR_vars", Value: `"env"`},
			{Name: "TF_VAR_first", Value: `"env"`},
			{Name: "TF_VAR_second", Value: `"env"`},
			{Name: "TF_VAR_varmap", Value: `"env"`},
			{Name: "TF_VAR_args", Value: `"env"`},
		},
		varFiles: []commonv1beta1.VarFile{
			secretVars(c.secretKey(t, ns, `{"first": "first", "second": "first", "varmap": "first", "args": "first"}`), inFormat(commonv1beta1.FileFormatJSON)),
			configMapVars(c.configMapKey(t, ns, "second = \"second\"\nvarmap = \"second\"\nargs = \"second\"\n"), nil),
		},
	}

	cfg := c.createConfig(t, clusterScope, ns, withoutBackend())
	ws := c.createReferring(t, clusterScope, ns, r, inShard(shard), withConfig(cfg),
		withModule(echo("env", "vars", "first", "second", "varmap", "args")),
		withVar("vars", `"vars"`), withVar("first", `"vars"`), withVar("second", `"vars"`), withVar("varmap", `"vars"`), withVar("args", `"vars"`),
		withVarMap(`{"varmap": "varmap", "args": "varmap"}`),
		withParameters(func(p *commonv1beta1.ModuleParameters) {
			p.PlanArgs = []string{`-var=args="args"`}
			p.ApplyArgs = []string{`-var=args="args"`}
		}))

	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{
		"env":    `"env"`,
		"vars":   `"vars"`,
		"first":  `"first"`,
		"second": `"second"`,
		"varmap": `"varmap"`,
		"args":   `"args"`,
	})
}

// TestModuleTfvars has a module that sets variables itself, in files that the CLI loads by itself. The Workspace wins, and
// still does when it sets another value.
func TestModuleTfvars(t *testing.T) {
	t.Parallel()

	files := tree{
		"main.tf":               "variable \"size\" {}\nvariable \"zone\" {}\nvariable \"kind\" {}\nresource \"terraform_data\" \"size\" { input = var.size }\noutput \"all\" { value = \"${terraform_data.size.output} ${var.zone} ${var.kind}\" }\n",
		"terraform.tfvars":      "size = \"small\"\n",
		"x.auto.tfvars.json":    `{"zone": "module"}`,
		"terraform.tfvars.json": `{"kind": "module"}`,
	}

	for name, use := range map[string]func(*testing.T) (*cluster, string, string, *instance){"tofu": useOpenTofu, "terraform": useTerraform} {
		for _, kind := range []scope{clusterScope, namespacedScope} {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				t.Parallel()

				c, ns, shard, _ := use(t)
				repo := newRepository(t, filepath.Join(t.TempDir(), "repo"), files)
				cfg := c.createConfig(t, kind, ns, withoutBackend())
				ws := c.createReferring(t, kind, ns, references{
					env:      []commonv1beta1.EnvVar{{Name: "TF_CLI_ARGS_plan", Value: "-var=kind=arguments"}},
					varFiles: []commonv1beta1.VarFile{configMapVars(c.configMapKey(t, ns, "zone = \"file\"\n"), nil)},
				}, inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceRemote, "git::file://"+repo.dir), withVar("size", "large"))
				expectReady(t, c, ws)
				expectOutputs(t, c, ws, map[string]string{"all": `"large file arguments"`})

				c.changeVars(t, ws, commonv1beta1.Var{Key: "size", Value: "huge"})
				expectOutputs(t, c, ws, map[string]string{"all": `"huge file arguments"`})
				expectReady(t, c, ws)
			})
		}
	}
}

// TestModuleOfVariable has a variable choose the module that init installs.
func TestModuleOfVariable(t *testing.T) {
	t.Parallel()

	c, ns, shard, i := useOpenTofu(t)

	repo := newRepository(t, filepath.Join(t.TempDir(), "repo"), tree{
		"main.tf":   "variable \"src\" { type = string }\nmodule \"m\" { source = var.src }\noutput \"which\" { value = module.m.which }\n",
		"a/main.tf": "output \"which\" { value = \"a\" }\n",
		"b/main.tf": "output \"which\" { value = \"b\" }\n",
	})
	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	ws := c.createWorkspace(t, namespacedScope, ns, inShard(shard), withConfig(cfg), withSource(commonv1beta1.ModuleSourceRemote, "git::file://"+repo.dir), withVar("src", "./a"))
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{"which": `"a"`})
	expectRuns(t, i, ws, "init", "plan", "apply", "state pull")

	c.changeVars(t, ws, commonv1beta1.Var{Key: "src", Value: "./b"})
	expectOutputs(t, c, ws, map[string]string{"which": `"b"`})
	expectReady(t, c, ws)
	expectRuns(t, i, ws, "init", "plan", "apply", "state pull", "plan", "init", "plan", "apply")
}

// TestUnreadableVarFile has files of variables that begin with a byte order mark, one of which is broken behind it.
func TestUnreadableVarFile(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	cfg := c.createConfig(t, namespacedScope, ns, withoutBackend())
	broken := c.configMapKey(t, ns, "\ufeff{\n")
	ws := c.createReferring(t, namespacedScope, ns, references{varFiles: []commonv1beta1.VarFile{
		configMapVars(c.configMapKey(t, ns, "\ufeff{\"a\": 1}"), inFormat(commonv1beta1.FileFormatJSON)),
		configMapVars(broken, inFormat(commonv1beta1.FileFormatJSON)),
	}}, inShard(shard), withConfig(cfg), withModule(echo("a")))
	expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, "spec.forProvider.varFiles[1] (ConfigMap "+ns+"/"+broken.Name+", key "+broken.Key+"), line ")

	json := c.configMapKey(t, ns, "{\"a\": 1}")
	latin1 := c.secretKey(t, ns, "{\"a\": \"M\xfcller\"}")

	for text, file := range map[string]commonv1beta1.VarFile{
		"varFiles[0] (ConfigMap " + ns + "/" + json.Name + ", key " + json.Key + "): the file begins like JSON: set format to JSON": configMapVars(json, nil),
		"varFiles[0] (Secret " + ns + "/" + latin1.Name + ", key " + latin1.Key + "): the file is not UTF-8":                        secretVars(latin1, inFormat(commonv1beta1.FileFormatJSON)),
	} {
		ws := c.createReferring(t, namespacedScope, ns, references{varFiles: []commonv1beta1.VarFile{file}}, inShard(shard), withConfig(cfg), withModule(echo("a")))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, text)
	}
}

// TestBadEnvironment has an entry of env that no process can have.
func TestBadEnvironment(t *testing.T) {
	t.Parallel()

	c, ns, shard, _ := useTerraform(t)

	for _, kind := range []scope{clusterScope, namespacedScope} {
		cfg := c.createConfig(t, kind, ns, withoutBackend())
		ws := c.createReferring(t, kind, ns, references{env: []commonv1beta1.EnvVar{{Name: "A"}, {Name: "B=C", Value: "d"}}}, inShard(shard), withConfig(cfg), withModule(echo()))
		expectCondition(t, c, ws, xpv2.TypeSynced, corev1.ConditionFalse, `spec.forProvider.env[1].name: "B=C" is not the name of an environment variable`)
	}
}

// TestValuesAreNoArguments checks the arguments of every run from creation to deletion:
// every user on the node can read them.
func TestValuesAreNoArguments(t *testing.T) {
	t.Parallel()

	c, ns, shard, _, rec := useRecorder(t)

	cfg := c.createConfig(t, namespacedScope, ns, configSpec{
		Credentials: []commonv1beta1.ProviderCredentials{secretCredentials("credentials.txt", c.secretKey(t, ns, "sesame-credentials"))},
	})
	ws := c.createReferring(t, namespacedScope, ns, references{
		env: []commonv1beta1.EnvVar{{Name: "TF_VAR_env", SecretKeyReference: c.secretKey(t, ns, `"sesame-env"`)}},
		varFiles: []commonv1beta1.VarFile{
			secretVars(c.secretKey(t, ns, `secret = "sesame-secret"`), nil),
			configMapVars(c.configMapKey(t, ns, `configmap = "sesame-configmap"`), nil),
		},
	}, inShard(shard), withConfig(cfg), withModule(echo("env", "text", "secret", "configmap", "object")),
		withVar("text", `"sesame-vars"`), withVarMap(`{"object": "sesame-varmap"}`))
	expectReady(t, c, ws)
	expectOutputs(t, c, ws, map[string]string{
		"env":       `"sesame-env"`,
		"text":      `"sesame-vars"`,
		"secret":    `"sesame-secret"`,
		"configmap": `"sesame-configmap"`,
		"object":    `"sesame-varmap"`,
	})

	c.remove(t, ws)
	expectGone(t, c, ws)

	for _, run := range rec.expect(t, string(ws.GetUID()), "init", "plan", "apply", "destroy") {
		if have := strings.Join(run.args, " "); strings.Contains(have, "sesame") {
			t.Errorf("want no value among the arguments of %s", have)
		}
	}
}
