// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/process"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

const (
	// pollNever is a poll interval in which no poll is due during a test. Polls are spread over
	// their interval: with one hour, each 360th Workspace would be polled in the first ten seconds after
	// a restart.
	pollNever = 10000 * time.Hour

	// pollOften is a poll interval that passes many times during a test.
	pollOften = time.Second
)

// An instance is one running process of the provider.
type instance struct {
	*process.Process

	// root of its workdirs.
	root string

	// namespace of its Lease.
	namespace string

	// metrics and probes are where it serves them.
	metrics, probes string

	// runs of the CLI that it started.
	runs *runLog

	output output
}

// startInstance starts an instance and waits until it is ready. It is stopped in
// the end, which has to go well.
func startInstance(t *testing.T, c *cluster, opts ...instanceOption) *instance {
	t.Helper()

	i := launchInstance(t, c, opts...)
	expectServing(t, i, "/readyz")

	return i
}

// launchInstance starts an instance like startInstance, and does not wait.
func launchInstance(t *testing.T, c *cluster, opts ...instanceOption) *instance {
	t.Helper()

	i, err := newInstance(t.TempDir(), c, opts...)
	if err != nil {
		t.Fatalf("cannot start instance: %v", err)
	}

	t.Cleanup(func() { i.cleanup(t) })

	return i
}

// newInstance starts an instance whose files are in dir.
func newInstance(dir string, c *cluster, opts ...instanceOption) (*instance, error) {
	if err := program.DependOn(shared.source); err != nil {
		return nil, err
	}

	cfg := &instanceConfig{
		env:           map[string]string{},
		cli:           shared.tofu(),
		root:          filepath.Join(dir, "root"),
		kubeconfig:    c.kubeconfig,
		cliKubeconfig: c.kubeconfig,
		namespace:     leaseNamespace,
		poll:          pollNever,
		workers:       10,
	}
	for _, o := range opts {
		o(cfg)
	}

	var err error
	if cfg.runs == nil {
		if cfg.runs, err = newRunLog(filepath.Join(dir, "runs"), cfg.cli); err != nil {
			return nil, err
		}
	}

	i := &instance{root: cfg.root, namespace: cfg.namespace, runs: cfg.runs, output: output(filepath.Join(dir, "output"))}

	for _, address := range []*string{&i.metrics, &i.probes} {
		if *address, err = controlplane.FreeAddress(); err != nil {
			return nil, err
		}
	}

	if err := os.MkdirAll(i.root, 0o700); err != nil {
		return nil, err
	}

	env := environment(dir, map[string]string{
		"KUBECONFIG":       cfg.kubeconfig,
		"KUBE_CONFIG_PATH": cfg.cliKubeconfig,
		"XP_TF_DIR":        cfg.root,
		"POD_NAMESPACE":    cfg.namespace,
	}, cfg.env)

	args := append([]string{
		"--debug",
		"--cli=" + i.runs.cli,
		"--poll=" + cfg.poll.String(),
		"--poll-jitter=0s",
		fmt.Sprintf("--max-reconcile-rate=%d", cfg.workers),
		"--metrics-bind-address=" + i.metrics,
		"--health-probe-bind-address=" + i.probes,
	}, cfg.args...)

	if i.Process, err = process.Start("instance", string(i.output), env, shared.provider, args...); err != nil {
		return nil, err
	}

	return i, nil
}

// environment returns the environment of a process of the provider, whose temporary files are in
// dir. It has only the PATH from the environment of the tests: a CLI configuration of the machine,
// for example, would change the results.
func environment(dir string, vars ...map[string]string) []string {
	all := map[string]string{
		"PATH":   os.Getenv("PATH"),
		"HOME":   dir,
		"TMPDIR": dir,
		// An instance that finds no Lease waits for two of these.
		"CROSSPLANE_TERRAFORM_PROVIDER_LEASE_RETRY_PERIOD": "500ms",
		// Go on after a data race, so that the test ends as it would; the exit code
		// is another one then.
		"GORACE": "halt_on_error=0 atexit_sleep_ms=0",
		// A CLI does not run long enough to need its memory again: to collect it takes a
		// quarter of its CPU time.
		"GOGC": "400",
	}
	for _, m := range vars {
		maps.Copy(all, m)
	}

	env := make([]string, 0, len(all))
	for k, v := range all {
		env = append(env, k+"="+v)
	}

	return env
}

