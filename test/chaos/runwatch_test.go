// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"maps"
	"path/filepath"
	"time"

	"github.com/crossplane-contrib/provider-terraform/test/chaos/record"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// watchRuns writes down the ends of runs until the context ends: a run that is killed
// cannot do so. It may see an end a little late.
func watchRuns(ctx context.Context, dir string) error {
	type key struct {
		uid string
		pid int
	}

	file, locks := filepath.Join(dir, "runs"), filepath.Join(dir, "locks")
	open, seen := map[key]bool{}, 0

	for ctx.Err() == nil {
		events, err := record.Read(file)
		if err != nil {
			return err
		}

		for _, e := range events[seen:] {
			if e.Kind == record.Start {
				open[key{uid: e.UID, pid: e.PID}] = true
			}
		}

		seen = len(events)

		for k := range maps.Clone(open) {
			held, err := record.Held(locks, k.uid, k.pid)
			if err != nil {
				return err
			}

			if held {
				continue
			}

			delete(open, k)

			if err := record.Append(file, record.Event{Kind: record.End, Time: time.Now().UnixNano(), UID: k.uid, PID: k.pid}); err != nil {
				return err
			}
		}

		// The end of the context ends the loop.
		_ = wait.For(ctx, wait.Glance)
	}

	return nil
}
