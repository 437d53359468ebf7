// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

// The Leases at the start of worlds, and the backups.
func heldLease() content { return content{exists: true, holder: 1, names: names{1, ancestor}} }
func oldLease() content  { return content{exists: true, holder: ancestor, names: names{ancestor}} }

// worlds in which every rule holds. Each is about one interaction, and small enough to be
// explored completely.
func worlds() map[string]*model {
	replicas := []spec{{start: leading}, {start: standby}}
	fresh := []spec{{start: leading}, {start: absent}}
	shards := []spec{{start: leading}, {start: standby}, {role: other, start: leading}}
	freshShards := []spec{{start: leading}, {start: absent}, {role: other, start: leading}}
	mixed := []spec{{start: leading}, {role: other, start: leading}}
	freshMixed := []spec{{start: leading}, {role: other, start: absent}}
	restarted := []spec{{start: leading, place: 1}, {start: absent, place: 1}}
	elsewhere := []spec{{start: leading, place: 1}, {start: absent, place: 2}}
	restored := []spec{{start: leading, place: 1}, {start: standby}, {start: absent, place: 1}}
	restartedShard := []spec{{start: leading, place: 1}, {start: absent, place: 1}, {role: other, start: leading}}

	all := map[string]*model{
		// An unsharded instance, which claims nothing, and its standby.
		"Outage": {
			unsharded: true, procs: replicas, faults: faults{kills: 1, pauses: 1, stops: 1, hangs: 1},
		},
		"Tampered": {
			unsharded: true, procs: replicas, faults: faults{stops: 1, deletions: 1, emptyings: 1, restores: 1},
		},
		"PausedAndTampered": {
			unsharded: true, procs: replicas, faults: faults{pauses: 1, deletions: 1, emptyings: 1},
		},

		// A replica that starts too late to have seen the holder. An instance that is cut off or
		// paused while a person deletes its Lease is not protected from it.
		"FreshDeleted": {
			unsharded: true, connected: true, procs: fresh, faults: faults{starts: 1, deletions: 1, kills: 1, stops: 1},
		},
		"FreshTampered": {
			unsharded: true, procs: fresh, faults: faults{starts: 1, emptyings: 1, restores: 1, kills: 1, pauses: 1},
		},
		"FreshOverlap": {
			unsharded: true, connected: true, brief: true, procs: fresh, faults: faults{starts: 1, deletions: 2, hangs: 1},
		},

		// A Lease that is longer while a run is in progress.
		"Apply": {
			unsharded: true, procs: replicas, backup: heldLease(), faults: faults{applies: 1, kills: 1, hangs: 1},
		},
		"ApplyDeleted": {
			unsharded: true, procs: replicas, faults: faults{applies: 1, deletions: 1, emptyings: 1},
		},
		"ApplyRestored": {
			unsharded: true, procs: replicas, backup: heldLease(), faults: faults{applies: 1, restores: 1, pauses: 1},
		},
		"ApplyFresh": {
			unsharded: true, connected: true, procs: fresh, backup: heldLease(), faults: faults{applies: 1, starts: 1, emptyings: 1, restores: 1},
		},
		"ApplyUnsharded": {
			unsharded: true, procs: mixed, backup: heldLease(), faults: faults{applies: 1, emptyings: 1, pauses: 1, kills: 1},
		},

		// A shard with a standby, and another one that gets its Workspace.
		"ShardDeleted":  {procs: shards, faults: faults{kills: 1, deletions: 1}},
		"ShardEmptied":  {procs: shards, faults: faults{kills: 1, emptyings: 1}},
		"ShardRestored": {procs: shards, faults: faults{kills: 1, restores: 1}},
		"ShardBackup":   {procs: shards, backup: heldLease(), faults: faults{kills: 1, restores: 1}},

		// The same with a fresh standby: claims protect an instance that is cut off.
		"FreshShardDeleted":  {procs: freshShards, faults: faults{starts: 1, deletions: 1}},
		"FreshShardEmptied":  {procs: freshShards, faults: faults{starts: 1, emptyings: 1}},
		"FreshShardRestored": {procs: freshShards, faults: faults{starts: 1, restores: 1}},

		// An unsharded instance next to a shard.
		"Unsharded": {
			unsharded: true, procs: mixed, faults: faults{kills: 1, pauses: 1, deletions: 1, emptyings: 1, restores: 1},
		},
		"UnshardedTampered": {
			unsharded: true, procs: freshMixed, faults: faults{starts: 1, kills: 1, emptyings: 1, restores: 1},
		},

		// An instance that is started again in the same pod.
		"Restarted": {
			unsharded: true, procs: restarted, faults: faults{starts: 1, kills: 1, pauses: 1, stops: 1, hangs: 1},
		},
		"RestartedTampered": {
			unsharded: true, procs: restarted, backup: heldLease(), faults: faults{starts: 1, kills: 1, emptyings: 1, restores: 1},
		},
		"RestartedApply": {
			unsharded: true, procs: restarted, backup: heldLease(), faults: faults{applies: 1, starts: 1, kills: 1, hangs: 1},
		},
		"RestartedElsewhere": {
			unsharded: true, procs: elsewhere, faults: faults{starts: 1, kills: 1, pauses: 1, hangs: 1},
		},
		"RestartedRestored": {
			unsharded: true, procs: restored, backup: heldLease(), faults: faults{starts: 1, kills: 1, restores: 1},
		},
		"RestartedShard": {
			procs: restartedShard, backup: heldLease(), faults: faults{starts: 1, kills: 1, restores: 1},
		},
	}

	for _, m := range all {
		m.lease = heldLease()
		if !m.backup.exists {
			m.backup = oldLease()
		}
	}

	return all
}
