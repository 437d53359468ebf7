// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// parts of the benchmark, in the order in which they run.
func parts() []string { return []string{"cost", "waiting", "scaling", "memory", "elastic"} }

// options of the benchmark.
type options struct {
	// out is the directory to write to, "" for none.
	out  string
	draw bool

	// parts to run.
	parts list[string]

	// workspaces of the parts about cost, workers of the instance, polls for each
	// Workspace, and polls per second in all.
	workspaces, workers, polls int
	pollRate                   float64

	// rates of an instance that creates a few Workspaces at once, and overdue is how many are
	// polled at once.
	rates        list[int]
	few, overdue int

	// shards to run slow applies on at the same time: each number once. slow is how
	// many Workspaces each of them has, and takes how long each apply waits.
	shards list[int]
	slow   int
	takes  time.Duration

	// sizes are numbers of Workspaces in memory, which split shards share.
	sizes list[int]
	split int
}

func parseOptions(args []string) (*options, error) {
	o := &options{parts: parts(), rates: list[int]{1, 2, 4}, shards: list[int]{1, 2, 3, 4}, sizes: list[int]{1000, 5000, 10000}}
	quick := false

	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.BoolVar(&quick, "quick", false, "smaller sizes, for a run of about two minutes")
	f.StringVar(&o.out, "out", "", "write benchmarks.json, charts and the table of benchmarks.md to this `directory`")
	f.BoolVar(&o.draw, "draw", false, "measure nothing, draw the existing benchmarks.json")
	f.Func("parts", "parts to measure: "+strings.Join(parts(), ","), o.parts.set(func(s string) (string, error) {
		if !slices.Contains(parts(), s) {
			return "", errors.Errorf("there is no part %q", s)
		}

		return s, nil
	}))
	f.IntVar(&o.workspaces, "n", 120, "`Workspaces` to create and poll")
	f.IntVar(&o.workers, "workers", 8, "workers of the instance, and of the loop around the bare CLI")
	f.IntVar(&o.polls, "polls", 2, "polls of each Workspace")
	f.Float64Var(&o.pollRate, "poll-rate", 6, "polls per second, of all Workspaces")
	f.Func("rates", "rates at which a few Workspaces are created: 1,2,4", o.rates.set(strconv.Atoi))
	f.IntVar(&o.few, "few", 20, "`Workspaces` to create at each of these rates")
	f.IntVar(&o.overdue, "overdue", 100, "`Workspaces` to poll at once")
	f.Func("shards", "how many shards to compare: 1,2,3,4", o.shards.set(strconv.Atoi))
	f.IntVar(&o.slow, "slow", 6, "slow `Workspaces` of each shard")
	f.DurationVar(&o.takes, "takes", 10*time.Second, "how long a slow apply waits")
	f.Func("sizes", "how many Workspaces to keep in memory: 1000,5000,10000", o.sizes.set(strconv.Atoi))
	f.IntVar(&o.split, "split", 4, "shards that share the Workspaces in memory")

	if err := f.Parse(args); err != nil {
		return nil, err
	}

	if quick {
		o.shrink(f)
	}

	return o, o.validate()
}

// shrink makes all sizes smaller that the user has not set.
func (o *options) shrink(f *flag.FlagSet) {
	asked := map[string]bool{}

	f.Visit(func(f *flag.Flag) { asked[f.Name] = true })

	for name, fn := range map[string]func(){
		"n":       func() { o.workspaces = 24 },
		"polls":   func() { o.polls = 1 },
		"rates":   func() { o.rates = list[int]{2} },
		"few":     func() { o.few = 8 },
		"overdue": func() { o.overdue = 20 },
		"shards":  func() { o.shards = list[int]{1, 4} },
		"slow":    func() { o.slow = 2 },
		"takes":   func() { o.takes = 3 * time.Second },
		"sizes":   func() { o.sizes = list[int]{1000} },
	} {
		if !asked[name] {
			fn()
		}
	}
}

func (o *options) validate() error {
	if o.draw && o.out == "" {
		return errors.New("-draw needs -out: the directory of benchmarks.json")
	}

	for name, n := range map[string]int{"n": o.workspaces, "workers": o.workers, "polls": o.polls, "slow": o.slow, "overdue": o.overdue, "rates": slices.Min(o.rates), "split": o.split, "shards": slices.Min(o.shards), "sizes": slices.Min(o.sizes)} {
		if n < 1 {
			return errors.Errorf("-%s is %d: it must be 1 or greater", name, n)
		}
	}

	if o.few < 2 {
		return errors.Errorf("-few is %d: it must be 2 or greater", o.few)
	}

	if o.pollRate <= 0 {
		return errors.Errorf("-poll-rate is %g: it must be greater than 0", o.pollRate)
	}

	return nil
}

// A list is a flag of values with commas in between.
type list[T any] []T

func (l *list[T]) set(parse func(string) (T, error)) func(string) error {
	return func(s string) error {
		*l = nil

		for text := range strings.SplitSeq(s, ",") {
			v, err := parse(text)
			if err != nil {
				return err
			}

			*l = append(*l, v)
		}

		return nil
	}
}
