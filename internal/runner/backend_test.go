// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// backendRecordFile is where init records the backend, relative to the directory that the CLI runs in.
const backendRecordFile = terraform.DataDir + "/terraform.tfstate"

func TestStatePlace(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		record string
		args   []string // Of applies.
		want   StatePlace
	}{
		"None":       {reason: "Without a backend init leaves nothing.", want: StatePlace{OnDisk: true, InWorkdir: true, Locked: true}},
		"NoBackend":  {reason: "The backend was removed.", record: `{"version": 3}`, want: StatePlace{OnDisk: true, InWorkdir: true, Locked: true}},
		"Local":      {reason: "It is in the same place as without a backend.", record: `{"backend": {"type": "local", "config": {"path": null, "workspace_dir": null}}}`, want: StatePlace{OnDisk: true, InWorkdir: true, Locked: true}},
		"LocalPath":  {reason: "Another Workspace may have the same path.", record: `{"backend": {"type": "local", "config": {"path": "/states/a"}}}`, want: StatePlace{OnDisk: true, Locked: true}},
		"LocalDir":   {reason: "Another Workspace may have the same directory.", record: `{"backend": {"type": "local", "config": {"workspace_dir": "/states"}}}`, want: StatePlace{OnDisk: true, Locked: true}},
		"Kubernetes": {reason: "It is elsewhere.", record: `{"backend": {"type": "kubernetes", "config": {"namespace": "a"}}}`, want: StatePlace{Locked: true}},
		"Unlocked":   {reason: "An argument disables the lock.", record: `{"backend": {"type": "kubernetes", "config": {"namespace": "a"}}}`, args: []string{"-lock=false"}},
		"HTTP":       {reason: "There is no address for locks.", record: `{"backend": {"type": "http", "config": {"address": "a", "lock_address": null}}}`, want: StatePlace{HTTP: true}},
		"HTTPLocks":  {reason: "There is one.", record: `{"backend": {"type": "http", "config": {"address": "a", "lock_address": "a"}}}`, want: StatePlace{Locked: true, HTTP: true}},
		"S3":         {reason: "It needs a setting for locks.", record: `{"backend": {"type": "s3", "config": {"use_lockfile": null, "dynamodb_table": null}}}`},
		"S3Locks":    {reason: "It has one.", record: `{"backend": {"type": "s3", "config": {"use_lockfile": true}}}`, want: StatePlace{Locked: true}},
		"Cloud":      {reason: "It is elsewhere.", record: `{"backend": {"type": "cloud", "config": {}}}`},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := &Runner{Target: Target{Inputs: &Inputs{}}, run: &terraform.Workspace{Dir: t.TempDir()}}
			r.Inputs.parameters.ApplyArgs = tc.args

			if tc.record != "" {
				writeBackendRecord(t, r.run.Dir, tc.record)
			}

			got, err := r.StatePlace()
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(StatePlace{})); diff != "" {
				t.Errorf("\n%s\nstatePlace(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestStateArguments tests that no command writes another state than the one whose owner is checked. Nothing
// runs with such an argument.
func TestStateArguments(t *testing.T) {
	t.Parallel()

	initArgs := func(args ...string) func(s *subject) { return func(s *subject) { s.InitArgs = args } }

	cases := map[string]struct {
		reason  string
		change  func(s *subject)
		deleted bool
		err     string
	}{
		"Plan":        {reason: "The plan would be for another state.", change: func(s *subject) { s.PlanArgs = []string{"-lock=false", "-state=/a"} }, err: `"-state" in spec.forProvider.planArgs: configure workspace_dir`},
		"Apply":       {reason: "The value may be another argument.", change: func(s *subject) { s.ApplyArgs = []string{"--state", "/a"} }, err: `"-state" in spec.forProvider.applyArgs`},
		"Destroy":     {reason: "It would destroy the other state.", change: func(s *subject) { s.DestroyArgs = []string{"-state-out=/a"} }, err: `"-state-out" in spec.forProvider.destroyArgs`},
		"Backup":      {reason: "It overwrites a file.", change: func(s *subject) { s.ApplyArgs = []string{"-backup=/a"} }, err: `"-backup"`},
		"Environment": {reason: "It has arguments, too.", change: environment("TF_CLI_ARGS", "-no-color -state=/a"), err: `"-state" in the environment variable TF_CLI_ARGS:`},
		"Command":     {reason: "So have its variables for one command.", change: environment("TF_CLI_ARGS_plan", "-state=/a"), err: `"-state"`},
		"Quoted":      {reason: "The CLI removes quotation marks.", change: environment("TF_CLI_ARGS_apply", `-s"ta"t\e '/a'`), err: `"-state"`},
		"Migrate":     {reason: "Init would write the state into the new backend.", change: initArgs("-upgrade", "-migrate-state"), err: `"-migrate-state" in spec.forProvider.initArgs: it would write a state without a check whose it is`},
		"Copy":        {reason: "This makes init copy a state without a question.", change: initArgs("-force-copy"), err: "use -reconfigure instead"},
		"TwoSigns":    {reason: "The CLI accepts two signs and a value.", change: initArgs("--force-copy=true"), err: `"-force-copy"`},
		"CopyInEnv":   {reason: "The environment has arguments of init.", change: environment("TF_CLI_ARGS_init", "-no-color -force-copy=1"), err: `"-force-copy" in the environment variable TF_CLI_ARGS_init`},
		"Force":       {reason: "The CLI would delete a Terraform workspace that has resources.", change: environment("TF_CLI_ARGS_workspace_delete", "-force"), err: `"-force" in the environment variable TF_CLI_ARGS_workspace_delete`},
		"Replace":     {reason: "There would be no end.", change: func(s *subject) { s.PlanArgs = []string{"-replace=a.b"} }, err: `"-replace" in spec.forProvider.planArgs: each poll, or each later change, would replace the resource again`},
		"ReplaceEnv":  {reason: "So would there be of the environment.", change: environment("TF_CLI_ARGS_plan", "-replace a.b"), err: `"-replace" in the environment variable TF_CLI_ARGS_plan`},
		"Invoke":      {reason: "A plan with it always has something to apply.", change: func(s *subject) { s.PlanArgs = []string{"-invoke=action.a.b"} }, err: `"-invoke" in spec.forProvider.planArgs: each poll would invoke the action again. Use action_trigger in the lifecycle of a resource`},
		"Invokes":     {reason: "A change would invoke the action, and not be made.", change: func(s *subject) { s.ApplyArgs = []string{"-invoke=action.a.b"} }, err: `"-invoke" in spec.forProvider.applyArgs`},
		"InvokeEnv":   {reason: "So it would because of the environment.", change: environment("TF_CLI_ARGS_apply", "-invoke action.a.b"), err: `"-invoke" in the environment variable TF_CLI_ARGS_apply`},
		"Generate":    {reason: "The file does not outlive the directory.", change: func(s *subject) { s.PlanArgs = []string{"-generate-config-out=a.tf"} }, err: `"-generate-config-out" in spec.forProvider.planArgs: the generated file is lost with the directory`},
		"Help":        {reason: "Nothing would be done.", change: func(s *subject) { s.PlanArgs = []string{"-help"} }, err: `"-help" in spec.forProvider.planArgs: remove it`},
		"HelpOfPush":  {reason: "It would seem to save a state.", change: environment("TF_CLI_ARGS_state_push", "-help"), err: `"-help" in the environment variable TF_CLI_ARGS_state_push: remove it`},
		"ExitCode":    {reason: "No change would be noticed.", change: func(s *subject) { s.PlanArgs = []string{"-detailed-exitcode=false"} }, err: `"-detailed-exitcode" in spec.forProvider.planArgs: remove it`},
		"Deletion":    {reason: "A deletion does not use them.", change: func(s *subject) { s.PlanArgs = []string{"-help"} }, deleted: true},
		"SetExitCode": {reason: "It is what the provider sets.", change: func(s *subject) { s.PlanArgs = []string{"-detailed-exitcode"} }},
		"NoJSON":      {reason: "Without it, there is no summary.", change: func(s *subject) { s.PlanArgs = []string{"-json=false"} }, err: `"-json" in spec.forProvider.planArgs: remove it`},
		"JSONTwice":   {reason: "It has no effect.", change: func(s *subject) { s.PlanArgs = []string{"-json", "-json=true"} }},
		"JSON":        {reason: "The provider reads the JSON.", change: func(s *subject) { s.ApplyArgs = []string{"-json-into=a"} }, err: `"-json-into" in spec.forProvider.applyArgs: remove it`},
		"Deleted":     {reason: "A deletion plans nothing.", change: func(s *subject) { s.PlanArgs = []string{"-replace=a.b"} }, deleted: true},
		"Replaces":    {reason: "Nothing would happen until any other change.", change: func(s *subject) { s.ApplyArgs = []string{"-replace=a.b"} }, err: `"-replace" in spec.forProvider.applyArgs`},
		"NUL":         {reason: "No process can have it.", change: initArgs("-no\x00"), err: `cannot use the argument "-no\x00" in spec.forProvider.initArgs`},
		"ForShell":    {reason: "There is no shell.", change: func(s *subject) { s.PlanArgs = []string{`-target="a.b"`} }, err: `"-target" in spec.forProvider.planArgs: remove the quotation marks`},
		"ForShellOff": {reason: "It is not used any more.", change: func(s *subject) { s.PlanArgs = []string{`-target='a.b'`} }, deleted: true},
		"QuotedValue": {reason: "The value of a variable may have some.", change: func(s *subject) { s.PlanArgs = []string{`-var=a="b"`} }},
		"NoBackup":    {reason: "It is about no file.", change: func(s *subject) { s.ApplyArgs = []string{"-backup=-"} }},
		"Reconfigure": {reason: "No state is copied.", change: initArgs("-reconfigure", "-backend-config=force-copy=1")},
		"Others":      {reason: "They are about the same state.", change: func(s *subject) { s.PlanArgs = []string{"-var=state=/a", "-target=state", "state"} }},
		"OtherEnv":    {reason: "It has no arguments.", change: environment("A", "-state=/a")},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			r := p.stubbed(t, firstUID, tc.change)
			r.Deleted = tc.deleted

			err := r.Prepare(t.Context())
			expectError(t, tc.reason, tc.err, err)

			if runs := p.ran(t, r); tc.err != "" && (!errors.As(err, &UnpreparedError{}) || len(runs) > 0) {
				t.Errorf("\n%s\nwant an UnpreparedError and no run, got %T and %q", tc.reason, err, runs)
			}
		})
	}
}

