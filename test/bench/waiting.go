// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// sleepModule has an apply that waits, and does nothing else. The bare CLI sets the same variable
// for all modules.
const sleepModule = `
terraform {
  required_providers {
    time = { source = "hashicorp/time" }
  }
}

variable "name" {
  type    = string
  default = ""
}

variable "takes" {
  type    = string
  default = "5s"
}

resource "time_sleep" "this" {
  create_duration = var.takes
  triggers        = { name = var.name }
}
`

// waitings measures how long people wait: for Workspaces that they create, at the small rates
// that instances have by default, and for a change at a bad time.
func (b *bench) waitings(ctx context.Context, r *report) error {
	for _, rate := range b.rates {
		m := burst{Rate: rate, Module: "terraform_data", Workspaces: b.few}
		if err := b.burst(ctx, &m, dataModule); err != nil {
			return err
		}

		r.Bursts = append(r.Bursts, m)
	}

	for _, m := range []burst{{Rate: 1}, {Rate: 2, PerMinuteTarget: perMinuteTarget}} {
		m.Module, m.Workspaces = "applies of 5 s", m.Rate*b.few*3/5
		if err := b.burst(ctx, &m, sleepModule); err != nil {
			return err
		}

		r.Bursts = append(r.Bursts, m)
	}

	return b.interruptions(ctx, r)
}

// burst measures how long it takes until Workspaces that are created at once are Ready, beside
// the bare CLI, which creates one half of them before and the other half afterwards.
func (b *bench) burst(ctx context.Context, m *burst, module string) error {
	name := numbered("burst-"+m.Module[:4], m.Rate)
	names, first := namesOf(name, m.Workspaces), []string{name + "-first"}

	f, err := b.newFloor(name, module, m.Rate)
	if err != nil {
		return err
	}

	var took []time.Duration

	if err := b.withInstance(ctx, name, m.Rate, func(*instance) (err error) {
		// The costs of the first Workspace of a module are not part of the measurement.
		if err = f.create(ctx, first); err != nil {
			return err
		}

		if _, err = b.untilReady(ctx, workspacesOf(first, module)); err != nil {
			return err
		}

		f.take()

		b.sayf("rate %d, %s: bare CLI and %d Workspaces", m.Rate, m.Module, m.Workspaces)

		if err = f.create(ctx, names[:len(names)/2]); err != nil {
			return err
		}

		took, err = b.untilReady(ctx, workspacesOf(names, module))

		return err
	}, "--poll="+never.String()); err != nil {
		return err
	}

	if err := f.create(ctx, names[len(names)/2:]); err != nil {
		return err
	}

	m.Floor = f.take().Wall
	for _, part := range quantiles() {
		m.Ready = append(m.Ready, quantile(took, part))
	}

	m.P99 = quantile(took, 0.99)

	return b.clear(ctx)
}

// quantiles of the times to Ready of a burst: of its first Workspace, of parts, and of its last.
func quantiles() []float64 { return []float64{0, 0.25, 0.5, 0.75, 1} }

// A burst is how long Workspaces take that are created at once.
type burst struct {
	Module     string `json:"module"`
	Rate       int    `json:"rate"`
	Workspaces int    `json:"workspaces"`

	// Ready are the times until the first Workspace, a quarter, one half, three quarters and all
	// of them were Ready.
	Ready []float64 `json:"ready"`
	P99   float64   `json:"p99"`

	// Floor is how long the bare CLI takes.
	Floor float64 `json:"floor"`

	// PerMinuteTarget is the smallest number of Workspaces per minute, zero if there is no target.
	PerMinuteTarget float64 `json:"perMinuteTarget,omitempty"`
}

// halfTarget is for the time until one half of the Workspaces is Ready, beside that for all. As many
// as the rate are applied together: of 20 at a rate of 4 the tenth is in the third round of five.
func (m burst) halfTarget() float64 {
	rounds := func(n int) float64 { return math.Ceil(float64(n) / float64(m.Rate)) }

	return rounds((m.Workspaces+1)/2)/rounds(m.Workspaces) + halfMargin
}

func (m burst) wall() float64 { return slices.Max(m.Ready) }

func (m burst) rows() []row {
	name := func(what string) string { return fmt.Sprintf("%s, rate %d: %s", m.Module, m.Rate, what) }

	perMinute := 60 * float64(m.Workspaces) / m.wall()
	rate := row{0: name("Workspaces per minute"), 1: number(perMinute)}

	if m.PerMinuteTarget > 0 {
		rate = rate.bounded(perMinute, m.PerMinuteTarget, atLeast, number)
	}

	return []row{
		row{name(fmt.Sprintf("time for %d Workspaces", m.Workspaces)), seconds(m.wall()), seconds(m.Floor) + " bare CLI"}.judged(m.wall()/m.Floor, burstTarget, atMost),
		row{name("p50 of time to Ready"), seconds(m.Ready[2]), seconds(m.wall()) + " for all"}.judged(m.Ready[2]/m.wall(), m.halfTarget(), atMost),
		{name("first, p99 of time to Ready"), seconds(m.Ready[0]) + ", " + seconds(m.P99)},
		rate,
	}
}
