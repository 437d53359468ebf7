// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"bufio"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// root of the examples, relative to this directory.
const root = "../../examples"

// A manifest is one object of one file.
type manifest struct {
	// file is its path below the examples.
	file string

	object *unstructured.Unstructured
}

// manifests returns every object of every file below the examples, except for those that are
// rendered. A file that is neither YAML nor a README fails the test, so that every file is
// tested.
func manifests(t *testing.T) []manifest {
	t.Helper()

	var all []manifest

	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}

		file, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}

		switch {
		case d.Name() == "kustomization.yaml":
		case filepath.Ext(path) == ".yaml":
			all = append(all, read(t, path, file)...)
		case d.Name() != "README.md":
			t.Errorf("%s: neither a .yaml file nor a README.md, so no test reads it", file)
		}

		return nil
	})
	if err != nil {
		t.Fatalf("cannot walk the examples: %v", err)
	}

	return all
}

// read returns the objects of one file, which must not be empty. A duplicate key fails the
// test: the API server would ignore the first one.
func read(t *testing.T, path, file string) []manifest {
	t.Helper()

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("cannot read %s: %v", file, err)
	}

	var found []manifest

	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))

	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			break
		}

		if err != nil {
			t.Fatalf("%s: cannot read: %v", file, err)
		}

		json, err := yaml.YAMLToJSONStrict(doc)
		if err != nil {
			t.Fatalf("%s: cannot parse: %v", file, err)
		}

		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(json); err != nil {
			t.Fatalf("%s: not a Kubernetes object: %v", file, err)
		}

		found = append(found, manifest{file: file, object: u})
	}

	if len(found) == 0 {
		t.Errorf("%s: no object in it", file)
	}

	return found
}