// runProvider runs an instance that is expected to end by itself, and returns its output.
func runProvider(t *testing.T, c *cluster, root string, args ...string) (string, error) {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	out := &bytes.Buffer{}
	cmd := exec.CommandContext(ctx, shared.provider, append(args, "--metrics-bind-address=0", "--health-probe-bind-address=0")...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Env = environment(t.TempDir(), map[string]string{"KUBECONFIG": c.kubeconfig, "XP_TF_DIR": root, "POD_NAMESPACE": leaseNamespace})

	err := cmd.Run()

	if ctx.Err() != nil {
		t.Fatalf("the instance did not end:\n%s", out)
	}

	return out.String(), errors.Wrap(err, "the instance failed")
}

// terminate sends SIGTERM to the instance, as Kubernetes does.
func (i *instance) terminate(t *testing.T) {
	t.Helper()
	i.signal(t, syscall.SIGTERM)
}

// signal sends a signal to the instance, which has to run.
func (i *instance) signal(t *testing.T, s syscall.Signal) {
	t.Helper()

	if !i.Running() {
		t.Fatalf("the instance has ended with %s", i.How())
	}

	i.Signal(s)
}

// stop sends SIGTERM to the instance and waits until it has ended. Its exit code has to be
// 0: it is not 0 after a data race.
func (i *instance) stop(t *testing.T) {
	t.Helper()
	i.terminate(t)
	i.expectEnded(t)
}

// expectEnded waits until the instance has ended as it should.
func (i *instance) expectEnded(t *testing.T) {
	t.Helper()

	if !eventuallyEnded(i) {
		t.Fatalf("instance did not stop within %s", patience)
	}

	if how := i.How(); how != endedWell {
		t.Errorf("instance ended with %s, want %s", how, endedWell)
	}
}

// endedWell describes the end of a process with exit code 0.
const endedWell = "exit status 0"

// eventuallyEnded waits until the instance has ended, and says whether it has.
func eventuallyEnded(i *instance) bool {
	select {
	case <-i.Ended():
		return true
	case <-time.After(patience):
		return false
	}
}

func (i *instance) cleanup(t *testing.T) {
	t.Helper()

	defer i.dump(t)

	if err := i.end(); err != nil {
		t.Error(err)
	}
}

// dump logs what the instance has done if the test has failed.
func (i *instance) dump(t *testing.T) {
	t.Helper()

	if t.Failed() {
		t.Logf("runs of the CLI by the instance with root %s:\n%s", i.root, i.runs.dump())
		t.Logf("output of the instance with root %s:\n%s", i.root, i.output.tail(300))
	}
}

// end stops the instance if it runs. Its exit code has to be 0 then, and it must not have had a data
// race.
func (i *instance) end() error {
	var errs []error

	if i.Running() {
		errs = append(errs, i.Terminate(patience))
	}

	if _, report, ok := strings.Cut(i.output.String(), "WARNING: DATA RACE"); ok {
		lines := strings.Split(report, "\n")
		errs = append(errs, errors.Errorf("instance has a data race: %s", strings.Join(lines[:min(len(lines), 80)], "\n")))
	}

	return errors.Join(errs...)
}

// get reads one of the instance's endpoints.
func (i *instance) get(t *testing.T, address, path string) (int, string, error) {
	t.Helper()

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return 0, "", err
	}

	// To compress its metrics takes an instance with the race detector longer than to collect them.
	req.Header.Set("Accept-Encoding", "identity")

	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer rsp.Body.Close()

	body, err := io.ReadAll(rsp.Body)

	return rsp.StatusCode, string(body), err
}

// expectServing waits until the supplied probe of the instance succeeds.
func expectServing(t *testing.T, i *instance, probe string) {
	t.Helper()
	eventually(t, func() error {
		if !i.Running() {
			t.Fatalf("instance ended with %s before it was ready", i.How())
		}

		code, body, err := i.get(t, i.probes, probe)
		if err != nil {
			return err
		}

		if code != http.StatusOK {
			return errors.Errorf("%s says %d: %s", probe, code, body)
		}

		return nil
	})
}

// expectMetric waits until the metrics of the instance have the supplied line.
func expectMetric(t *testing.T, i *instance, line string) {
	t.Helper()
	eventually(t, func() error {
		_, body, err := i.get(t, i.metrics, "/metrics")
		if err != nil {
			return err
		}

		for have := range strings.Lines(body) {
			if strings.TrimSpace(have) == line {
				return nil
			}
		}

		return errors.Errorf("no metric %s", line)
	})
}

// workdir returns the directory in which the instance runs the CLI for the
// Workspace with the supplied UID.
func (i *instance) workdir(uid string) string { return filepath.Join(i.root, uid) }

// records is the directory of what is recorded about that one.
func (i *instance) records(uid string) string { return filepath.Join(i.root, ".records", uid) }
