// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A kind is a kind of fault: of things that happen to the system while it works.
type kind string

const (
	relabel   kind = "relabel"   // Give a Workspace to another shard.
	unlabel   kind = "unlabel"   // Take the label from a Workspace.
	change    kind = "change"    // Change an input of a Workspace: an update in place.
	replace   kind = "replace"   // Change one so that it replaces its resource.
	create    kind = "create"    // Create a Workspace.
	remove    kind = "remove"    // Delete a Workspace.
	kill      kind = "kill"      // SIGKILL an instance, and start it again later.
	terminate kind = "terminate" // SIGTERM an instance, and start it again later.
	pause     kind = "pause"     // SIGSTOP an instance, mostly for longer than a Lease lasts, and SIGCONT it.
	restart   kind = "restart"   // SIGKILL the API server, and start it again later.

	hang   kind = "hang"    // Requests of an instance are accepted, and arrive late or never.
	delay  kind = "delay"   // Requests and answers take long.
	refuse kind = "refuse"  // Connections break, and new ones do, too.
	oneWay kind = "one-way" // Requests arrive, answers do not come back.
	outage kind = "outage"  // Requests of all instances hang.
	drain  kind = "drain"   // SIGTERM an instance while its requests hang.

	deleteLease  kind = "delete-lease"  // Delete the Lease of an instance.
	emptyLease   kind = "empty-lease"   // Take the holder from the Lease of an instance.
	restoreLease kind = "restore-lease" // Put back an older copy of the Lease of an instance.

	putBack kind = "put-back" // Replace a Workspace by an older manifest of it.
	restore kind = "restore"  // Delete a Workspace and create it again, from a backup.
	copying kind = "copy"     // Create a copy of a Workspace, annotations included.

	twins   kind = "twins"   // Create two Workspaces with one state, by different configurations.
	cousins kind = "cousins" // Create two Workspaces with two states, by one configuration.
	fail    kind = "fail"    // Make the next apply of a Workspace fail halfway.
	lose    kind = "lose"    // Kill the instance of a Workspace without a backend, and remove the directory of that.
	leak    kind = "leak"    // Create a Workspace that fails, and prints a secret.

	slow kind = "slow" // The machine has no time. It is no fault of the schedule.
)

// A weighted kind happens as often as the weight says, relative to the others.
type weighted struct {
	kind   kind
	weight int
}

// classes returns all kinds of faults, in classes that the command line names.
func classes() map[string][]weighted {
	return map[string][]weighted{
		"label":   {{relabel, 14}, {unlabel, 4}},
		"spec":    {{change, 8}, {replace, 10}, {create, 6}, {remove, 5}},
		"process": {{kill, 5}, {terminate, 3}, {pause, 5}},
		"server":  {{restart, 4}},
		"proxy":   {{hang, 8}, {delay, 3}, {refuse, 3}, {oneWay, 6}, {outage, 4}, {drain, 5}},
		"lease":   {{deleteLease, 5}, {emptyLease, 4}, {restoreLease, 4}},
		"replace": {{putBack, 8}, {restore, 3}},
		"copy":    {{copying, 6}},
		"twins":   {{twins, 5}},
		"cousins": {{cousins, 5}, {fail, 4}},
		"disk":    {{lose, 4}},
		"secrets": {{leak, 4}},
	}
}

// parseClasses returns the kinds of the named classes, which are separated by commas, or
// of all. Every mix has the class spec: without it there is nothing to do.
func parseClasses(names string) ([]weighted, error) {
	all := classes()

	wanted := append(strings.Split(names, ","), "spec")

	if names == "all" {
		wanted = sorted(all)
	}

	slices.Sort(wanted)

	var kinds []weighted

	for _, name := range slices.Compact(wanted) {
		class, ok := all[name]
		if !ok {
			return nil, errors.Errorf("there are no faults %q: use all, or some of %s", name, strings.Join(sorted(all), ","))
		}

		kinds = append(kinds, class...)
	}

	return kinds, nil
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
