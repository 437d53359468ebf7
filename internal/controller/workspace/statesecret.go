// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"bytes"
	"compress/gzip"
	"io"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/runner"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// stateKey is the key of a Secret under which the kubernetes backend keeps a state.
const stateKey = "tfstate"

// stateKeyOf returns the key of the Secret with the state of the named Terraform workspace.
func stateKeyOf(b runner.KubernetesBackend, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: b.Namespace, Name: "tfstate-" + name + "-" + b.Suffix}
}

// parseSecret returns the state in a Secret, as the backend compresses it. A state with more than
// limit bytes is an error.
func parseSecret(s *corev1.Secret, limit int64) (*terraform.State, error) {
	r, err := gzip.NewReader(bytes.NewReader(s.Data[stateKey]))
	if err != nil {
		return nil, errors.Wrap(err, "cannot decompress state")
	}

	data, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil {
		return nil, errors.Wrap(err, "cannot decompress state")
	}

	return terraform.ParseState(data)
}
