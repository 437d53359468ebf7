// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
)

// TestMain makes the test binary the process that fetches a module, when it is started as one.
func TestMain(m *testing.M) {
	if handled, code := fetch.Serve(context.Background(), os.Args, os.Stdin, os.Stdout, copyModule); handled {
		syscall.Exit(code) // os.Exit would wait a second for data races.
	}

	// The runs of tests without a Close leave directories there.
	tmp, err := os.MkdirTemp("", "t")
	if err != nil {
		panic(err)
	}

	if err := os.Setenv("TMPDIR", tmp); err != nil {
		panic(err)
	}

	code := m.Run()
	_ = os.RemoveAll(tmp)

	os.Exit(code)
}

// copyModule gets a module from a directory. The tests of module get all others, with what links
// go-getter.
func copyModule(_ context.Context, r fetch.Request) (fetch.Result, error) {
	if proxy := os.Getenv("HTTPS_PROXY"); proxy != "" {
		return fetch.Result{}, errors.New("the proxy " + proxy + " does not lead to the module")
	}

	dir := filepath.Join(r.Dir, "module")

	return fetch.Result{Dir: dir}, os.CopyFS(dir, os.DirFS(r.Address))
}

// kube returns a client of a ConfigMap and a Secret, each with the key k, and of a large Secret. Gather
// only reads them: all tests share it.
var kube = sync.OnceValue(func() client.Client {
	o := metav1.ObjectMeta{Namespace: "ns", Name: "o"}
	large := metav1.ObjectMeta{Namespace: "ns", Name: "large"}

	return fake.NewClientBuilder().WithObjects(
		&corev1.ConfigMap{ObjectMeta: o, Data: map[string]string{"k": "from-config-map"}},
		&corev1.Secret{ObjectMeta: o, Data: map[string][]byte{"k": []byte("sesame-sesame"), "json": []byte(`{"a": "sesame-sesame"}`)}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "marked"}, Data: map[string]string{"k": "\ufeff{}"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "heredoc"}, Data: map[string][]byte{"k": []byte("a = <<EOT\nsesame\nEOT")}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "phrase"}, Data: map[string][]byte{"k": []byte("sesame a b {")}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "padded"}, Data: map[string][]byte{"k": []byte("c2VzYW1lLXNlc2FtMTI=")}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "equals"}, Data: map[string][]byte{"k": []byte("sesame=word!sesame")}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "latin1"}, Data: map[string][]byte{"k": []byte("{\"a\": \"M\xfcller\"}")}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "json"}, Data: map[string][]byte{"k": []byte("\n{\"a\": 1}")}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "named"}, Data: map[string][]byte{"k": []byte(`{"s3_bucket": "sesame-1"}`)}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "broken"}, Data: map[string][]byte{"k": []byte("{sesame-sesame}")}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "utf16"}, Data: map[string][]byte{"k": []byte("\xff\xfea\x00=\x001\x00")}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "arguments"}, Data: map[string][]byte{"k": []byte("-no-color -var=a=sesame-sesame")}},
		&corev1.Secret{ObjectMeta: large, Data: map[string][]byte{"k": bytes.Repeat([]byte("x"), 100<<10)}},
	).Build()
})
