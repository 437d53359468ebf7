// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/apis"
	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/providerconfig"
	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// A situation is all that a plan depends on.
type situation struct {
	ws     *clusterv1beta1.Workspace
	config *clusterv1beta1.ProviderConfig
	cm     *corev1.ConfigMap
	cli    *terraform.CLI

	// Secrets that the credentials, the environment and the variables are from.
	credentials, env, vars *corev1.Secret
}

func newSituation(cli *terraform.CLI) *situation {
	object := func(name, uid string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(uid), ResourceVersion: "1"}
	}
	secret := func(name string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: object(name, name), Data: map[string][]byte{"key": []byte("1234")}}
	}
	ref := func(name string) *commonv1beta1.KeyReference {
		return &commonv1beta1.KeyReference{Namespace: "ns", Name: name, Key: "key"}
	}

	s := &situation{
		ws:          workspaceWithUID("11111111-1111-1111-1111-111111111111"),
		config:      &clusterv1beta1.ProviderConfig{ObjectMeta: object("default", "config")},
		cm:          &corev1.ConfigMap{ObjectMeta: object("cm", "cm"), Data: map[string]string{"key": "1234"}},
		cli:         cli,
		credentials: secret("credentials"),
		env:         secret("env"),
		vars:        secret("vars"),
	}
	s.config.SetNamespace("")
	s.config.SetGeneration(1)
	s.config.Spec.Credentials = []commonv1beta1.ProviderCredentials{{
		Filename: "creds",
		Source:   xpv2.CredentialsSourceSecret,
		CommonCredentialSelectors: xpv2.CommonCredentialSelectors{
			SecretRef: &xpv2.SecretKeySelector{SecretReference: xpv2.SecretReference{Namespace: "ns", Name: "credentials"}, Key: "key"},
		},
	}}

	s.ws.SetName("ws")
	s.ws.SetGeneration(1)
	meta.SetExternalName(s.ws, "ws")
	s.ws.SetProviderConfigReference(&xpv2.Reference{Name: "default"})
	s.ws.Spec.ForProvider.Source = commonv1beta1.ModuleSourceInline
	s.ws.Spec.ForProvider.Env = []commonv1beta1.EnvVar{
		{Name: "FROM_SECRET", SecretKeyReference: ref("env")},
		{Name: "FROM_CONFIG_MAP", ConfigMapKeyReference: ref("cm")},
	}
	s.ws.Spec.ForProvider.VarFiles = []commonv1beta1.VarFile{{Source: commonv1beta1.VarFileSourceSecretKey, SecretKeyReference: ref("vars")}}

	return s
}

// connect an instance to the Workspace.
func (s *situation) connect(t *testing.T, p *place, change ...func(c *connector)) *external {
	t.Helper()

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apis.AddToScheme, clientgoscheme.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}

	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(s.config, s.cm, s.credentials, s.env, s.vars).Build()
	c := &connector{
		kube:     kube,
		configs:  providerconfig.NewResolver(kube),
		runs:     runner.Options{CLI: s.cli},
		root:     p.root,
		schedule: &schedule{now: time.Now},
		log:      logging.NewNopLogger(),
	}

	for _, fn := range change {
		fn(c)
	}

	e, err := c.connect(t.Context(), s.ws)
	if err != nil {
		t.Fatal(err)
	}

	return e
}

// published returns what the status tells of the inputs once the Workspace is up to date.
func (s *situation) published(t *testing.T, e *external) string {
	t.Helper()

	if _, err := e.report(t.Context(), s.ws, look{inputs: e.inputs, exists: true, upToDate: true}); err != nil {
		t.Fatal(err)
	}

	return s.ws.GetObservation().Checksum
}

// TestChecksumHidesSecrets ensures that who can read a Workspace cannot try out values of
// secrets: the status is the same for all of them. The instance notices another value.
func TestChecksumHidesSecrets(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	cli := p.cli(t, "tofu", "OpenTofu v1.2.3")

	one := newSituation(cli)
	connected := one.connect(t, p)
	checksum := one.published(t, connected)

	// 32 digits are those of an older version, which recorded nothing of the state.
	if diff := cmp.Diff(64, len(checksum)); diff != "" {
		t.Errorf("length of the checksum: -want, +got:\n%s", diff)
	}

	for name, change := range map[string]func(s *situation){
		"Credentials": func(s *situation) { s.credentials.Data["key"] = []byte("5678") },
		"Env":         func(s *situation) { s.env.Data["key"] = []byte("5678") },
		"VarFiles":    func(s *situation) { s.vars.Data["key"] = []byte("5678") },
		"BackendFile": func(s *situation) { s.config.Spec.BackendFile = new(`password = "5678"`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			other := newSituation(cli)
			change(other)

			e := other.connect(t, p)
			if diff := cmp.Diff(checksum, other.published(t, e)); diff != "" {
				t.Errorf("checksum with another secret: -want, +got:\n%s", diff)
			}

			if e.inputs == connected.inputs {
				t.Error("the instance does not notice another secret")
			}
		})
	}
}

