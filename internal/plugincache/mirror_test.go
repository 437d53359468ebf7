// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package plugincache

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"encoding/pem"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A mirror serves providers over HTTPS, and counts downloads.
type mirror struct {
	*httptest.Server

	certificate string

	mu        sync.Mutex
	versions  map[string][]string
	archives  map[string][]byte
	downloads map[string]int

	// before is called before each download.
	before func(w http.ResponseWriter, provider string)
}

func newMirror(t *testing.T) *mirror {
	t.Helper()

	m := &mirror{
		versions:  map[string][]string{},
		archives:  map[string][]byte{},
		downloads: map[string]int{},
		before:    func(http.ResponseWriter, string) {},
	}
	m.Server = httptest.NewTLSServer(m)
	t.Cleanup(m.Close)

	m.certificate = filepath.Join(t.TempDir(), "ca.pem")
	write(t, m.certificate, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: m.Certificate().Raw})))

	return m
}

// add a version of a provider of the namespace hashicorp.
func (m *mirror) add(t *testing.T, name, version string, program []byte) {
	t.Helper()

	b := &bytes.Buffer{}
	z := zip.NewWriter(b)

	h := &zip.FileHeader{Name: "terraform-provider-" + name + "_v" + version, Method: zip.Store}
	h.SetMode(0o755)

	f, err := z.CreateHeader(h)
	if err == nil {
		_, err = f.Write(program)
	}

	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}

	m.mu.Lock()
	defer m.mu.Unlock()

	m.versions[name] = append(m.versions[name], version)
	m.archives[name+"_"+version+".zip"] = b.Bytes()
}

// intercept downloads.
func (m *mirror) intercept(before func(w http.ResponseWriter, provider string)) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.before = before
}

// downloaded returns the number of requests for each archive.
func (m *mirror) downloaded() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()

	return maps.Clone(m.downloads)
}

// expectDownloads of version 1.0.0 of a provider.
func (m *mirror) expectDownloads(t *testing.T, what, provider string, want int) {
	t.Helper()

	if got := m.downloaded()[provider+"_1.0.0.zip"]; got != want {
		t.Errorf("downloads %s: want %d, got %d", what, want, got)
	}
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// HOST/hashicorp/NAME/FILE
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) != 4 {
		http.NotFound(w, r)

		return
	}

	name, file := parts[2], parts[3]

	m.mu.Lock()
	archive, isArchive := m.archives[file]
	before, versions := m.before, slices.Clone(m.versions[name])

	// Terraform checks first whether it exists.
	if isArchive && r.Method == http.MethodGet {
		m.downloads[file]++
	}
	m.mu.Unlock()

	var answer any

	switch version, isVersion := strings.CutSuffix(file, ".json"); {
	case isArchive && r.Method == http.MethodHead:
		return
	case isArchive:
		before(w, name)

		_, _ = w.Write(archive)

		return
	case file == "index.json" && len(versions) > 0:
		all := map[string]any{}
		for _, v := range versions {
			all[v] = map[string]any{}
		}

		answer = map[string]any{"versions": all}
	case isVersion:
		platform := runtime.GOOS + "_" + runtime.GOARCH
		answer = map[string]any{"archives": map[string]any{platform: map[string]any{"url": name + "_" + version + ".zip"}}}
	default:
		http.NotFound(w, r)

		return
	}

	w.Header().Set("Content-Type", "application/json")

	_ = json.NewEncoder(w).Encode(answer)
}
