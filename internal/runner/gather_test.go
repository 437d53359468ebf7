// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/redact"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// TestGather ensures what the inputs of a Workspace are, and which of them are secret.
func TestGather(t *testing.T) {
	t.Parallel()

	const secret = "sesame-sesame"

	type want struct {
		Files          map[string]workdir.File
		VarFiles       []string
		Env            []string
		Backend        bool
		GitCredentials string
		NoPluginCache  bool
		// Redacted says that the secret is hidden.
		Redacted bool
	}

	plain := func(text string) workdir.File { return workdir.File{Data: []byte(text)} }
	hidden := func(text string) workdir.File { return workdir.File{Data: []byte(text), Secret: true} }
	ref := &commonv1beta1.KeyReference{Namespace: "ns", Name: "o", Key: "k"}

	cases := map[string]struct {
		reason string
		change func(s *subject)
		want   want
	}{
		"Module":        {reason: "It is the only input.", change: func(*subject) {}, want: want{Files: map[string]workdir.File{"main.tf": plain("# module")}}},
		"Configuration": {reason: "It is beside the module.", change: configuration("c"), want: want{Files: map[string]workdir.File{"main.tf": plain("# module"), configurationFile: plain("c")}}},
		"Backend":       {reason: "Init needs to know it.", change: partialBackend, want: want{Files: map[string]workdir.File{"main.tf": plain("# module"), backendFile: plain("path = 1")}, Backend: true}},
		"Credentials": {
			reason: "They are secret, and have no other meaning.", change: credentials("creds"),
			want: want{Files: map[string]workdir.File{"main.tf": plain("# module"), "creds": hidden(secret)}, Redacted: true},
		},
		"SpecialCredentials": {
			reason: "Their names say what they are for.", change: credentials("creds", cliConfigFile, gitCredentialsFile),
			want: want{Files: map[string]workdir.File{"main.tf": plain("# module"), "creds": hidden(secret), cliConfigFile: hidden(secret), gitCredentialsFile: hidden(secret)}, GitCredentials: secret, Redacted: true},
		},
		"GitCredentialsOfWindows": {
			reason: "Git reads other line ends as part of a host.",
			change: func(s *subject) {
				s.credentials = map[string][]byte{gitCredentialsFile: []byte("https://me:" + secret + "@a\r\nhttps://b@c\r\n")}
			},
			want: want{
				Files:          map[string]workdir.File{"main.tf": plain("# module"), gitCredentialsFile: hidden("https://me:" + secret + "@a\nhttps://b@c\n")},
				GitCredentials: "https://me:" + secret + "@a\nhttps://b@c\n", Redacted: true,
			},
		},
		"ByteOrderMark": {
			reason: "Git skips a line that begins with one, and the CLI refuses it.",
			change: func(s *subject) {
				s.credentials = map[string][]byte{gitCredentialsFile: []byte("\ufeff" + secret), cliConfigFile: []byte("\ufeff" + secret), "creds": []byte("\ufeff" + secret)}
			},
			want: want{
				Files:          map[string]workdir.File{"main.tf": plain("# module"), gitCredentialsFile: hidden(secret), cliConfigFile: hidden(secret), "creds": hidden("\ufeff" + secret)},
				GitCredentials: secret, Redacted: true,
			},
		},
		"PluginCache": {
			reason: "It can be disabled. Without a setting it is used.", change: func(s *subject) { s.config.PluginCache = new(false) },
			want: want{Files: map[string]workdir.File{"main.tf": plain("# module")}, NoPluginCache: true},
		},
		"Env": {
			reason: "A value in the specification is not secret.", change: func(s *subject) { s.Env = []commonv1beta1.EnvVar{{Name: "A", Value: secret}} },
			want: want{Files: map[string]workdir.File{"main.tf": plain("# module")}, Env: []string{"A=" + secret}},
		},
		"SecretEnv": {
			reason: "One from a Secret is.", change: func(s *subject) { s.Env = []commonv1beta1.EnvVar{{Name: "A", SecretKeyReference: ref}} },
			want: want{Files: map[string]workdir.File{"main.tf": plain("# module")}, Env: []string{"A=" + secret}, Redacted: true},
		},
		"SecretArguments": {
			reason: "The CLI prints one of them.",
			change: func(s *subject) {
				s.Env = []commonv1beta1.EnvVar{{Name: "TF_CLI_ARGS_plan", SecretKeyReference: &commonv1beta1.KeyReference{Namespace: "ns", Name: "arguments", Key: "k"}}}
			},
			want: want{Files: map[string]workdir.File{"main.tf": plain("# module")}, Env: []string{"TF_CLI_ARGS_plan=-no-color -var=a=" + secret}, Redacted: true},
		},
		"VarFile": {
			reason: "Its text may be shown. The file is removed like all others with values.",
			change: func(s *subject) { variables(s); s.VarFiles = s.VarFiles[:1] },
			want:   want{Files: map[string]workdir.File{"main.tf": plain(`variable "a" {}`), varFileName(0, false): hidden("from-config-map\n")}, VarFiles: []string{varFileName(0, false)}},
		},
		"MarkedVarFile": {
			reason: "A byte order mark is no part of it.",
			change: func(s *subject) {
				json := commonv1beta1.FileFormatJSON
				s.VarFiles = []commonv1beta1.VarFile{{
					Source: commonv1beta1.VarFileSourceConfigMapKey, Format: &json,
					ConfigMapKeyReference: &commonv1beta1.KeyReference{Namespace: "ns", Name: "marked", Key: "k"},
				}}
			},
			want: want{Files: map[string]workdir.File{"main.tf": plain("# module"), varFileName(0, true): hidden("{}")}, VarFiles: []string{varFileName(0, true)}},
		},
		"SecretVarFile": {
			reason: "Its text must not be shown. Its name has the format.",
			change: variables,
			want: want{
				Files:    map[string]workdir.File{"main.tf": plain(`variable "a" {}`), varFileName(0, false): hidden("from-config-map\n"), varFileName(1, true): hidden(`{"a": "` + secret + `"}`)},
				VarFiles: []string{"crossplane-provider-terraform-0.tfvars", "crossplane-provider-terraform-1.tfvars.json"}, Redacted: true,
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in, err := gather(t, tc.change)
			if err != nil {
				t.Fatal(err)
			}

			got := want{
				Files: in.all(), VarFiles: in.varFiles, Env: in.env, Backend: in.backend,
				GitCredentials: string(in.gitCredentials()), NoPluginCache: !in.pluginCache,
				Redacted: in.Secrets().Text(secret) != secret,
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\ninputs: -want, +got:\n%s", tc.reason, diff)
			}

			if in.incomplete != nil {
				t.Errorf("\n%s\nmissing variables: want none, got %v", tc.reason, in.incomplete)
			}
		})
	}
}