// TestChecksum ensures that the next instance notices a change of whatever a plan depends
// on, and nothing else.
func TestChecksum(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	cli := p.cli(t, "tofu", "OpenTofu v1.2.3")
	other := newPlace(t)
	version, product := other.cli(t, "tofu", "OpenTofu v1.2.4"), other.cli(t, "terraform", "Terraform v1.2.3")

	first := newSituation(cli)
	want := first.published(t, first.connect(t, p))

	cases := map[string]struct {
		reason string
		change func(s *situation)
		same   bool
	}{
		"Nothing":           {reason: "It is what it was.", change: func(*situation) {}, same: true},
		"ConfigStatus":      {reason: "Who uses the ProviderConfig does not matter.", change: func(s *situation) { s.config.Status.Users = 2; s.config.SetResourceVersion("2") }, same: true},
		"ConfigGeneration":  {reason: "The ProviderConfig says something else.", change: func(s *situation) { s.config.SetGeneration(2) }},
		"ConfigUID":         {reason: "It is another ProviderConfig.", change: func(s *situation) { s.config.SetUID("other") }},
		"Generation":        {reason: "The specification is another one.", change: func(s *situation) { s.ws.SetGeneration(2) }},
		"Label":             {reason: "People have labelled it.", change: func(s *situation) { s.ws.SetLabels(map[string]string{"a": "b"}) }},
		"Annotation":        {reason: "People have annotated it.", change: func(s *situation) { meta.AddAnnotations(s.ws, map[string]string{"a": "b"}) }},
		"Restored":          {reason: "It was restored together with its status.", change: func(s *situation) { s.ws.SetUID("22222222-2222-2222-2222-222222222222") }, same: true},
		"RestoredAsOther":   {reason: "It was restored with another specification.", change: func(s *situation) { s.ws.Spec.ForProvider.Module = "other" }},
		"ExternalName":      {reason: "It is another Terraform workspace.", change: func(s *situation) { meta.SetExternalName(s.ws, "other") }},
		"Version":           {reason: "Another version may plan something else.", change: func(s *situation) { s.cli = version }},
		"Product":           {reason: "Another product may plan something else.", change: func(s *situation) { s.cli = product }},
		"Credentials":       {reason: "The Secret was written to.", change: func(s *situation) { s.credentials.SetResourceVersion("2") }},
		"CredentialsUID":    {reason: "It is another Secret.", change: func(s *situation) { s.credentials.SetUID("other") }},
		"EnvSecret":         {reason: "The Secret was written to.", change: func(s *situation) { s.env.SetResourceVersion("2") }},
		"EnvSecretUID":      {reason: "It is another Secret.", change: func(s *situation) { s.env.SetUID("other") }},
		"EnvConfigMap":      {reason: "The ConfigMap was written to.", change: func(s *situation) { s.cm.SetResourceVersion("2") }},
		"EnvConfigMapUID":   {reason: "It is another ConfigMap.", change: func(s *situation) { s.cm.SetUID("other") }},
		"VarFilesSecret":    {reason: "The Secret was written to.", change: func(s *situation) { s.vars.SetResourceVersion("2") }},
		"VarFilesSecretUID": {reason: "It is another Secret.", change: func(s *situation) { s.vars.SetUID("other") }},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSituation(cli)
			tc.change(s)

			if got := s.published(t, s.connect(t, p)); (got == want) != tc.same {
				t.Errorf("\n%s\nchecksum: want the same as before: %t, before %q, now %q", tc.reason, tc.same, want, got)
			}
		})
	}
}

// TestRewrittenSecret ensures that a running instance does not plan because a Secret was
// written to that has the same values as before.
func TestRewrittenSecret(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	cli := p.cli(t, "tofu", "OpenTofu v1.2.3")
	before, after := newSituation(cli), newSituation(cli)
	after.env.SetResourceVersion("2")

	if diff := cmp.Diff(before.connect(t, p).inputs, after.connect(t, p).inputs); diff != "" {
		t.Errorf("inputs: -before, +after:\n%s", diff)
	}
}

// TestChecksumWithoutVersions ensures that an instance that has just started plans where
// credentials may have changed without a trace: it expects a checksum of its own.
func TestChecksumWithoutVersions(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	cli := p.cli(t, "tofu", "OpenTofu v1.2.3")
	p.writeFile(t, "creds", "1234")

	cases := map[string]struct {
		reason string
		source xpv2.CredentialsSource
		same   bool
	}{
		"Secret":      {reason: "A Secret has a version.", source: xpv2.CredentialsSourceSecret, same: true},
		"None":        {reason: "Nothing never changes.", source: xpv2.CredentialsSourceNone, same: true},
		"Filesystem":  {reason: "A file has no version.", source: xpv2.CredentialsSourceFilesystem},
		"Environment": {reason: "A variable has no version.", source: xpv2.CredentialsSourceEnvironment},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			published := func(process string) string {
				s := newSituation(cli)
				c := &s.config.Spec.Credentials[0]
				c.Source = tc.source
				c.Fs = &xpv2.FsSelector{Path: filepath.Join(p.outside, "creds")}
				c.Env = &xpv2.EnvSelector{Name: "PATH"}

				return s.published(t, s.connect(t, p, func(c *connector) { c.process = process }))
			}

			first, again, other := published("a"), published("a"), published("b")

			if diff := cmp.Diff(first, again); diff != "" {
				t.Errorf("\n%s\nchecksum of the same process: -want, +got:\n%s", tc.reason, diff)
			}

			if same := first == other; same != tc.same {
				t.Errorf("\n%s\nwant the same checksum from another process: %t, got %t", tc.reason, tc.same, same)
			}
		})
	}
}

// A place is what is on the machine around a connector.
type place struct {
	root *workdir.Root

	// outside is a directory that belongs to no Workspace.
	outside string
}

func newPlace(t *testing.T) *place {
	t.Helper()

	root, err := workdir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	return &place{root: root, outside: t.TempDir()}
}

func (p *place) writeFile(t *testing.T, name, text string) {
	t.Helper()

	if err := os.WriteFile(filepath.Join(p.outside, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// cli returns one that says what it is, and can do nothing else.
func (p *place) cli(t *testing.T, name, version string) *terraform.CLI {
	t.Helper()

	path := filepath.Join(p.outside, name)
	if err := program.WriteScript(path, fmt.Sprintf("echo %q\n", version)); err != nil {
		t.Fatal(err)
	}

	cli, err := terraform.Find(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}

	return cli
}
