// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

// worlds in which every rule holds. Together they cover everything in the model. Each is small
// enough to be explored completely.
func worlds() map[string]*model {
	return map[string]*model{
		"Restart": {
			roles: []role{shardA, shardB, shardA}, start: []status{leading, leading, absent},
			labels: []label{labelA, labelB}, faults: faults{relabels: 2, kills: 1, losses: 1},
		},
		"Stop": {
			roles: []role{shardA, shardB, shardA}, start: []status{leading, leading, absent},
			labels: []label{labelA, labelB}, faults: faults{relabels: 2, pauses: 1, stops: 1},
		},
		"Unsharded": {
			roles: []role{shardA, unsharded}, start: []status{leading, absent},
			labels: []label{labelA, labelB}, faults: faults{relabels: 2, pauses: 1, losses: 1, kills: 1},
		},
		"TwoUnsharded": {
			roles: []role{unsharded, unsharded}, start: []status{leading, absent}, ungated: true,
			labels: []label{labelA}, faults: faults{kills: 1, stops: 1, losses: 2, repeats: 1},
		},
		"CatchAll": {
			roles: []role{catchAll, shardA}, start: []status{absent, leading},
			labels: []label{unlabelled, labelA}, faults: faults{relabels: 2, stops: 1, kills: 1},
		},
		"Lossy": {
			roles: []role{shardA, shardB}, start: []status{leading, leading},
			labels: []label{labelA, labelB}, faults: faults{relabels: 3, losses: 2},
		},
		"Misled": {
			roles: []role{shardA, shardB}, start: []status{leading, leading},
			labels: []label{labelA, labelB}, faults: faults{relabels: 1, repeats: 1, denials: 1, losses: 1, writes: 1},
		},
		"Over": {
			roles: []role{shardA, shardB, shardA}, start: []status{leading, leading, absent},
			labels: []label{labelA, labelB}, faults: faults{relabels: 2, outages: 1, stops: 1},
		},
		"Status": {
			roles: []role{shardA, shardB}, start: []status{leading, leading},
			labels: []label{labelA, labelB}, faults: faults{relabels: 1, writes: 1, losses: 1, kills: 1},
		},
		"UnshardedStatus": {
			roles: []role{shardA, unsharded}, start: []status{leading, leading},
			labels: []label{labelA, labelB}, faults: faults{relabels: 1, writes: 1, losses: 1, kills: 1},
		},
		"Erased": {
			roles: []role{shardA, shardB, shardA}, start: []status{leading, leading, absent},
			labels: []label{labelA}, faults: faults{erasures: 2, writes: 1, losses: 1, kills: 1},
		},
		"Restored": {
			roles: []role{shardA, shardB, shardA}, start: []status{leading, leading, absent},
			labels: []label{labelA}, faults: faults{restores: 2, kills: 1, writes: 1, losses: 1},
		},
		"Copied": {
			roles: []role{shardA, shardB}, start: []status{leading, leading},
			labels: []label{labelA, labelB}, faults: faults{relabels: 1, copies: 1, losses: 1, writes: 1},
		},
	}
}
