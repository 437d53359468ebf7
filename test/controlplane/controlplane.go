// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package controlplane runs an API server and its etcd. Unlike with envtest, the API
// server can be killed and started again, and both die with the process that started them.
package controlplane

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/apis"
	"github.com/crossplane-contrib/provider-terraform/test/process"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// A ControlPlane is an API server with our CRDs, and its etcd.
type ControlPlane struct {
	// Kubeconfig is the path of a file for clients that may do anything.
	Kubeconfig string

	// Kube may do anything.
	Kube client.WithWatch

	// CA and Key are the paths of the certificate of the API server, which is its own authority,
	// and of the key. The key signs the tokens of ServiceAccounts as well.
	CA, Key string

	log          string
	etcd, server *process.Process
	path         string
	args         []string

	config *rest.Config
}

// Start a control plane from the programs in the directory assets, with the CRDs in the
// directory crds, if that is not empty. Its files are in dir, and its output is added to the file log. The caller
// has to stop it.
func Start(ctx context.Context, dir, assets, crds, log string) (*ControlPlane, error) {
	address, err := FreeAddress()
	if err != nil {
		return nil, err
	}

	c := newControlPlane(dir, assets, log)

	// There is no Service of the API server, because the control plane has no nodes.
	err = c.start(ctx, dir, assets, address, "--endpoint-reconciler-type=none")
	if err == nil && crds != "" {
		_, err = envtest.InstallCRDs(c.config, envtest.CRDInstallOptions{Paths: []string{crds}, ErrorIfPathMissing: true})
	}

	return c.orStop(err)
}

// StartForNodes starts a control plane like Start, for nodes that reach the supplied address. It
// has no CRDs.
func StartForNodes(ctx context.Context, dir, assets, address, log string) (*ControlPlane, error) {
	c := newControlPlane(dir, assets, log)

	// With a client CA there is the ConfigMap that identifies the cluster, as in other clusters.
	return c.orStop(c.start(ctx, dir, assets, address, "--allow-privileged", "--kubelet-preferred-address-types=InternalIP", "--client-ca-file="+c.CA))
}

func newControlPlane(dir, assets, log string) *ControlPlane {
	return &ControlPlane{
		log:        log,
		path:       filepath.Join(assets, "kube-apiserver"),
		Kubeconfig: filepath.Join(dir, "kubeconfig"),
		CA:         filepath.Join(dir, "tls.crt"),
		Key:        filepath.Join(dir, "tls.key"),
	}
}

// orStop stops the control plane if it could not be started.
func (c *ControlPlane) orStop(err error) (*ControlPlane, error) {
	if err != nil {
		c.Stop()

		return nil, errors.Wrap(err, "cannot start control plane")
	}

	return c, nil
}

func (c *ControlPlane) start(ctx context.Context, dir, assets, address string, args ...string) error {
	client, err := FreeAddress()
	if err != nil {
		return err
	}

	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}

	identity, err := c.identify(dir, address, net.ParseIP(host))
	if err != nil {
		return err
	}

	c.args = append(append(identity, args...),
		"--etcd-servers=http://"+client,
		"--bind-address="+host,
		"--secure-port="+port,
		"--advertise-address="+host,
		"--service-cluster-ip-range="+services,
		"--authorization-mode=RBAC",
		"--service-account-issuer="+c.config.Host,
		// A watch of Secrets, where states are, can go on where it was before a restart.
		"--watch-cache-sizes=secrets#0",
	)

	if c.etcd, err = process.Start("etcd", c.log, os.Environ(), filepath.Join(assets, "etcd"),
		"--data-dir="+filepath.Join(dir, "etcd"),
		"--listen-client-urls=http://"+client,
		"--advertise-client-urls=http://"+client,
		"--listen-peer-urls=http://127.0.0.1:0",
		// The data need not survive the test.
		"--unsafe-no-fsync",
	); err != nil {
		return err
	}

	if err := c.serve(ctx); err != nil {
		return err
	}

	c.Kube, err = NewClient(c.config)

	return err
}

// serve starts the API server and waits until it is ready. After a restart it serves the
// same data at the same address.
func (c *ControlPlane) serve(ctx context.Context) error {
	var err error
	if c.server, err = process.Start("API server", c.log, os.Environ(), c.path, c.args...); err != nil {
		return err
	}

	hc, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return err
	}

	ctx, cancel := c.server.WhileRunning(ctx)
	defer cancel()

	err = wait.Until(ctx, wait.Patience, func() error { return AnswersOK(ctx, hc, c.config.Host+"/readyz") })
	if err != nil && !c.server.Running() {
		return errors.Errorf("API server ended with %s", c.server.How())
	}

	return err
}

