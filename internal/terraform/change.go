// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
)

const (
	maxChanges   = 20  // The number of changes of each kind that a Plan names.
	maxDeletions = 50  // The number of deletions that a person who approves them sees.
	maxAddress   = 256 // The length of an address in it, in bytes.
)

// A ResourceChange is a planned change of one resource instance.
type ResourceChange struct {
	// Action is create, update, replace, delete, import, move, or remove, which removes the instance
	// from the state only.
	Action  string
	Address string
	// Previous is the address of the instance in the state, if the plan moves it.
	Previous string
	// Imports says that the plan imports the instance, which exists already.
	Imports bool
	// Forgets says that a replacement leaves the old instance behind, because the module says destroy = false.
	Forgets bool
}

// Deletes reports whether the change deletes something that exists, or forgets it to create another one.
func (c ResourceChange) Deletes() bool { return c.Action == "delete" || c.Action == "replace" }

// DeletesImport reports whether the change deletes what it imports.
func (c ResourceChange) DeletesImport() bool { return c.Imports && c.Deletes() }

// String returns the action and the address.
func (c ResourceChange) String() string { return c.Action + " " + c.Address }

// Deletions are everything that a plan deletes or replaces.
type Deletions struct {
	Count int
	// Forgotten is how many of them are replacements that forget what they replace: Summary.Destroy does not count them.
	Forgotten int
	// First has the first 50 addresses, those in the state, without secrets and cut to 256 bytes.
	First []string
	// Secret says that one of the addresses has a secret, so that others may look the same.
	Secret bool
	// Digest of all actions and addresses, without secrets. The CLI prints them in an order that differs from run to run.
	Digest string
}

func (ws Workspace) deletions(changes []ResourceChange) Deletions {
	d := Deletions{Count: len(changes)}
	if d.Count == 0 {
		return d
	}

	first := firsts[string]{order: cmp.Compare[string], max: maxDeletions}
	all := make([]string, 0, len(changes))

	for _, c := range changes {
		if c.Forgets {
			d.Forgotten++
		}

		address := cmp.Or(c.Previous, c.Address)
		line := c.Action + " " + address + " " + c.Address

		shown := ws.redacted(line)
		d.Secret = d.Secret || shown != line

		first.add(ws.shown(address))
		all = append(all, shown)
	}

	slices.Sort(all)

	text, _ := json.Marshal(all) // Strings always can be.
	d.First, d.Digest = first.kept, fmt.Sprintf("%x", sha256.Sum256(text))

	return d
}

// shown returns an address without secrets, and of limited length.
func (ws Workspace) shown(address string) string {
	return Truncate(oneLine(ws.redacted(address)), maxAddress)
}

// shows returns progress, if it is not nil, with the addresses as people see them.
func (ws Workspace) shows(progress func(Progress)) func(Progress) {
	if progress == nil {
		return nil
	}

	return func(p Progress) {
		p.Address = ws.shown(p.Address)
		progress(p)
	}
}

// byLoss orders changes by what they delete, then by address.
func byLoss(a, b ResourceChange) int {
	return cmp.Or(before(a.DeletesImport(), b.DeletesImport()), before(a.Deletes(), b.Deletes()), cmp.Compare(a.Address, b.Address))
}
