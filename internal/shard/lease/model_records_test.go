// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

// A recordOf is the record of the holder of the Lease, as another process in its pod reads it.
type recordOf struct {
	noRecords

	// found says that there is one and its lock is free. latest says that it has the latest
	// version of the Lease.
	found, latest bool
}

func (r recordOf) Last(string) string {
	switch {
	case !r.found:
		return ""
	case r.latest:
		return version{resource: "latest"}.String()
	default:
		return version{resource: "earlier"}.String()
	}
}

// recordFor returns the record of the holder of the Lease, as process i finds it.
func (m *model) recordFor(s *state, i int) recordOf {
	h := s.lease.holder
	if h == noName || h == ancestor || m.procs[h-1].place == 0 || m.procs[i].place == 0 {
		return recordOf{}
	}

	of := &s.procs[h-1]
	here := m.procs[i].place == m.procs[h-1].place

	// The names of hosts may be equal, and so the names of the records.
	if !here && m.without == recordIsOfPod {
		return recordOf{found: true, latest: true}
	}

	return recordOf{
		found:  here && m.isUnlocked(of),
		latest: of.recorded || m.without == versionIsNeeded,
	}
}

// isUnlocked says whether the lock on the record of a process is free.
func (m *model) isUnlocked(p *process) bool {
	switch m.without {
	case lockIsNeeded:
		return true
	case childrenHoldLock:
		return p.status == gone
	default:
		return p.status == gone && !p.runs
	}
}
