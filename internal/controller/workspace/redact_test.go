// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-terraform/internal/redact"
)

func TestRedactErr(t *testing.T) {
	cause := errors.New("no entry for hunter22")
	secrets := redact.New([]byte("hunter22"))

	err := redactErr(secrets, errors.Wrap(cause, "cannot plan"))
	if !errors.Is(err, cause) {
		t.Errorf("redactErr(...): the error has changed: %v", err)
	}

	if want := "cannot plan: no entry for (sensitive)"; err.Error() != want {
		t.Errorf("redactErr(...): want %q, got %q", want, err)
	}

	if redactErr(secrets, nil) != nil {
		t.Error("redactErr(nil): want nil")
	}
}

func TestRedactedRecorder(t *testing.T) {
	var got []event.Event

	r := redactedRecorder{Recorder: recorderFunc(func(e event.Event) { got = append(got, e) }), secrets: redact.New([]byte("hunter22"))}
	r.WithAnnotations("a", "b").Event(nil, event.Normal("ApplyProgress", `1 resources done; terraform_data.user["hunter22"]: create`))

	want := []event.Event{event.Normal("ApplyProgress", `1 resources done; terraform_data.user["(sensitive)"]: create`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Event(...): -want, +got:\n%s", diff)
	}
}

// A recorderFunc is called with every event.
type recorderFunc func(e event.Event)

func (f recorderFunc) Event(_ runtime.Object, e event.Event)      { f(e) }
func (f recorderFunc) WithAnnotations(_ ...string) event.Recorder { return f }
