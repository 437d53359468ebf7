// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// The time before the first event about a run, which doubles with each event, and its limit. The recorder of client-go
// drops Events after 25 about one object, except for one in five minutes: that of the result must not be dropped.
const (
	progressInterval    = 30 * time.Second
	maxProgressInterval = 5 * time.Minute
)

const (
	reasonProgress event.Reason = "ApplyProgress"
	reasonApplied  event.Reason = "AppliedChanges"
)

// A progress is that of an apply or a destroy.
type progress struct {
	destroys bool
	total    int      // The number of steps that are planned: to replace a resource takes two.
	outputs  []string // The names of those that the plan changes, if it changes nothing else.
	planless bool     // The run makes its own plan, which no Event tells.
	start    time.Time

	mu    sync.Mutex
	began bool           // The run has begun to change something.
	done  map[string]int // The number of finished steps, by action.
	last  []string       // Those steps, in their order, up to maxSteps.

	// tainted are the resources that were created, and whose provisioner failed. The next apply replaces them: with
	// create_before_destroy, what exists is destroyed only after that has succeeded.
	tainted []string

	// running are the resources that were begun and are not done, oldest first.
	running []terraform.Progress
}

// A progressCLI knows what a run has started in the background.
type progressCLI interface {
	Background() []string
}

// maxSteps is the number of finished steps that an Event names, as many as the summary of a plan does.
const maxSteps = 20

// maxBackground is the number of programs in the background that an Event names.
const maxBackground = 3

// withProgress calls run, and records Events about its progress, one at each interval. A run that
// ends before the first interval has none. It uses a timer because the CLI does not report often
// enough: OpenTofu 1.12 reports nothing more of a resource that takes longer than ten seconds.
//
// At the end it logs and returns what was done. The caller records an Event about it after a run that succeeded: it is the
// one of the managed reconciler for this step. A run that failed in the middle has one of its own: neither the
// plan nor the error says what it has done.
func (ps *pass) withProgress(ws workspace.Workspace, cli progressCLI, p *progress, run func(report func(terraform.Progress)) error) (done string, err error) {
	p.start, p.done, p.last, p.tainted, p.running = time.Now(), map[string]int{}, nil, nil, nil

	ended := make(chan struct{})
	// The run may write to the object.
	o := ws.DeepCopyObject()

	events := sync.WaitGroup{}
	events.Go(func() {
		for interval := progressInterval; ; interval = min(2*interval, maxProgressInterval) {
			select {
			case <-ended:
				return
			case <-time.After(interval):
				ps.recorder.Event(o, event.Normal(reasonProgress, p.text(cli.Background())))
			}
		}
	})

	err = run(p.report)

	close(ended)
	events.Wait()

	if err == nil || len(p.done)+len(p.tainted) > 0 {
		done = p.result(err)
		ps.logFor(ws).Info(done)
	}

	if err != nil && len(p.done)+len(p.tainted) > 0 {
		ps.recorder.Event(ws, event.Warning(reasonApplied, errors.New(done)))
	}

	return done, err
}

func (p *progress) report(e terraform.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()

	switch e.Event {
	case "apply_start":
		p.began = p.began || e.Action != "read"
		p.running = append(p.running, e)
	case "apply_complete", "apply_errored":
		if e.Event == "apply_complete" { // Its provisioner has on_failure = continue.
			p.tainted = slices.DeleteFunc(p.tainted, func(address string) bool { return address == e.Address })
		}

		p.running = slices.DeleteFunc(p.running, func(r terraform.Progress) bool { return r.Address == e.Address })
	}

	creates := func(r terraform.Progress) bool { return r.Address == e.Address && r.Action == "create" }
	if e.Event == "provision_errored" && slices.ContainsFunc(p.running, creates) {
		p.tainted = append(p.tainted, e.Address)
	}

	// A data source that was read is nothing that was done.
	if e.Event != "apply_complete" || e.Action == "read" {
		return
	}

	p.done[e.Action]++

	if len(p.last) < maxSteps {
		p.last = append(p.last, e.Action+" "+e.Address)
	}
}

// text describes how far the run is. A provisioner waits for the programs in the background that have its output.
func (p *progress) text(background []string) string {
	p.mu.Lock()
	defer p.mu.Unlock()

	done := 0
	for _, n := range p.done {
		done += n
	}

	what := "Applying"
	if p.destroys {
		what = "Destroying"
	}

	// A plan that became stale may have had fewer steps.
	text := fmt.Sprintf("%s for %s: %d of %d done", what, spell(time.Since(p.start)), done, max(p.total, done+len(p.running)))

	if len(p.running) > 0 {
		doing, ok := map[string]string{"create": "creating", "update": "updating", "delete": "destroying", "read": "reading"}[p.running[0].Action]
		if !ok {
			doing = p.running[0].Action
		}

		text += fmt.Sprintf("; %s %s", doing, p.running[0].Address)
	}

	if len(background) > 0 {
		text += fmt.Sprintf("; a provisioner may wait for what it has started in the background: %q", background[:min(len(background), maxBackground)])
	}

	return text
}

// result returns what a run has done that ended with the supplied error.
func (p *progress) result(err error) string {
	took := spell(time.Since(p.start))
	text := fmt.Sprintf("%d added, %d changed, %d destroyed", p.done["create"], p.done["update"], p.done["delete"])

	switch {
	case err != nil:
		text += p.steps()

		if len(p.tainted) > 0 {
			made := slices.Compact(slices.Sorted(slices.Values(p.tainted)))
			text += "; created, but a provisioner failed, so that the next apply creates it once more: " + strings.Join(made[:min(len(made), maxSteps)], ", ")
		}

		// Without its duration, so that Events of equal attempts are one.
		return "Failed: " + text
	case p.destroys:
		return fmt.Sprintf("Destroyed in %s: %d destroyed%s", took, p.done["delete"], p.steps())
	case len(p.done) == 0 && len(p.outputs) > 0:
		return fmt.Sprintf("Applied in %s: only outputs changed: %s", took, strings.Join(p.outputs, ", "))
	case p.planless:
		return fmt.Sprintf("Applied in %s: %s%s", took, text, p.steps())
	default:
		return fmt.Sprintf("Applied in %s: %s", took, text)
	}
}

// steps returns the finished steps, for a run whose plan does not tell them: a destroy, one that failed, or one with a
// plan of its own.
func (p *progress) steps() string {
	if len(p.last) == 0 {
		return ""
	}

	text, more := ": "+strings.Join(p.last, ", "), -len(p.last)
	for _, n := range p.done {
		more += n
	}

	if more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}

	return text
}

// spell returns a duration with two digits, or in seconds.
func spell(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.2g s", d.Seconds())
	}

	return d.Round(time.Second).String()
}
