// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// adminToken is what the API server takes for proof that a client may do anything.
// It is no secret: the server listens on the loopback interface, for minutes, and
// has nothing to protect.
const adminToken = "demo-admin"

// controlPlanePatience is how long etcd and the API server may take to end.
const controlPlanePatience = 20 * time.Second

// A controlPlane is an API server and its etcd, on free loopback ports. They are
// started here and not by envtest, whose children would survive a demo that is
// killed.
type controlPlane struct {
	// dir is where it keeps all it has.
	dir string

	// config is for a client that may do anything.
	config *rest.Config

	// ended is called when one of the two ends by itself.
	ended func(error)

	// processes in the order of their start.
	processes []*process
}

// start starts etcd and the API server, from the supplied directory, and returns
// when the latter is ready. What was started before an error needs to be stopped.
func (c *controlPlane) start(ctx context.Context, assets string, progress func(string)) error {
	ports, err := freePorts(2)
	if err != nil {
		return err
	}

	etcdURL, address := "http://127.0.0.1:"+ports[0], "127.0.0.1:"+ports[1]

	if err := c.launch(ctx, filepath.Join(assets, "etcd"),
		"--data-dir="+filepath.Join(c.dir, "etcd"),
		"--listen-client-urls="+etcdURL,
		"--advertise-client-urls="+etcdURL,
		"--listen-peer-urls=http://127.0.0.1:0",
		// Nothing here outlives the demo, let alone a power cut.
		"--unsafe-no-fsync",
	); err != nil {
		return err
	}

	args, err := c.credentials(address)
	if err != nil {
		return err
	}

	if err := c.launch(ctx, filepath.Join(assets, "kube-apiserver"), append(args,
		"--etcd-servers="+etcdURL,
		"--bind-address=127.0.0.1",
		"--secure-port="+ports[1],
		// Nobody looks for the API server inside of the cluster, and this works on a
		// machine without a network.
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=RBAC",
		"--service-account-issuer="+c.config.Host,
	)...); err != nil {
		return err
	}

	hc, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return err
	}

	return until(ctx, progress, func(ctx context.Context) error {
		return answersOK(ctx, hc, c.config.Host+"/readyz")
	})
}

// credentials makes everything that the API server and its clients identify
// themselves with, and returns the arguments that tell the API server.
func (c *controlPlane) credentials(address string) ([]string, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, errors.Wrap(err, "cannot make a certificate for the API server")
	}

	c.config = &rest.Config{
		Host:            "https://" + address,
		BearerToken:     adminToken,
		TLSClientConfig: rest.TLSClientConfig{CAData: certificate},
		// No limit: the API server has nobody else to serve.
		QPS: -1,
	}

	crtFile, keyFile, tokenFile := filepath.Join(c.dir, "tls.crt"), filepath.Join(c.dir, "tls.key"), filepath.Join(c.dir, "tokens")

	args := []string{
		"--tls-cert-file=" + crtFile,
		"--tls-private-key-file=" + keyFile,
		"--service-account-key-file=" + keyFile,
		"--service-account-signing-key-file=" + keyFile,
		"--token-auth-file=" + tokenFile,
	}

	return args, errors.Join(
		os.WriteFile(crtFile, certificate, 0o600),
		os.WriteFile(keyFile, key, 0o600),
		os.WriteFile(tokenFile, []byte(adminToken+`,admin,admin,"system:masters"`), 0o600),
	)
}

func (c *controlPlane) launch(ctx context.Context, path string, args ...string) error {
	name := filepath.Base(path)

	p, err := command{
		name:     name,
		path:     path,
		args:     args,
		log:      filepath.Join(c.dir, name+".log"),
		patience: controlPlanePatience,
		ended:    c.ended,
	}.start(ctx)
	if err != nil {
		return err
	}

	c.processes = append(c.processes, p)

	return nil
}

// stop stops what was started, last first. How it ends does not matter any more.
func (c *controlPlane) stop() {
	for _, p := range slices.Backward(c.processes) {
		_ = p.terminate()
	}
}

// kubeconfig returns a kubeconfig for whoever has the supplied token.
func (c *controlPlane) kubeconfig(token string) ([]byte, error) {
	const name = "demo"

	return clientcmd.Write(clientcmdapi.Config{
		CurrentContext: name,
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		Clusters: map[string]*clientcmdapi.Cluster{name: {
			Server:                   c.config.Host,
			CertificateAuthorityData: c.config.CAData,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {Token: token}},
	})
}

// answersOK returns an error unless an HTTP GET of the supplied URL says OK.
func answersOK(ctx context.Context, hc *http.Client, url string) error {
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

// freePorts returns n different loopback ports that nobody listens on now.
func freePorts(n int) ([]string, error) {
	ports := make([]string, 0, n)

	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // It does not wait for anything.
		if err != nil {
			return nil, errors.Wrap(err, "cannot find a free port")
		}
		// All are held until the last is found, so that they differ.
		defer l.Close() //nolint:errcheck // Nothing was written to it.

		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			return nil, err
		}

		ports = append(ports, port)
	}

	return ports, nil
}
