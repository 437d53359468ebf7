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

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// costWorkers is the number of workers of the instance, and of the loop around the bare CLI.
const costWorkers = 8

const (
	creation = "creation"
	restart  = "restart"
	polling  = "poll"
	deletion = "deletion"
)

const (
	dataModule = `
variable "name" { type = string }

resource "terraform_data" "this" {
  input = var.name
}

output "name" {
  value = terraform_data.this.output
}
`
	timeModule = `
terraform {
  required_providers {
    time = { source = "hashicorp/time" }
  }
}

variable "name" { type = string }

resource "time_static" "this" {
  triggers = { name = var.name }
}

output "created" {
  value = time_static.this.rfc3339
}
`
)

type namedModule struct{ name, text string }

// costModules are the modules whose Workspaces are measured, by the plugin that they need.
func costModules() []namedModule {
	return []namedModule{{name: "terraform_data", text: dataModule}, {name: "time", text: timeModule}}
}

func (b *bench) costs(ctx context.Context, r *report) error {
	for _, m := range costModules() {
		f, err := b.newFloor(m.name, m.text, costWorkers)
		if err != nil {
			return err
		}

		c := &costing{bench: b, floor: f, module: m.name, names: namesOf(m.name[:4], b.workspaces)}

		if err := c.measure(ctx, r); err != nil {
			return errors.Wrap(err, m.name)
		}
	}

	return nil
}

// A costing measures the cost of the Workspaces of one module. One half of the work of the
// floor is done before the measurement and the other half after it, so that a change of
// the load on the machine affects both.
type costing struct {
	*bench

	floor  *floor
	module string
	names  []string
}

func (c *costing) measure(ctx context.Context, r *report) error {
	// The first runs of init on a backend, if they come at the same time, break one
	// another.
	if err := c.floor.create(ctx, []string{"first"}); err != nil {
		return err
	}

	c.floor.take()

	for _, phase := range []func(context.Context) (cost, error){c.creation, c.restart, c.polling, c.deletion} {
		measured, err := phase(ctx)
		if err != nil {
			return err
		}

		r.Cost = append(r.Cost, measured)
	}

	return nil
}

func (c *costing) cost(phase string, times float64, before, after reading, floor spent) cost {
	return cost{
		Module:     c.module,
		Phase:      phase,
		Workspaces: len(c.names),
		Workers:    costWorkers,
		Times:      times,
		Instance:   after.since(before),
		Floor:      floor,
		Requests:   after.requests - before.requests,
		MaxRSS:     after.rss,
	}
}

// beside measures work of an instance that has reconciled what there is, between the two halves of
// that of the bare CLI.
func (c *costing) beside(ctx context.Context, phase string, there int, run func(context.Context, []string) error, work func(*instance) error, args ...string) (cost, error) {
	half := len(c.names) / 2

	if err := c.bare(ctx, phase, c.names[:half], run); err != nil {
		return cost{}, err
	}

	var before, after reading

	if err := c.withInstance(ctx, "cost-"+c.module, costWorkers, func(i *instance) (err error) {
		if before, err = i.readIdle(ctx, there); err != nil {
			return err
		}

		c.sayf("%s: %s of %d Workspaces", c.module, phase, len(c.names))

		if err = work(i); err != nil {
			return err
		}

		after, err = i.read(ctx)

		return err
	}, args...); err != nil {
		return cost{}, err
	}

	err := c.bare(ctx, phase, c.names[half:], run)

	return c.cost(phase, 1, before, after, c.floor.take()), err
}

// bare runs the bare CLI for modules.
func (c *costing) bare(ctx context.Context, phase string, names []string, run func(context.Context, []string) error) error {
	c.sayf("%s: bare CLI, %s of %d", c.module, phase, len(names))

	return run(ctx, names)
}

func (c *costing) creation(ctx context.Context) (cost, error) {
	var took []time.Duration

	measured, err := c.beside(ctx, creation, 0, c.floor.create, func(i *instance) (err error) {
		if took, err = c.untilReady(ctx, workspacesOf(c.names, c.floor.module)); err != nil {
			return err
		}

		return i.idle(ctx, len(c.names))
	}, "--poll="+never.String())
	if err != nil {
		return cost{}, err
	}

	measured.Instance.Wall = slices.Max(took).Seconds()
	measured.P50, measured.P99 = quantile(took, 0.5), quantile(took, 0.99)

	return measured, nil
}

// restart measures the cost of an instance that takes over from another one. No poll is due:
// with the default interval, those that became due while the bare CLI ran would count for the restart.
func (c *costing) restart(ctx context.Context) (cost, error) {
	c.sayf("%s: restart", c.module)

	var r reading

	err := c.withInstance(ctx, "cost-"+c.module, costWorkers, func(i *instance) (err error) {
		r, err = i.readIdle(ctx, len(c.names))

		return err
	}, "--poll="+never.String())

	return c.cost(restart, 1, reading{}, r, spent{}), err
}

func (c *costing) polling(ctx context.Context) (cost, error) {
	interval := time.Duration(float64(len(c.names)) / pollRate * float64(time.Second)).Round(time.Millisecond)
	run := func(ctx context.Context, names []string) error { return c.floor.poll(ctx, names, pollRate) }

	if err := c.bare(ctx, polling, c.names, run); err != nil {
		return cost{}, err
	}

	c.sayf("%s: a poll of each Workspace every %s", c.module, interval)

	var before, after reading

	if err := c.withInstance(ctx, "cost-"+c.module, costWorkers, func(i *instance) (err error) {
		// The first poll of a Workspace may come after one and a half intervals, and costs
		// more than the following ones.
		if before, err = i.readAfter(ctx, interval+interval/2); err != nil {
			return err
		}

		after, err = i.readAfter(ctx, time.Duration(c.polls)*interval)

		return err
	}, fmt.Sprintf("--poll=%s", interval), "--poll-jitter=0s"); err != nil {
		return cost{}, err
	}

	if err := c.bare(ctx, polling, c.names, run); err != nil {
		return cost{}, err
	}

	polls, floor := after.plans-before.plans, c.floor.take()
	if polls == 0 {
		return cost{}, errors.New("there were no polls")
	}

	return c.cost(polling, polls/float64(len(c.names)), before, after, floor.times(polls/floor.Runs)), nil
}

func (c *costing) deletion(ctx context.Context) (cost, error) {
	return c.beside(ctx, deletion, len(c.names), c.floor.destroy, func(*instance) error { return c.untilGone(ctx) })
}

// readAfter waits while the instance polls, and returns the resources that it has used. It
// does not scrape in between, because each scrape costs the instance CPU time.
func (i *instance) readAfter(ctx context.Context, d time.Duration) (reading, error) {
	if err := wait.For(ctx, d); err != nil {
		return reading{}, err
	}

	return i.read(ctx)
}

func (s spent) times(n float64) spent {
	return spent{Wall: s.Wall * n, Runs: s.Runs * n, Own: s.Own * n, Children: s.Children * n}
}

// quantile returns the smallest duration, in seconds, that a part of them does not
// exceed.
func quantile(all []time.Duration, part float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	n := int(math.Ceil(part*float64(len(sorted)))) - 1

	return sorted[max(n, 0)].Seconds()
}