// TestSecretsOfCLIConfig ensures that people see where providers should come from, and nothing else.
func TestSecretsOfCLIConfig(t *testing.T) {
	t.Parallel()

	const (
		token  = "credentials \"host.example.org\" {\n  token = \"sesame-sesame\"\n}\n"
		mirror = "provider_installation {\n  filesystem_mirror {\n    path = \"/no/such/mirror\"\n  }\n}\n"

		services = "host \"x1.example.org\" {\n  services = {\n    \"providers.v1\" = \"https://x1.example.org/v1/\"\n  }\n}\n"
	)

	cases := map[string]struct {
		reason, name, text, message, want string
	}{
		"Mirror":   {reason: "It has to be corrected.", name: cliConfigFile, text: token + mirror, message: "cannot search /no/such/mirror with sesame-sesame", want: "cannot search /no/such/mirror with (sensitive)"},
		"First":    {reason: "The order does not matter.", name: cliConfigFile, text: mirror + token, message: "cannot search /no/such/mirror with sesame-sesame", want: "cannot search /no/such/mirror with (sensitive)"},
		"Password": {reason: "An address may have one.", name: cliConfigFile, text: `provider_installation { network_mirror { url = "https://a:sesame@host.example.org/" } }`, message: "cannot get https://a:sesame@host.example.org/", want: "cannot get (sensitive)"},
		"Host":     {reason: "So has the host of a token.", name: cliConfigFile, text: token, message: "cannot ask host.example.org with sesame-sesame", want: "cannot ask host.example.org with (sensitive)"},
		"Services": {reason: "So have those of a host.", name: cliConfigFile, text: token + services, message: "cannot ask https://x1.example.org/v1/ for x1.example.org/acme/acme with sesame-sesame", want: "cannot ask https://x1.example.org/v1/ for x1.example.org/acme/acme with (sensitive)"},
		"Userinfo": {reason: "An address of a service may have a password, too.", name: cliConfigFile, text: strings.Replace(services, "//", "//a:sesame@", 1), message: "cannot get https://a:sesame@x1.example.org/v1/", want: "cannot get (sensitive)"},
		"Broken":   {reason: "What it has is unknown.", name: cliConfigFile, text: mirror + "{", message: "cannot search /no/such/mirror", want: "cannot search (sensitive)"},
		"Other":    {reason: "It is not for the CLI.", name: "creds", text: mirror, message: "cannot search /no/such/mirror", want: "cannot search (sensitive)"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := redact.New(secretsIn(tc.name, []byte(tc.text))...).Text(tc.message); got != tc.want {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestVariablesOfSecret ensures that people see the names of variables, which addresses and messages contain, and no values.
func TestVariablesOfSecret(t *testing.T) {
	t.Parallel()

	cases := map[string]struct{ reason, text, message, want string }{
		"Name":   {reason: "It has a digit.", text: `{"s3_bucket": "sesame-1"}`, message: `variable "s3_bucket" is sesame-1`, want: `variable "s3_bucket" is (sensitive)`},
		"Longer": {reason: "Another name begins with it.", text: `{"s3_bucket": 1, "s3_bucket_id": 2}`, message: "s3_bucket and s3_bucket_id", want: "s3_bucket and s3_bucket_id"},
		"Nested": {reason: "It is the name of no variable.", text: `{"a": {"sesame1": 1}}`, message: "sesame1", want: "(sensitive)"},
		"Value":  {reason: "It is a value, too.", text: `{"sesame1": "a", "b": "sesame1"}`, message: "sesame1", want: "(sensitive)"},
		"Part":   {reason: "It is a part of a value.", text: `{"sesame1": "a", "b": "x=sesame1"}`, message: "sesame1", want: "(sensitive)"},
		"Escape": {reason: "It is a value that is written in another way.", text: `{"sesame1": "a", "b": "\u0073esame1"}`, message: "sesame1", want: "(sensitive)"},
		"NoName": {reason: "No variable can have it.", text: `{"sesame/1": "a"}`, message: "sesame/1", want: "(sensitive)"},
		"Broken": {reason: "What it has is unknown.", text: `{"sesame1": "a"`, message: "sesame1", want: "(sensitive)"},
		"HCL":    {reason: "Names are not hidden there.", text: `s3_bucket = "sesame-1"`, message: `variable "s3_bucket" is sesame-1`, want: `variable "s3_bucket" is (sensitive)`},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			files := [][]byte{[]byte(tc.text)}
			if got := redact.New(files...).With(nil, variablesIn(files)...).Text(tc.message); got != tc.want {
				t.Errorf("%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
		})
	}

	if got := variablesIn([][]byte{[]byte(`{"sesame1": "a"}`), []byte(`b = "sesame1"`)}); len(got) > 0 {
		t.Errorf("want no word of another file, got %q", got)
	}

	if got := variablesIn([][]byte{[]byte(`{"sesame1": "a"}`)}, []byte("password=sesame1")); len(got) > 0 {
		t.Errorf("want no word of another secret, got %q", got)
	}

	in, err := gather(t, secretVarFile("named", commonv1beta1.FileFormatJSON))
	if err != nil {
		t.Fatal(err)
	}

	if got, want := in.Secrets().Text("s3_bucket is sesame-1"), "s3_bucket is (sensitive)"; got != want {
		t.Errorf("inputs: want %q, got %q", want, got)
	}

	for _, name := range []string{"terraform.tfvars.json", "network.auto.tfvars.json"} {
		in, err := gather(t, func(s *subject) {
			s.credentials = map[string][]byte{name: []byte(`{"s3_bucket": "sesame-1"}`)}
		})
		if err != nil {
			t.Fatal(err)
		}

		if got, want := in.Secrets().Text("s3_bucket is sesame-1"), "s3_bucket is (sensitive)"; got != want {
			t.Errorf("credentials %s: want %q, got %q", name, want, got)
		}
	}
}

// TestGatherErrors ensures that inputs that cannot be used are an error, and that only variables may
// be missing.
func TestGatherErrors(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason     string
		change     func(s *subject)
		err        string
		incomplete string
	}{
		"Entrypoint":  {reason: "It is outside of the module.", change: entrypoint("../a"), err: "it leaves the module"},
		"Credentials": {reason: "They would replace the module.", change: credentials("main.tf"), err: `cannot use the filename "main.tf" in spec.credentials`},
		"Env": {
			reason: "All commands need it.", err: "cannot resolve variables",
			change: func(s *subject) {
				s.Env = []commonv1beta1.EnvVar{{Name: "A", SecretKeyReference: &commonv1beta1.KeyReference{Namespace: "ns", Name: "missing", Key: "k"}}}
			},
		},
		"LargeEnv": {
			reason: "Its values would not fit into memory.", err: `cannot resolve variables: spec.forProvider.env A: all values together`,
			change: func(s *subject) {
				ref := &commonv1beta1.KeyReference{Namespace: "ns", Name: "large", Key: "k"}
				s.Env = slices.Repeat([]commonv1beta1.EnvVar{{Name: "A", SecretKeyReference: ref}}, 100)
			},
		},
		"LargeVarFiles": {
			reason: "Those of files would not, either.", incomplete: "cannot resolve variables: spec.forProvider.varFiles[81]: all values together have more than 8.0 MiB",
			change: func(s *subject) {
				ref := &commonv1beta1.KeyReference{Namespace: "ns", Name: "large", Key: "k"}
				s.VarFiles = slices.Repeat([]commonv1beta1.VarFile{{Source: commonv1beta1.VarFileSourceSecretKey, SecretKeyReference: ref}}, 100)
			},
		},
		"NoEnvName": {
			reason: "No variable has this name. The value may be a secret.", err: `cannot resolve variables: spec.forProvider.env[1].name: "" is not the name`,
			change: func(s *subject) { s.Env = []commonv1beta1.EnvVar{{Name: "A"}, {Value: "sesame"}} },
		},
		"BadEnvName": {
			reason: "The CLI would get another variable.", err: `spec.forProvider.env[0].name: "A=B" is not the name`,
			change: environment("A=B", "c"),
		},
		"NULInEnvName": {reason: "No process can have it.", err: `"A\x00" is not the name`, change: environment("A\x00", "c")},
		"NULInEnv":     {reason: "No process can have it.", err: `spec.forProvider.env A: its value contains a NUL byte`, change: environment("A", "\x00")},
		"LongEnv":      {reason: "No process can have it.", err: `spec.forProvider.env A: its value has 131070 bytes: an environment variable can have 131070`, change: environment("A", strings.Repeat("x", 131070))},
		"UTF16": {
			reason: "The CLI would say that it is no token.", incomplete: "cannot resolve variables: spec.forProvider.varFiles[0] (Secret ns/utf16, key k): the file contains NUL bytes",
			change: secretVarFile("utf16", commonv1beta1.FileFormatHCL),
		},
		"Latin1": {
			reason: "In JSON, the CLI would replace the characters.", incomplete: "cannot resolve variables: spec.forProvider.varFiles[0] (Secret ns/latin1, key k): the file is not UTF-8",
			change: secretVarFile("latin1", commonv1beta1.FileFormatJSON),
		},
		"JSONAsHCL": {
			reason: "The CLI would not say what is wrong.", incomplete: "cannot resolve variables: spec.forProvider.varFiles[0] (Secret ns/json, key k): the file begins like JSON: set format to JSON",
			change: secretVarFile("json", commonv1beta1.FileFormatHCL),
		},
		"TextAsJSON": {
			reason: "The CLI would show a part of it.", change: secretVarFile("o", commonv1beta1.FileFormatJSON),
			incomplete: "cannot resolve variables: spec.forProvider.varFiles[0] (Secret ns/o, key k): the file is no JSON object: set format to HCL if it has lines name = value. For one value, set env TF_VAR_<name> with secretKeyRef or configMapKeyRef",
		},
		"VarFile": {reason: "Some commands do not need it.", change: missingVariables, incomplete: "cannot resolve variables: spec.forProvider.varFiles[0]"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in, err := gather(t, tc.change)
			expectError(t, tc.reason, tc.err, err)

			if err == nil {
				expectError(t, tc.reason, tc.incomplete, in.incomplete)
			}
		})
	}
}
