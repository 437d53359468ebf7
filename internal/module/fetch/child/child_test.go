// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
)

// TestSilence tests that a server that sends nothing, before or after the beginning of its response, ends a request. One
// that sends something in time does not.
func TestSilence(t *testing.T) {
	t.Parallel()

	released := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/begun" {
			_, _ = w.Write([]byte("x"))
			_ = http.NewResponseController(w).Flush()
		}

		if r.URL.Path != "/all" {
			<-released
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(released) })

	for path, want := range map[string]error{"/none": errSilent, "/begun": errSilent, "/all": nil} {
		silence := 50 * time.Millisecond
		if want == nil {
			silence = time.Minute
		}

		client := &http.Client{Transport: &transport{source: &source{}, limit: 10, silence: silence}}

		resp, err := client.Get(server.URL + path)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}

		if !errors.Is(err, want) {
			t.Errorf("%s: want %v, got %v", path, want, err)
		}
	}
}

func TestLimitedDownload(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Path[1:])
		_, _ = w.Write(make([]byte, n))
	}))
	t.Cleanup(server.Close)

	client := &http.Client{Transport: &transport{source: &source{}, limit: 10, silence: time.Minute}}

	for length, want := range map[string]string{"9": "", "10": "", "11": "http: request body too large"} {
		resp, err := client.Get(server.URL + "/" + length)
		if err != nil {
			t.Fatal(err)
		}

		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()

		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("download of %s of at most 10 bytes: want error %q, got %v", length, want, err)
		}
	}
}

// TestCredentialsMode ensures that no other user can read files with secrets, regardless of the
// umask.
func TestCredentialsMode(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	g := &gitGetter{source: &source{request: fetch.Request{Dir: dir}}}

	if _, err := g.prepare(&url.URL{Scheme: "http", Host: "c", User: url.UserPassword("a", "b"), RawQuery: "sshkey=a2V5"}); err != nil {
		t.Fatal(err)
	}

	for _, name := range []string{"credentials", sshKeyFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}

		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("mode of %s: want 0600, got %o", name, got)
		}
	}
}