// TestStateArgumentsOfInstance ensures that the environment of the provider counts, too.
func TestStateArgumentsOfInstance(t *testing.T) {
	t.Parallel()

	r := newPlace(t).stubbed(t, firstUID)
	r.Environ = append(r.Environ, "TF_CLI_ARGS_init=-force-copy")

	expectError(t, "All Workspaces have it.", `"-force-copy" in the environment variable TF_CLI_ARGS_init`, r.Prepare(t.Context()))
}

func environment(name, value string) func(s *subject) {
	return func(s *subject) { s.Env = []commonv1beta1.EnvVar{{Name: name, Value: value}} }
}

// TestStatePlaceOfMalice ensures that a module cannot make the provider read anything except a
// file in its own directory.
func TestStatePlaceOfMalice(t *testing.T) {
	t.Parallel()

	outside := t.TempDir()
	writeBackendRecord(t, outside, `{}`)

	cases := map[string]struct {
		reason string
		plant  func(path string) error
	}{
		"Broken":    {reason: "It is not JSON.", plant: func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) }},
		"Directory": {reason: "It is not a file.", plant: func(path string) error { return os.Mkdir(path, 0o700) }},
		"Outside":   {reason: "It is elsewhere.", plant: func(path string) error { return os.Symlink(filepath.Join(outside, backendRecordFile), path) }},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := &Runner{run: &terraform.Workspace{Dir: t.TempDir()}}
			if err := os.Mkdir(filepath.Join(r.run.Dir, terraform.DataDir), 0o700); err != nil {
				t.Fatal(err)
			}

			if err := tc.plant(filepath.Join(r.run.Dir, backendRecordFile)); err != nil {
				t.Fatal(err)
			}

			if got, err := r.StatePlace(); err == nil {
				t.Errorf("%s: want an error, got %+v", tc.reason, got)
			}
		})
	}
}

