// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"maps"
	"slices"
)

// unsaved returns the resources that are in no version of the state although the run that
// created them, or the next process of its instance, could have saved them. States on a
// disk are not judged: their versions are not observed.
func unsaved(all []*resource, notes []note, c clock) []violation {
	var found []violation

	for _, r := range all {
		if r.saved || r.onDisk() || excuse(r.by, r.busy, notes) != "" {
			continue
		}

		found = append(found, violation{
			workspace: r.workspace,
			time:      r.begun,
			instances: instancesOf(r.by),
			text:      fmt.Sprintf("%s was created at %s by %s, which had the time to save it, and was never in the state", r.id, c.at(r.begun), r.by.actor()),
		})
	}

	return found
}

// lost returns the places where a state lost an existing resource, or became another
// state. versions are in the order in which they were stored.
func lost(all []*resource, versions []version, runs []run) []violation {
	var found []violation

	byID := map[string]*resource{}
	for _, r := range all {
		byID[r.id] = r
	}

	latest := map[string]version{}

	for _, v := range versions {
		old, known := latest[v.state]
		latest[v.state] = v

		if !known {
			continue
		}

		add := func(text string) {
			users := usersOf(v.state, runs)
			found = append(found, violation{workspace: users[0], others: besides(users[0], users[1:]...), time: v.time, text: v.state + ": " + text})
		}

		if !v.deleted && old.lineage != "" && v.lineage != old.lineage {
			add(fmt.Sprintf("the lineage was %s (serial %d) and became %s (serial %d)", old.lineage, old.serial, v.lineage, v.serial))
		}

		for _, id := range slices.Sorted(maps.Keys(old.things)) {
			r := byID[id]
			if _, ok := v.things[id]; ok || old.things[id] || r == nil || r.destroyed() != 0 {
				continue
			}

			add(fmt.Sprintf("%s is no longer in it after serial %d, but was never destroyed", id, old.serial))
		}
	}

	return found
}

// usersOf returns the names of the Workspaces that have worked with a state: at least
// one, which may be empty.
func usersOf(state string, runs []run) []string {
	var users []string

	for _, r := range runs {
		if r.state == state && !slices.Contains(users, r.workspace) {
			users = append(users, r.workspace)
		}
	}

	if len(users) == 0 {
		return []string{""}
	}

	return users
}
