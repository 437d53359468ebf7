// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

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
)

// A controlPlane is an API server with our CRDs, and its etcd. The API server can be
// killed and started again; envtest has no such thing.
type controlPlane struct {
	log io.Writer

	etcd, server *process

	// path and args of the API server.
	path string
	args []string

	config     *rest.Config
	kubeconfig string
	kube       client.WithWatch
}

// startControlPlane starts a control plane, which ends with the test.
func startControlPlane(t *testing.T, assets, crds string, log io.Writer) *controlPlane {
	t.Helper()

	dir := t.TempDir()
	etcd, address := "http://"+freeAddress(t), freeAddress(t)
	c := &controlPlane{log: log, path: filepath.Join(assets, "kube-apiserver"), kubeconfig: filepath.Join(dir, "kubeconfig")}
	c.args = append(c.identify(t, dir, address),
		"--etcd-servers="+etcd,
		"--bind-address=127.0.0.1",
		"--secure-port="+port(t, address),
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=RBAC",
		"--service-account-issuer="+c.config.Host,
		// A watch of Secrets, where states are, can go on where it was before a restart.
		"--watch-cache-sizes=secrets#0",
	)

	var err error
	if c.etcd, err = startProcess("etcd", log, os.Environ(), filepath.Join(assets, "etcd"),
		"--data-dir="+filepath.Join(dir, "etcd"),
		"--listen-client-urls="+etcd,
		"--advertise-client-urls="+etcd,
		"--listen-peer-urls=http://127.0.0.1:0",
		// Nothing here outlives the test, let alone a power cut.
		"--unsafe-no-fsync",
	); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if c.server != nil {
			c.server.kill()
		}

		c.etcd.kill()
	})

	if err := c.start(t.Context()); err != nil {
		t.Fatal(err)
	}

	if _, err := envtest.InstallCRDs(c.config, envtest.CRDInstallOptions{Paths: []string{crds}, ErrorIfPathMissing: true}); err != nil {
		t.Fatalf("cannot install CRDs: %v", err)
	}

	s := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(s), apis.AddToScheme(s)); err != nil {
		t.Fatalf("cannot make scheme: %v", err)
	}

	if c.kube, err = client.NewWithWatch(c.config, client.Options{Scheme: s}); err != nil {
		t.Fatalf("cannot make client: %v", err)
	}

	return c
}

// start starts the API server and waits until it is ready. It serves what it served
// before, at the same address.
func (c *controlPlane) start(ctx context.Context) error {
	var err error
	if c.server, err = startProcess("API server", c.log, os.Environ(), c.path, c.args...); err != nil {
		return err
	}

	hc, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return err
	}

	return until(ctx, patience, func() error {
		if !c.server.running() {
			return errors.Errorf("API server ended with %s", c.server.how())
		}

		return answersOK(ctx, hc, c.config.Host+"/readyz")
	})
}

// restart kills the API server and starts it again after some time.
func (c *controlPlane) restart(ctx context.Context, away time.Duration) error {
	c.server.kill()

	if err := wait(ctx, away); err != nil {
		return err
	}

	return c.start(ctx)
}

// identify makes everything that the API server and its clients identify themselves
// with, and returns the arguments that tell the API server. The token is no secret:
// the server listens on the loopback interface, for minutes, and protects nothing.
func (c *controlPlane) identify(t *testing.T, dir, address string) []string {
	t.Helper()

	const name, token = "chaos", "chaos-admin"

	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		t.Fatalf("cannot make certificate: %v", err)
	}

	c.config = &rest.Config{
		Host:            "https://" + address,
		BearerToken:     token,
		TLSClientConfig: rest.TLSClientConfig{CAData: certificate},
		QPS:             -1,
	}

	kubeconfig, err := clientcmd.Write(clientcmdapi.Config{
		CurrentContext: name,
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: c.config.Host, CertificateAuthorityData: certificate}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {Token: token}},
	})
	if err != nil {
		t.Fatalf("cannot make kubeconfig: %v", err)
	}

	crtFile, keyFile, tokenFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), filepath.Join(dir, "tokens")

	for file, data := range map[string][]byte{
		crtFile:      certificate,
		keyFile:      key,
		tokenFile:    []byte(token + `,admin,admin,"system:masters"`),
		c.kubeconfig: kubeconfig,
	} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatalf("cannot write file: %v", err)
		}
	}

	return []string{
		"--tls-cert-file=" + crtFile,
		"--tls-private-key-file=" + keyFile,
		"--service-account-key-file=" + keyFile,
		"--service-account-signing-key-file=" + keyFile,
		"--token-auth-file=" + tokenFile,
	}
}

// answersOK returns an error unless an HTTP GET of the supplied URL says OK.
func answersOK(ctx context.Context, hc *http.Client, url string) error {
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
	defer rsp.Body.Close()

	if rsp.StatusCode != http.StatusOK {
		return errors.Errorf("%s says %s", url, rsp.Status)
	}

	return nil
}

// freeAddress returns a loopback address that nobody listens on now.
func freeAddress(t *testing.T) string {
	t.Helper()

	address, err := findAddress()
	if err != nil {
		t.Fatal(err)
	}

	return address
}

func findAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", errors.Wrap(err, "cannot find a free port")
	}

	return l.Addr().String(), l.Close()
}

func port(t *testing.T, address string) string {
	t.Helper()

	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatalf("cannot split address: %v", err)
	}

	return port
}
