// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package claim

// Wrong says that two processes work on one Workspace.
func (m *model) Wrong(s *state) string {
	for w := range m.spaces {
		var workers [uids]int

		for p := range m.roles {
			if is := &s.procs[p].work[w]; is.step == working {
				workers[is.uid]++
			}
		}

		for _, n := range workers {
			if n > 1 {
				return twoWorkers
			}
		}
	}

	return ""
}

// Goals are the number of Workspaces: each must be worked on by an instance that is to serve it.
func (m *model) Goals() int { return m.spaces }

// Reached says that an instance that is to serve a Workspace works on it.
func (m *model) Reached(s *state, w int) bool {
	for p, r := range m.roles {
		is := &s.procs[p].work[w]
		if is.step == working && is.uid == s.uid[w] && m.serves[r][s.label[w]] {
			return true
		}
	}

	return false
}

// Due says that there is an instance that is to serve a Workspace.
func (m *model) Due(s *state, w int) bool {
	for p, r := range m.roles {
		at := s.procs[p].status
		leads := at == leading && s.lease[r].holder == name(p+1)

		if (at == standby || leads) && !s.procs[p].paused && m.serves[r][s.label[w]] {
			return true
		}
	}

	return false
}

// Fault says that later moves do not depend on a move.
func (m *model) Fault(e move) bool { return e.kind <= cannotReadLease }
