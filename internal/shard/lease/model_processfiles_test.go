// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package lease

// A processFile is that of the holder of the Lease, as another process in its pod reads it.
type processFile struct {
	noProcessFiles

	// found says that there is one and its lock is free. latest says that it has the latest
	// version of the Lease.
	found, latest bool
}

func (r processFile) Last(string) string {
	switch {
	case !r.found:
		return ""
	case r.latest:
		return version{resource: "latest"}.String()
	default:
		return version{resource: "earlier"}.String()
	}
}

// fileFor returns the process file of the holder of the Lease, as process i finds it.
func (m *model) fileFor(s *state, i int) processFile {
	h := s.lease.holder
	if h == noName || h == ancestor || m.procs[h-1].place == 0 || m.procs[i].place == 0 {
		return processFile{}
	}

	of := &s.procs[h-1]
	here := m.procs[i].place == m.procs[h-1].place

	// The names of hosts may be equal, and so the names of the files.
	if !here && m.without == fileIsOfPod {
		return processFile{found: true, latest: true}
	}

	return processFile{
		found:  here && m.isUnlocked(of),
		latest: of.recorded || m.without == versionIsNeeded,
	}
}

// isUnlocked says whether the lock on the file of a process is free.
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
