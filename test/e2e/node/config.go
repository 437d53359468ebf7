// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"embed"
	"os"
	"path/filepath"
	"text/template"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Files with settings, in the directory of the node.
const (
	containerdFile = "containerd.toml"
	kubeletFile    = "kubelet.yaml"
	bridgeFile     = "network/bridge.conflist"
	hostsFile      = "registries/" + registryAddress + "/hosts.toml"

	// resolvFile has the name servers of pods. There are none.
	resolvFile = "resolv.conf"
)

//go:embed settings
var settings embed.FS

// values of the templates in the directory settings.
type values struct {
	// Networks is the directory with the settings of the network of pods, and Registries that with those
	// of registries. Plugins has the CNI plugins.
	Networks, Registries, Plugins string

	// Pods is the range of the addresses of pods.
	Pods string

	// Address of the node, and Registry that of the registry.
	Address, Registry string

	// Pause is the reference of an image.
	Pause string

	Cgroup, ResolvConf string
}

// configure writes the settings of the programs.
func (n *Node) configure() error {
	v := values{
		Networks:   n.path(filepath.Dir(bridgeFile)),
		Registries: n.path(filepath.Dir(filepath.Dir(hostsFile))),
		Plugins:    n.options.CNI,
		Pods:       pods,
		Address:    address,
		Registry:   n.Registry,
		Pause:      n.Registry + "/" + pause,
		Cgroup:     n.options.Cgroup,
		ResolvConf: n.path(resolvFile),
	}

	all, err := template.ParseFS(settings, "settings/*")
	if err != nil {
		return err
	}

	for _, file := range []string{containerdFile, kubeletFile, bridgeFile, hostsFile, resolvFile} {
		if err := write(n.path(file), all.Lookup(filepath.Base(file)), v); err != nil {
			return errors.Wrapf(err, "cannot write %s", file)
		}
	}

	return nil
}

func write(path string, t *template.Template, v values) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}

	f, err := os.Create(path) //nolint:gosec // A file of this run.
	if err != nil {
		return err
	}

	return errors.Join(t.Execute(f, v), f.Close())
}