func writeBackendRecord(t *testing.T, dir, text string) {
	t.Helper()

	path := filepath.Join(dir, backendRecordFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestKubernetesBackend(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		record string
		env    []string
		want   KubernetesBackend
	}{
		"Configured": {reason: "The configuration takes precedence.", record: `{"backend": {"type": "kubernetes", "config": {"namespace": "a", "secret_suffix": "x"}}}`, env: []string{"KUBE_NAMESPACE=b"}, want: KubernetesBackend{Namespace: "a", Suffix: "x"}},
		"Environ":    {reason: "The environment of the run completes it.", record: `{"backend": {"type": "kubernetes", "config": {"namespace": null, "secret_suffix": "x"}}}`, env: []string{"KUBE_NAMESPACE=b"}, want: KubernetesBackend{Namespace: "b", Suffix: "x"}},
		"Default":    {reason: "Neither sets the namespace.", record: `{"backend": {"type": "kubernetes", "config": {"secret_suffix": "x"}}}`, env: []string{"KUBE_NAMESPACE="}, want: KubernetesBackend{Namespace: "default", Suffix: "x"}},
		"Other":      {reason: "It is another backend.", record: `{"backend": {"type": "pg", "config": {"namespace": "a", "secret_suffix": "x"}}}`, env: []string{"KUBE_NAMESPACE=b"}},
		"None":       {reason: "Init has failed early.", env: []string{"KUBE_NAMESPACE=b"}},
		"Broken":     {reason: "A CLI that was killed may have written a part of it.", record: "{", env: []string{"KUBE_NAMESPACE=b"}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := &Runner{run: &terraform.Workspace{Dir: t.TempDir(), Env: tc.env}, Target: Target{Inputs: &Inputs{}}}
			if tc.record != "" {
				writeBackendRecord(t, r.run.Dir, tc.record)
			}

			if diff := cmp.Diff(tc.want, r.KubernetesBackend()); diff != "" {
				t.Errorf("\n%s\nKubernetesBackend(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestServer ensures that the address of the API server of a backend is known only if it is
// certain: a state at the same place in another cluster belongs to something else.
func TestServer(t *testing.T) {
	t.Parallel()

	const (
		inCluster = `{"in_cluster_config": true}`
		pod       = "KUBERNETES_SERVICE_HOST=fd00::1 KUBERNETES_SERVICE_PORT=443"
		usual     = "KUBE_CONFIG_PATH=DIR/usual"
	)

	dir := t.TempDir()

	for name, cluster := range map[string]string{"usual": "server: https://there", "proxied": "server: https://there, proxy-url: socks5://proxy"} {
		text := "{contexts: [{name: x, context: {cluster: c}}], current-context: x, clusters: [{name: c, cluster: {" + cluster + "}}]}"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	cases := map[string]struct {
		reason string
		config string
		env    string
		inputs []string
		want   string
	}{
		"InCluster":       {reason: "The CLI runs in the pod of the provider.", config: inCluster, env: pod, want: "https://[fd00::1]:443"},
		"InClusterByEnv":  {reason: "A variable asks for that.", config: `{}`, env: pod + " KUBE_IN_CLUSTER_CONFIG=true", want: "https://[fd00::1]:443"},
		"OutsideOfPod":    {reason: "There is no cluster.", config: inCluster},
		"File":            {reason: "The file says where.", config: `{}`, env: usual, want: "https://there"},
		"NotInCluster":    {reason: "The configuration takes precedence.", config: `{"in_cluster_config": false}`, env: usual + " KUBE_IN_CLUSTER_CONFIG=true " + pod, want: "https://there"},
		"Host":            {reason: "A host takes precedence over both.", config: `{"in_cluster_config": true, "host": "https://elsewhere"}`, env: pod},
		"HostByEnv":       {reason: "A variable, too.", config: inCluster, env: pod + " KUBE_HOST=https://elsewhere"},
		"Context":         {reason: "Another context may be another cluster.", config: `{"config_context": "x"}`, env: usual},
		"ContextByEnv":    {reason: "A variable, too.", config: `{}`, env: usual + " KUBE_CTX=x"},
		"Files":           {reason: "Several files are merged.", config: `{"config_paths": ["x"]}`, env: usual},
		"FileWithProxy":   {reason: "The proxy may be in another network.", config: `{}`, env: "KUBE_CONFIG_PATH=DIR/proxied"},
		"ProxyOfOwn":      {reason: "The Workspace has a proxy of its own.", config: inCluster, env: pod, inputs: []string{"https_proxy=http://proxy"}},
		"MissingFile":     {reason: "There is no such file.", config: `{}`, env: "KUBE_CONFIG_PATH=DIR/missing"},
		"RelativeFile":    {reason: "The CLI may look for it elsewhere.", config: `{}`, env: "KUBE_CONFIG_PATH=~/usual"},
		"NothingProvided": {reason: "The CLI has defaults of its own.", config: `{}`, env: pod},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			env := strings.Fields(strings.ReplaceAll(tc.env, "DIR", dir))
			r := &Runner{run: &terraform.Workspace{Dir: t.TempDir(), Env: env}, Target: Target{Inputs: &Inputs{env: tc.inputs}}}
			writeBackendRecord(t, r.run.Dir, `{"backend": {"type": "kubernetes", "config": `+tc.config+`}}`)

			if got := r.KubernetesBackend().Server; got != tc.want {
				t.Errorf("%s\nKubernetesBackend().Server: want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
