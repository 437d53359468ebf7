// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// progressInterval is the time between two events about one run.
const progressInterval = 30 * time.Second

const reasonProgress event.Reason = "ApplyProgress"

// A progress records Events about the progress of a long run, one at each interval. A run that ends
// before the first interval has none. The caller must call end.
type progress struct {
	recorder event.Recorder
	object   runtime.Object

	ended  chan struct{}
	teller sync.WaitGroup

	// mu guards the fields below.
	mu   sync.Mutex
	done int

	// running are the resources that were begun and are not done, oldest first.
	running []terraform.Progress
}

// newProgress begins to report a run for the supplied object.
func newProgress(r event.Recorder, o runtime.Object) *progress {
	// The caller may write to the object during the run.
	p := &progress{recorder: r, object: o.DeepCopyObject(), ended: make(chan struct{})}
	p.teller.Go(p.tell)

	return p
}

// end ends the report of the run. There are no events afterwards.
func (p *progress) end() {
	close(p.ended)
	p.teller.Wait()
}

// tell records an Event about the progress of the run. It uses a timer because the CLI does not
// report often enough: OpenTofu 1.12 reports nothing more of a resource that takes longer than ten
// seconds.
func (p *progress) tell() {
	due := time.NewTicker(progressInterval)
	defer due.Stop()

	for {
		select {
		case <-p.ended:
			return
		case <-due.C:
			p.recorder.Event(p.object, event.Normal(reasonProgress, p.String()))
		}
	}
}

// report records a message of the CLI about one resource.
func (p *progress) report(e terraform.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()

	switch e.Event {
	case "apply_start":
		p.running = append(p.running, e)
	case "apply_complete", "apply_errored":
		p.running = slices.DeleteFunc(p.running, func(r terraform.Progress) bool { return r.Address == e.Address })
	}

	if e.Event == "apply_complete" {
		p.done++
	}
}

func (p *progress) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()

	text := fmt.Sprintf("%d resources done", p.done)
	if len(p.running) > 0 {
		text += fmt.Sprintf("; %s: %s", p.running[0].Address, p.running[0].Action)
	}

	return text
}
