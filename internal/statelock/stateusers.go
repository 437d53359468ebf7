// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statelock

import "sync"

// StateUsers counts, by name, the current users of each Terraform workspace of an instance. Two
// Workspaces, even of different kinds, can use the same one. Workspaces of the same name in two
// backends are not distinguished. It is safe for concurrent use.
type StateUsers struct {
	mu    sync.Mutex
	users map[string]int
}

// NewStateUsers returns StateUsers without any.
func NewStateUsers() *StateUsers { return &StateUsers{users: map[string]int{}} }

// Use the Terraform workspace of the supplied name until the returned function is called.
func (s *StateUsers) Use(name string) (done func()) {
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

// UsedByOthers says whether the Terraform workspace of the supplied name has another user than
// the caller, who must be one.
func (s *StateUsers) UsedByOthers(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.users[name] > 1
}
