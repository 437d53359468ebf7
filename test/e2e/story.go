// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// limit is how long a step may take.
const limit = 5 * time.Minute

// A step of a story.
type step struct {
	name string
	run  func(ctx context.Context, e *env) error
}

// tell runs a story. It prints each step with the time that it has taken. If a step fails, it prints what
// may explain that.
func tell(ctx context.Context, o *options, out io.Writer) error {
	steps := full()
	if o.smoke {
		steps = smoke()
	}

	// The last step uninstalls Crossplane.
	if o.keep {
		steps = steps[:len(steps)-1]
	}

	e := newEnv(o)
	defer e.stop()

	began := time.Now()

	err := runSteps(ctx, e, append([]step{{name: "start the node", run: start}}, steps...), out)
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case err != nil:
		e.explain(ctx, out)
	default:
		printStep(out, "all", began)
	}

	if o.keep {
		e.wait(ctx, out)
	}

	return err
}

func runSteps(ctx context.Context, e *env, steps []step, out io.Writer) error {
	for _, s := range steps {
		began := time.Now()

		if err := runStep(ctx, e, s); err != nil {
			return errors.Wrapf(err, "%s: failed after %.1f s", s.name, time.Since(began).Seconds())
		}

		printStep(out, s.name, began)
	}

	return nil
}

func runStep(ctx context.Context, e *env, s step) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	return s.run(ctx, e)
}
