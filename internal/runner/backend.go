// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"cmp"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// A StatePlace is where the state of a Workspace is kept.
type StatePlace struct {
	OnDisk    bool // Not in a remote backend.
	InWorkdir bool // In the directory of the Workspace, which no other Workspace uses.
	Locked    bool // An apply certainly locks it.
	HTTP      bool // In the backend http, whose servers may answer 404 to a token without the right to read it.
}

// StatePlace returns where the state is, according to the record of init. The text of the
// configuration is not enough: arguments and environment of init matter, too.
func (r *Runner) StatePlace() (StatePlace, error) {
	if r.run == nil {
		return StatePlace{}, errors.New("cannot find out where the state is: the directory is not initialized")
	}

	record, err := readBackend(r.run.Dir)
	if err != nil {
		return StatePlace{}, errors.Wrap(err, "cannot find out where the state is")
	}

	onDisk := record.Type == "" || record.Type == "local"

	return StatePlace{
		OnDisk: onDisk, InWorkdir: onDisk && record.Config["path"] == nil && record.Config["workspace_dir"] == nil,
		Locked: hasLocks(record) && !slices.ContainsFunc(slices.Concat(r.Inputs.parameters.ApplyArgs, environ.Args(r.run.Env, "apply")), isLockOption),
		HTTP:   record.Type == "http",
	}, nil
}

// hasLocks says whether a backend locks states. Most do unless they are told not to.
func hasLocks(b workdir.Backend) bool {
	set := func(name string) bool {
		text, _ := b.Config[name].(string)

		return text != ""
	}

	switch b.Type {
	case "http":
		return set("lock_address")
	case "s3":
		return set("dynamodb_table") || b.Config["use_lockfile"] == true
	case "", "local", "kubernetes", "azurerm", "gcs", "pg":
		return true
	default:
		return false
	}
}

func isLockOption(word string) bool {
	name, _, _ := environ.Option(word)

	return name == "lock"
}

func readBackend(dir string) (workdir.Backend, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return workdir.Backend{}, err
	}
	defer root.Close() //nolint:errcheck // Nothing was written.

	return workdir.ReadBackend(root, ".")
}

// A KubernetesBackend is a kubernetes backend. The zero value stands for any other backend.
type KubernetesBackend struct {
	// Server is the address of its API server, in the form of rest.Config.Host, if it is certain.
	Server string

	// Namespace of all states, and Suffix of the names of their Secrets.
	Namespace, Suffix string
}

// KubernetesBackend returns the backend that init has recorded, unless the runs do not use it.
func (r *Runner) KubernetesBackend() KubernetesBackend {
	if r.run == nil || r.usual != nil {
		return KubernetesBackend{}
	}

	record, err := readBackend(r.run.Dir)
	if err != nil || record.Type != "kubernetes" {
		return KubernetesBackend{}
	}

	s := backendSettings{config: record.Config, env: r.run.Env}
	suffix, _ := record.Config["secret_suffix"].(string)
	b := KubernetesBackend{Namespace: cmp.Or(s.text("namespace", "KUBE_NAMESPACE"), metav1.NamespaceDefault), Suffix: suffix}

	// A proxy of the Workspace may lead elsewhere.
	if !slices.ContainsFunc(r.Inputs.env, isProxy) {
		b.Server = s.server()
	}

	return b
}

func isProxy(kv string) bool {
	key, _, _ := strings.Cut(kv, "=")

	return strings.HasSuffix(strings.ToUpper(key), "_PROXY")
}

// backendSettings are the settings of a kubernetes backend that init records, and the environment of the run.
type backendSettings struct {
	config map[string]any
	env    []string
}

func (s backendSettings) text(key, variable string) string {
	text, _ := s.config[key].(string)
	env, _ := environ.Lookup(s.env, variable)

	return cmp.Or(text, env)
}

// server returns the address of the API server with the usual settings: the cluster that the CLI runs in, or
// the current context of one file. With others it is empty.
func (s backendSettings) server() string {
	for key, variable := range map[string]string{
		"host":                     "KUBE_HOST",
		"config_paths":             "KUBE_CONFIG_PATHS",
		"config_context":           "KUBE_CTX",
		"config_context_cluster":   "KUBE_CTX_CLUSTER",
		"config_context_auth_info": "KUBE_CTX_AUTH_INFO",
	} {
		if s.config[key] != nil || s.text(key, variable) != "" {
			return ""
		}
	}

	inCluster, set := s.config["in_cluster_config"].(bool)
	if !set {
		inCluster, _ = strconv.ParseBool(s.text("", "KUBE_IN_CLUSTER_CONFIG"))
	}

	if !inCluster {
		return serverIn(s.text("config_path", "KUBE_CONFIG_PATH"))
	}

	host, port := s.text("", "KUBERNETES_SERVICE_HOST"), s.text("", "KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return ""
	}

	return "https://" + net.JoinHostPort(host, port)
}

// serverIn returns the address of the API server in the current context of a kubeconfig.
func serverIn(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}

	data, err := regular.Read(path, regular.MiB)
	if err != nil {
		return ""
	}

	config, err := clientcmd.Load(data)
	if err != nil {
		return ""
	}

	current := config.Contexts[config.CurrentContext]
	if current == nil {
		return ""
	}

	cluster := config.Clusters[current.Cluster]
	if cluster == nil || cluster.ProxyURL != "" {
		return ""
	}

	return cluster.Server
}
