// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// moment is how much later than it happens an end may be seen.
const moment = time.Second / 2

// respite is how long a process that is alive may need to save a state after the API
// server, which keeps it, is back.
const respite = 10 * time.Second

// unsaved returns the resources that are in no version of the state although the run
// that created them, or its instance after it, could have saved them. killed are, by
// process, when it was killed, and ended when it ended in any way; outages are when
// there was no API server. A state that could not be saved is on the disk of the
// instance: if that ends before the API server is back, and somebody with another disk
// takes over, nobody knows of it.
func unsaved(all []*resource, runs []run, killed, ended map[string]int64, outages []outage, c clock) []violation {
	var found []violation

	for _, r := range all {
		if r.saved || cutShort(runs, r, killed) || homeless(runs, r, ended, outages) {
			continue
		}

		found = append(found, violation{
			workspace: r.workspace,
			time:      r.begun,
			instances: creators(runs, r),
			text:      fmt.Sprintf("%s was created at %s by %s, which was not killed, and never got into the state", r.id, c.at(r.begun), creator(runs, r)),
		})
	}

	return found
}

// cutShort says whether the run that created the resource was killed with its instance.
// Both ends are seen a moment after they happen.
func cutShort(runs []run, r *resource, killed map[string]int64) bool {
	by := creation(runs, r)
	if by == nil {
		return false
	}

	at, ok := killed[by.instance]

	return ok && (by.end == 0 || by.end > at-int64(moment))
}

// homeless says whether the run that created the resource ended without an API server,
// and its instance ended before there was one again for long enough: one that cannot
// renew its Lease has to.
func homeless(runs []run, r *resource, ended map[string]int64, outages []outage) bool {
	by := creation(runs, r)
	if by == nil {
		return false
	}

	at, ok := ended[by.instance]

	return ok && slices.ContainsFunc(outages, func(o outage) bool {
		return by.end > o.start && by.end < o.end+int64(moment) && at < o.end+int64(respite)
	})
}

// lost returns where a state stopped to know of what still exists, or became another
// state. versions are in the order in which they were stored.
func lost(all []*resource, versions []version) []violation {
	var found []violation

	byID := map[string]*resource{}
	for _, r := range all {
		byID[r.id] = r
	}

	latest := map[string]version{}

	for _, v := range versions {
		old, known := latest[v.workspace]
		latest[v.workspace] = v

		if !known {
			continue
		}

		if !v.deleted && old.lineage != "" && v.lineage != old.lineage {
			found = append(found, violation{workspace: v.workspace, time: v.time, text: fmt.Sprintf("the lineage of the state was %s (serial %d) and became %s (serial %d)", old.lineage, old.serial, v.lineage, v.serial)})
		}

		for _, id := range slices.Sorted(maps.Keys(old.things)) {
			r := byID[id]
			if _, ok := v.things[id]; ok || old.things[id] || r == nil || r.destroyed != 0 {
				continue
			}

			found = append(found, violation{workspace: v.workspace, time: v.time, text: fmt.Sprintf("%s is no longer in the state after serial %d, but was never destroyed", id, old.serial)})
		}
	}

	return found
}
