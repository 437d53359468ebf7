// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

const (
	maxErrors    = 100       // The number of errors of a run that are kept. All are counted.
	levelError   = "error"   // The level of a message, or the severity of a diagnostic, that made the run fail.
	levelWarning = "warning" // The severity of a diagnostic that did not.
)

// A Summary counts the changes that are planned, or that an apply or a destroy has made.
type Summary struct {
	Add     int `json:"add"`
	Change  int `json:"change"`
	Destroy int `json:"remove"`
	Import  int `json:"import"`
	Forget  int `json:"forget"` // Removed from the state only. Terraform does not count them in an apply.
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

	errors     firsts[Diagnostic]
	warnings   firsts[Diagnostic]
	undeclared []Diagnostic // Warnings about values of undeclared variables.
	began      bool         // The run began to process a resource,
	applies    bool         // and to change one.
	drift      firsts[string]
	corrects   bool // A plan changes something that has drifted.
	planned    firsts[ResourceChange]
	deletes    []ResourceChange // Everything that a plan deletes.
	removed    int              // The number of resources that a plan removes from the state only.
	newOutputs firsts[string]   // The names of those that a plan changes.
	checkReads bool             // A plan reads data sources in check blocks once more when it is applied,
	reads      bool             // and other data sources then.
	summary    *Summary         // The last one; nil if there was none.
	outputs    map[string]Output
	state      []byte // The one that the CLI could neither save nor write.

	downloading string   // The module that an init has begun to download and not ended, such as parent.child.
	reading     []string // The addresses of data sources that have begun to read the state of another module, and not ended.
}

// downloading matches what an init prints before it downloads a module.
var downloading = regexp.MustCompile(`^Downloading \S+(?: \S+)? for (\S+)\.\.\.$`)

func newReport(progress func(Progress)) *report {
	return &report{
		progress:   progress,
		errors:     firsts[Diagnostic]{order: byWeight, max: maxErrors},
		warnings:   firsts[Diagnostic]{order: checksFirst, max: maxWarnings},
		drift:      firsts[string]{order: strings.Compare, max: maxChanges},
		planned:    firsts[ResourceChange]{order: byLoss, max: maxChanges},
		newOutputs: firsts[string]{order: strings.Compare, max: maxChanges},
	}
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
	State   json.RawMessage       `json:"state"`
}

// stateDump is the message with a state that the CLI could not write, and stateLine how a line with it begins, after its
// level.
const (
	stateDump = "Emergency state dump"
	stateLine = `"@message":"` + stateDump + `"`
)

type jsonHook struct {
	Resource struct {
		Address string `json:"addr"`
	} `json:"resource"`
	Previous *struct {
		Address string `json:"addr"`
	} `json:"previous_resource"`
	Action    actionName `json:"action"`
	Reason    string     `json:"reason"`
	Importing *struct{}  `json:"importing"`
}

// An actionName is what happens to a resource. It is empty where the JSON has an object: in the hooks of an action block, since
// Terraform 1.14, that is the address of the block.
type actionName string

func (n *actionName) UnmarshalJSON(text []byte) error {
	if !bytes.HasPrefix(text, []byte(`"`)) {
		return nil
	}

	return json.Unmarshal(text, (*string)(n))
}

type jsonOutput struct {
	Value     json.RawMessage `json:"value"`
	Type      json.RawMessage `json:"type"`
	Sensitive bool            `json:"sensitive"`
	Action    string          `json:"action"`
}

// add takes one line and returns its text for people. A line that is no message is text itself.
func (r *report) add(line []byte) string {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		r.downloading = ""
		if match := downloading.FindSubmatch(line); match != nil {
			r.downloading = string(match[1])
		}

		return string(line)
	}

	switch {
	case m.Diagnostic != nil:
		d := m.Diagnostic.diagnostic()
		r.addDiagnostic(m.Diagnostic.Severity, d)
		// The message is only the summary.
		m.Message = strings.TrimSpace(strings.Join([]string{m.Message, d.place(), withoutOutput(d.Detail)}, "\n"))
	case m.Type == "resource_drift" && m.Change != nil:
		r.drift.add(m.Change.Resource.Address)
	case m.Type == "planned_change" && m.Change != nil:
		r.addChange(m.Change)
	case m.Type == "change_summary" && m.Changes != nil:
		r.summary = m.Changes
	case m.Type == "outputs":
		r.addOutputs(m.Outputs)
	case m.Hook != nil:
		r.addHook(m)
	case m.Level == levelError:
		r.errors.add(Diagnostic{Summary: m.Message})
	case m.Message == stateDump:
		r.state = m.State
	}

	return cmp.Or(m.Message, string(line))
}

