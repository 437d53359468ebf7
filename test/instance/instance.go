// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package instance runs the provider as a process of this machine.
package instance

import (
	"context"
	"net/http"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
	"github.com/crossplane-contrib/provider-terraform/test/process"
)

// An Instance is a running process of the provider.
type Instance struct {
	*process.Process

	// Root of the working directories, and Log, the path of the log.
	Root, Log string

	// Metrics is the URL of the metrics.
	Metrics string

	probes string
}

// Start starts an instance, with variables beside those of Environ. It keeps its files in the
// supplied directory, where a later instance can find them.
func Start(name, dir, provider, kubeconfig string, variables []string, args ...string) (*Instance, error) {
	env, err := Environ(dir, kubeconfig)
	if err != nil {
		return nil, err
	}

	probes, err := controlplane.FreeAddress()
	if err != nil {
		return nil, err
	}

	metrics, err := controlplane.FreeAddress()
	if err != nil {
		return nil, err
	}

	i := &Instance{Root: root(dir), Log: filepath.Join(dir, "log"), Metrics: "http://" + metrics + "/metrics", probes: "http://" + probes}

	args = append(args, "--leader-election", "--health-probe-bind-address="+probes, "--metrics-bind-address="+metrics)
	i.Process, err = process.Start(name, i.Log, append(env, variables...), provider, args...)

	return i, err
}

// Environ makes the directories of an instance, or of a bare CLI, below the supplied one, and returns
// its environment. Of the environment of this machine it has only the PATH: a CLI configuration of the
// user, for example, would change the results.
func Environ(dir, kubeconfig string) ([]string, error) {
	home, tmp := filepath.Join(dir, "home"), filepath.Join(dir, "tmp")

	for _, d := range []string{home, tmp, root(dir)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}

	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"TMPDIR=" + tmp,
		"XP_TF_DIR=" + root(dir),
		"KUBECONFIG=" + kubeconfig,
		// How the CLI's kubernetes backend finds the API server from outside.
		"KUBE_CONFIG_PATH=" + kubeconfig,
	}, nil
}

func root(dir string) string { return filepath.Join(dir, "tf") }

// Ready returns an error unless the instance says that it is ready.
func (i *Instance) Ready(ctx context.Context) error {
	return errors.Wrap(controlplane.AnswersOK(ctx, http.DefaultClient, i.probes+"/readyz"), i.Name)
}
