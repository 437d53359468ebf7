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

type progress struct {
	mu   sync.Mutex
	done int

	// running are the resources that were begun and are not done, oldest first.
	running []terraform.Progress
}

// maxBackground is the number of programs in the background that an Event names.
const maxBackground = 3

// withProgress calls run, and records Events about its progress, one at each interval. A run that
// ends before the first interval has none. It uses a timer because the CLI does not report often
// enough: OpenTofu 1.12 reports nothing more of a resource that takes longer than ten seconds.
func withProgress(r event.Recorder, o runtime.Object, background func() []string, run func(report func(terraform.Progress)) error) error {
	p, due, ended := &progress{}, time.NewTicker(progressInterval), make(chan struct{})
	// The run may write to the object.
	o = o.DeepCopyObject()

	events := sync.WaitGroup{}
	events.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-due.C:
				r.Event(o, event.Normal(reasonProgress, p.text(background())))
			}
		}
	})

	defer events.Wait()
	defer close(ended)
	defer due.Stop()

	return run(p.report)
}

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

// text describes the progress. A provisioner waits for the programs in the background that have its output.
func (p *progress) text(background []string) string {
	p.mu.Lock()
	defer p.mu.Unlock()

	text := fmt.Sprintf("%d resources done", p.done)
	if len(p.running) > 0 {
		text += fmt.Sprintf("; %s: %s", p.running[0].Address, p.running[0].Action)
	}

	if len(background) > 0 {
		text += fmt.Sprintf("; a provisioner may wait for what it has started in the background: %q", background[:min(len(background), maxBackground)])
	}

	return text
}
