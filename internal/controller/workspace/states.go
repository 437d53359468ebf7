// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import "sync"

// States are the Terraform workspaces that an instance works with at the moment, by
// name: two Workspaces, which may be of different kinds, can mean the same one. They may
// also mean two that have the same name in two backends, which is not told apart. It is
// safe for concurrent use.
type States struct {
	mu    sync.Mutex
	users map[string]int
}

// NewStates returns States that nobody uses.
func NewStates() *States { return &States{users: map[string]int{}} }

// use the Terraform workspace of the supplied name until the returned function is
// called.
func (s *States) use(name string) func() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.users[name]++

	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()

		if s.users[name]--; s.users[name] == 0 {
			delete(s.users, name)
		}
	}
}

// shared says whether anybody but the one who asks uses the Terraform workspace of the
// supplied name.
func (s *States) shared(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.users[name] > 1
}