// NewClient returns a client with the kinds of Kubernetes and those of the provider.
func NewClient(config *rest.Config) (client.WithWatch, error) {
	s := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(s), apis.AddToScheme(s)); err != nil {
		return nil, errors.Wrap(err, "cannot make scheme")
	}

	c, err := client.NewWithWatch(config, client.Options{Scheme: s})

	return c, errors.Wrap(err, "cannot make client")
}

// Config returns a configuration of clients that may do anything.
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Restart kills the API server and starts it again after some time.
func (c *ControlPlane) Restart(ctx context.Context, away time.Duration) error {
	c.server.Kill()

	if err := wait.For(ctx, away); err != nil {
		return err
	}

	return c.serve(ctx)
}

// Stop kills the started processes.
func (c *ControlPlane) Stop() {
	for _, p := range []*process.Process{c.server, c.etcd} {
		if p != nil {
			p.Kill()
		}
	}
}

// tokenLifetime is how long a ServiceAccount can talk to the API server.
const tokenLifetime = 7 * 24 * time.Hour

// services is the range of the addresses of Services, and service is that of the API server.
const (
	services = "10.0.0.0/24"
	service  = "10.0.0.1"
)

// identify makes the credentials of the API server and its clients, and returns the
// arguments for the API server. The token is no secret: no other machine reaches the server, it
// runs for minutes, and protects nothing.
func (c *ControlPlane) identify(dir, address string, ip net.IP) ([]string, error) {
	const token = "admin"

	certificate, key, err := cert.GenerateSelfSignedCertKey(ip.String(), []net.IP{ip, net.ParseIP(service)}, nil)
	if err != nil {
		return nil, errors.Wrap(err, "cannot make certificate")
	}

	c.config = &rest.Config{
		Host:            "https://" + address,
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAData: certificate},
		QPS:             -1,
	}

	tokenFile := filepath.Join(dir, "tokens")

	for file, data := range map[string][]byte{
		c.CA:      certificate,
		c.Key:     key,
		tokenFile: []byte(token + `,admin,admin,"system:masters"`),
	} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return nil, err
		}
	}

	return []string{
		"--tls-cert-file=" + c.CA,
		"--tls-private-key-file=" + c.Key,
		"--service-account-key-file=" + c.Key,
		"--service-account-signing-key-file=" + c.Key,
		"--token-auth-file=" + tokenFile,
	}, c.WriteKubeconfig(c.Kubeconfig, token)
}

// WriteKubeconfig writes a kubeconfig with the supplied token.
func (c *ControlPlane) WriteKubeconfig(path, token string) error {
	const name = "provider-terraform"

	return errors.Wrap(clientcmd.WriteToFile(clientcmdapi.Config{
		CurrentContext: name,
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: c.config.Host, CertificateAuthorityData: c.config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {Token: token}},
	}, path), "cannot write kubeconfig")
}

// KubeconfigOf writes a kubeconfig with the rights of a ServiceAccount, as its pods have them.
func (c *ControlPlane) KubeconfigOf(ctx context.Context, path, namespace, name string) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(tokenLifetime.Seconds()))},
	}

	if err := c.Kube.SubResource("token").Create(ctx, account, request); err != nil {
		return errors.Wrapf(err, "cannot create a token of ServiceAccount %q", name)
	}

	return c.WriteKubeconfig(path, request.Status.Token)
}

// AnswersOK returns an error unless an HTTP GET of the supplied URL says OK.
func AnswersOK(ctx context.Context, hc *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}

	rsp, err := hc.Do(req)
	if err != nil {
		return err
	}
	defer rsp.Body.Close() //nolint:errcheck // Nothing was read from it.

	if rsp.StatusCode != http.StatusOK {
		return errors.Errorf("%s says %s", url, rsp.Status)
	}

	return nil
}

// ports counts the addresses that FreeAddress has tried.
var ports atomic.Int64 //nolint:gochecknoglobals // All callers in a process share it.

// FreeAddress returns a loopback address with a free port. No other process gets the same address, before
// or after its caller listens there: the host is one of this process, and the port is below the ranges
// from which systems choose ports for connections. No address is returned twice.
func FreeAddress() (string, error) {
	const first, count = 10000, 6000

	// Three bytes have room for all PIDs of Linux. None of the hosts is 127.0.0.1, where other programs listen.
	pid := os.Getpid()
	host := fmt.Sprintf("127.%d.%d.%d", 1+pid>>16, pid>>8&255, pid&255)

	for range count {
		address := fmt.Sprintf("%s:%d", host, first+ports.Add(1)%count)

		l, err := net.Listen("tcp", address) //nolint:noctx // It does not wait for anything.
		if err != nil {
			continue
		}

		return address, l.Close()
	}

	return "", errors.New("no port is free")
}