func (r *report) addHook(m message) {
	r.began = true
	r.applies = r.applies || m.Type == "apply_start" && m.Hook.Action != "read"

	switch address := m.Hook.Resource.Address; {
	case !remoteState.MatchString(address):
	case m.Type == "apply_start":
		r.reading = append(r.reading, address)
	case m.Type == "apply_complete": // A read that fails has no end.
		r.reading = slices.DeleteFunc(r.reading, func(a string) bool { return a == address })
	}

	if r.progress != nil {
		r.progress(Progress{Event: m.Type, Address: m.Hook.Resource.Address, Action: string(m.Hook.Action)})
	}
}

var (
	// remoteState matches the address of a data source that reads the state of another module.
	remoteState = regexp.MustCompile(`\bdata\.terraform_remote_state\.`)

	// ofOther matches what a run may say of other things after it has begun to read such a state: of the state of the Workspace, of its
	// plan, of a provider, or of an interrupt.
	ofOther = regexp.MustCompile(`(?:sav(?:e|ing)|persist|serialize) (?:current )?state|local state file|state lock|plan file|^Provider (?:produced|returned)|^execution halted`)
)

// ofReading gives a diagnostic without a place the address of the data source that could not be read: the CLIs do not, with texts that
// are also those about the state of the Workspace. That one was read before.
func (r *report) ofReading(d Diagnostic) Diagnostic {
	if d.rank() != rankNothing || len(r.reading) == 0 || ofOther.MatchString(d.Summary) {
		return d
	}

	for _, address := range r.reading {
		if text, ok := strings.CutPrefix(d.Summary, address+separator); ok { // OpenTofu adds one that has it.
			d.Address, d.Summary = address, text

			return d
		}
	}

	d.Address = strings.Join(slices.Sorted(slices.Values(r.reading)), " or ")

	return d
}

func (r *report) addDiagnostic(severity string, d Diagnostic) {
	switch {
	case severity == levelError:
		r.errors.add(r.ofReading(d))
	case severity == levelWarning && undeclared.MatchString(d.Summary):
		r.undeclared = append(r.undeclared, d)
	case severity == levelWarning && !d.isUnknownCheck():
		r.warnings.add(d)
	}
}

// replaces matches the reasons why a plan replaces something.
var replaces = regexp.MustCompile(`^(?:cannot_update|tainted|requested|replace_triggered_by)$`)

func (r *report) addChange(c *jsonHook) {
	action := string(c.Action)
	// OpenTofu has no action for a replacement that forgets what it replaces.
	forgets := slices.Contains([]string{"noop", "import", "move"}, action) && replaces.MatchString(c.Reason)

	switch {
	case forgets || isChange(action):
		planned := ResourceChange{Action: action, Address: c.Resource.Address, Imports: c.Importing != nil || action == "import", Forgets: forgets}
		if forgets {
			planned.Action = "replace"
		}

		if c.Previous != nil {
			planned.Previous = c.Previous.Address
		}

		r.planned.add(planned)
		r.corrects = r.corrects || r.drift.has(planned.Address) // The CLIs report what has drifted first.

		if planned.Action == "remove" || planned.Action == "forget" {
			r.removed++
		}

		if planned.Deletes() {
			r.deletes = append(r.deletes, planned)
		}
	case c.Reason == readInCheck:
		r.checkReads = true
	case action == "read":
		r.reads = true
	}
}

// readInCheck is why a plan reads a data source in a check block.
const readInCheck = "read_because_check_nested"

func (r *report) addOutputs(in map[string]jsonOutput) {
	r.outputs = applied(in)

	for name, o := range in {
		if isChange(o.Action) {
			r.newOutputs.add(name)
		}
	}
}

// isChange reports whether an action of a plan changes something. An output of an apply has no action.
func isChange(action string) bool {
	return !slices.Contains([]string{"", "noop", "read", "open", "renew", "close"}, action)
}

// onlyChecks reports whether a plan has nothing to apply, although the CLI says so: it has read the data sources in
// check blocks, and reads them again in an apply. Without this, each poll would apply that.
func (r *report) onlyChecks() bool {
	return r.checkReads && !r.reads && r.total() == (Summary{}) && len(r.planned.kept)+len(r.newOutputs.kept)+len(r.drift.kept) == 0
}

// total returns the last summary, or a zero one.
func (r *report) total() Summary { return *cmp.Or(r.summary, &Summary{}) }

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
