// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Lock is what the holder of a state lock wrote into it. Any field may be empty.
type Lock struct {
	ID        string
	Operation string // OperationTypeApply, for example.
	Who       string // USER@HOST
	Created   string // As written by the holder.
}

// Host returns the host of the holder, if it is known.
func (l Lock) Host() string {
	_, host, _ := strings.Cut(l.Who, "@")

	return host
}

// Since returns when the lock was made, by the clock of that host.
func (l Lock) Since() (time.Time, error) {
	// Both CLIs print the time in Go's format.
	return time.Parse("2006-01-02 15:04:05.999999999 -0700 MST", l.Created)
}

// ForPlan says whether a plan may have made the lock: a plan with a lock, or any plan if the
// backend makes an empty state first. Such a lock protects no change.
func (l Lock) ForPlan() bool { return l.Operation == "OperationTypePlan" || l.MakesState() }

// MakesState says whether a backend has made the lock to make a state, as the kubernetes backend does.
func (l Lock) MakesState() bool { return l.Operation == "init" }

// IsLocked reports whether err is the refusal to use a state that another run has locked.
func IsLocked(err error) bool {
	return anyError(err, Diagnostic.locked)
}

// IsInitRace reports whether err is the error of an init that ran at the same time as another init
// with the same backend. The first one makes an empty state, and locks it for a moment. The remedy
// is to repeat the init.
func IsInitRace(err error) bool {
	// That backend does not always recognize an existing lock as one.
	return isOf(err, opInit) && (IsLocked(err) || says(err, "lock-tfstate-"+DefaultWorkspace))
}

// LockOf returns the lock that made IsLocked(err) true, if the backend says whose it is.
func LockOf(err error) (l Lock, ok bool) {
	ok = anyError(err, func(d Diagnostic) bool {
		if d.locked() {
			l = parseLock(d.Summary + "\n" + d.Detail)
		}

		return l != (Lock{})
	})

	return l, ok
}

// holder matches what the http backend says about the lock that it has found.
var holder = regexp.MustCompile(`HTTP remote state already locked:\s+ID=(\S+)`)

// HolderOf returns the ID of the lock that made IsLocked(err) true, if the http backend says so. The lock information
// of Terraform is there that of the lock that it wanted.
func HolderOf(err error) (id string) {
	anyError(err, func(d Diagnostic) bool {
		if m := holder.FindStringSubmatch(d.Detail); m != nil && d.locked() {
			id = m[1]
		}

		return id != ""
	})

	return id
}

func (d Diagnostic) locked() bool {
	// A resource may show the text of another CLI that it runs.
	if d.rank() != rankNothing {
		return false
	}

	// The failure to release a lock has the same lock information. The second text is that of the
	// kubernetes backend when it makes a state.
	return !d.says("Error releasing the state lock", "unlocking the state in Kubernetes failed") && d.says("Error acquiring the state lock", "Error locking state", "Lock Info:")
}

// lockField matches a line of the lock information, which all backends print in the same form.
var lockField = regexp.MustCompile(`^\s*(ID|Operation|Who|Created):\s+(.*)$`)

func parseLock(text string) Lock {
	var l Lock

	fields := map[string]*string{"ID": &l.ID, "Operation": &l.Operation, "Who": &l.Who, "Created": &l.Created}

	_, info, _ := strings.Cut(text, "Lock Info:")
	for line := range strings.Lines(info) {
		if m := lockField.FindStringSubmatch(strings.TrimRight(line, " \r\n")); m != nil {
			*fields[m[1]] = m[2]
		}
	}

	return l
}

// Unlock removes the lock of the supplied ID, regardless of its holder. Without such a lock it fails. args are
// further arguments.
func (c *CLI) Unlock(ctx context.Context, ws Workspace, id string, args ...string) error {
	return c.runLogged(ctx, ws, command{op: "force-unlock", args: slices.Concat([]string{"force-unlock", "-force", "-no-color"}, args, []string{"--", id}), inWorkspace: true})
}
