// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"bytes"
	"cmp"
	"encoding/json"
)

const (
	maxDiagnostics = 100     // The number of errors of a run that are kept.
	levelError     = "error" // The level of a message, or the severity of a diagnostic, that made the run fail.
)

// A Summary counts the changes that are planned, or that an apply or a destroy has made.
type Summary struct {
	Add     int `json:"add"`
	Change  int `json:"change"`
	Destroy int `json:"remove"`
	Import  int `json:"import"`
}

// A Progress is the progress of a run with one resource instance.
type Progress struct {
	Event   string // Such as apply_start, apply_complete and apply_errored.
	Address string
	Action  string // Create, update, delete, read.
}

// An Output is one output value of the root module.
type Output struct {
	// Value as compact JSON, with all digits of numbers. It is nil if the CLI did not print it: an apply
	// omits sensitive values.
	Value     json.RawMessage
	Sensitive bool
}

// A report is the output of a run in JSON lines.
type report struct {
	progress func(Progress) // May be nil.

	diagnostics []Diagnostic
	began       bool // The run began to process a resource.
	drift       []string
	destroys    []string
	summary     *Summary // The last one; nil if there was none.
	outputs     map[string]Output
}

// message is the part of a JSON line that is used here.
type message struct {
	Level   string `json:"@level"`
	Message string `json:"@message"`
	Type    string `json:"type"`

	Diagnostic *jsonDiagnostic `json:"diagnostic"`
	Change     *jsonHook       `json:"change"`
	Hook       *jsonHook       `json:"hook"`
	Changes    *Summary        `json:"changes"`

	Outputs map[string]jsonOutput `json:"outputs"`
}

type jsonHook struct {
	Resource struct {
		Address string `json:"addr"`
	} `json:"resource"`
	Action string `json:"action"`
}

func (h *jsonHook) destroys() bool {
	return h != nil && (h.Action == "delete" || h.Action == "replace")
}

type jsonOutput struct {
	Value     json.RawMessage `json:"value"`
	Type      json.RawMessage `json:"type"`
	Sensitive bool            `json:"sensitive"`
}

// add takes one line and returns its text for people. A line that is no message is text itself.
func (r *report) add(line []byte) string {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return string(line)
	}

	switch {
	case m.Diagnostic != nil:
		// A run may print any number of warnings before its first error.
		if m.Diagnostic.Severity == levelError {
			r.diagnose(m.Diagnostic.diagnostic())
		}
	case m.Type == "resource_drift" && m.Change != nil:
		r.drift = append(r.drift, m.Change.Resource.Address)
	case m.Type == "planned_change" && m.Change.destroys():
		r.destroys = append(r.destroys, m.Change.Resource.Address)
	case m.Type == "change_summary" && m.Changes != nil:
		r.summary = m.Changes
	case m.Type == "outputs":
		r.outputs = applied(m.Outputs)
	case m.Hook != nil:
		r.began = true

		if r.progress != nil {
			r.progress(Progress{Event: m.Type, Address: m.Hook.Resource.Address, Action: m.Hook.Action})
		}
	case m.Level == levelError:
		r.diagnose(Diagnostic{Summary: m.Message})
	}

	return cmp.Or(m.Message, string(line))
}

// total returns the last summary, or a zero one.
func (r *report) total() Summary { return *cmp.Or(r.summary, &Summary{}) }

func (r *report) diagnose(d Diagnostic) {
	if len(r.diagnostics) < maxDiagnostics {
		r.diagnostics = append(r.diagnostics, d)
	}
}

// applied returns the outputs, or nil if they are those of a plan: these have no type.
func applied(in map[string]jsonOutput) map[string]Output {
	for _, o := range in {
		if len(o.Type) == 0 {
			return nil
		}
	}

	return outputs(in)
}

// outputs returns the values in one form: states are indented, messages are not.
func outputs(in map[string]jsonOutput) map[string]Output {
	out := make(map[string]Output, len(in))

	for name, o := range in {
		value := &bytes.Buffer{}
		_ = json.Compact(value, o.Value) // The decoder has accepted it, or there is none.
		out[name] = Output{Value: value.Bytes(), Sensitive: o.Sensitive}
	}

	return out
}
