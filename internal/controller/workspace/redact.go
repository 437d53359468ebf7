// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-terraform/internal/redact"
)

// redactErr returns the supplied error without secrets in its text. The result is still the
// supplied error for errors.Is and errors.As. A message that is cut must be redacted before it is
// cut, too: see terraform.Workspace and module.Request.
func redactErr(secrets *redact.Secrets, err error) error {
	if err == nil {
		return nil
	}

	return &redactedError{error: err, text: secrets.Text(err.Error())}
}

type redactedError struct {
	error

	text string
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.error }

// A redactedRecorder records events without secrets. Addresses of resources, for example, contain
// the keys of for_each.
type redactedRecorder struct {
	event.Recorder

	secrets *redact.Secrets
}

func (r redactedRecorder) Event(o runtime.Object, e event.Event) {
	e.Message = r.secrets.Text(e.Message)
	r.Recorder.Event(o, e)
}

func (r redactedRecorder) WithAnnotations(kvs ...string) event.Recorder {
	return redactedRecorder{Recorder: r.Recorder.WithAnnotations(kvs...), secrets: r.secrets}
}
