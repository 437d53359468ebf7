// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// progressInterval is the time between two events about one run.
const progressInterval = 30 * time.Second

const reasonProgress event.Reason = "ApplyProgress"

// A progress tells people how far a long run is, with an event now and then. A run
// that is over before the first one is due has none. It is safe for concurrent use.
type progress struct {
	record event.Recorder
	object runtime.Object
	now    func() time.Time

	mu   sync.Mutex
	last time.Time
	done int
}

func newProgress(r event.Recorder, o runtime.Object, now func() time.Time) *progress {
	return &progress{record: r, object: o, now: now, last: now()}
}

// report what the CLI says of one resource.
func (p *progress) report(e terraform.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if e.Event == "apply_complete" {
		p.done++
	}

	now := p.now()
	if now.Sub(p.last) < progressInterval {
		return
	}

	p.last = now
	p.record.Event(p.object, event.Normal(reasonProgress, fmt.Sprintf("%d resources done; %s: %s", p.done, e.Address, e.Action)))
}
