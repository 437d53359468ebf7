// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package queue decides the order of items that wait for a worker.
package queue

import "slices"

// A Priority says how urgent an item is.
type Priority int

// The priorities.
const (
	// Routine items are not urgent, such as polls.
	Routine Priority = iota

	// Urgent items are those that a person waits for.
	Urgent

	priorities
)

// patience is the number of urgent items that precede a waiting routine one. Without it, users
// who change Workspaces all the time would stop all polls.
const patience = 8

// A Class decides the order of an item.
type Class struct {
	Priority Priority

	// Tenant is the owner of the item.
	Tenant string
}

// A FairQueue is a storage for the items of a work queue: a workqueue.Queue of client-go. Urgent
// items precede routine ones. Among items of the same priority, tenants take turns, regardless of how
// many items each of them has. A FairQueue must not be used concurrently.
type FairQueue[T comparable] struct {
	class func(T) Class

	// lines holds the waiting items, by priority.
	lines [priorities]line[T]

	// where has the class under which each item waits.
	where map[T]Class

	// urgent counts the consecutive urgent items that preceded a waiting routine one.
	urgent int
}

// NewFairQueue returns an empty FairQueue that asks class for the class of an item when it is
// pushed or touched.
func NewFairQueue[T comparable](class func(T) Class) *FairQueue[T] {
	return &FairQueue[T]{class: class, where: map[T]Class{}}
}

// Push adds an item.
func (q *FairQueue[T]) Push(item T) {
	c := q.class(item)
	q.where[item] = c
	q.lines[c.Priority].push(c.Tenant, item)
}

// Touch is called when an item that already waits is added again: it may have become urgent.
func (q *FairQueue[T]) Touch(item T) {
	if was, ok := q.where[item]; ok && q.class(item).Priority > was.Priority {
		q.Remove(item)
		q.Push(item)
	}
}

// Remove removes an item, if it waits.
func (q *FairQueue[T]) Remove(item T) {
	if c, ok := q.where[item]; ok {
		q.lines[c.Priority].remove(c.Tenant, item)
		delete(q.where, item)
	}
}

// Len returns the number of items.
func (q *FairQueue[T]) Len() int { return len(q.where) }

// Pop removes the next item and returns it. It returns the zero value if there is none.
func (q *FairQueue[T]) Pop() T {
	line := &q.lines[Urgent]

	switch {
	case q.lines[Routine].empty():
		q.urgent = 0
	case line.empty() || q.urgent >= patience:
		q.urgent = 0
		line = &q.lines[Routine]
	default:
		q.urgent++
	}

	item := line.pop()
	delete(q.where, item)

	return item
}

// A line holds items of one priority.
type line[T comparable] struct {
	// turns has the tenants that have items, the next one first.
	turns []string
	items map[string][]T
}

func (l *line[T]) empty() bool { return len(l.turns) == 0 }

func (l *line[T]) push(tenant string, item T) {
	if l.items == nil {
		l.items = map[string][]T{}
	}

	if len(l.items[tenant]) == 0 {
		l.turns = append(l.turns, tenant)
	}

	l.items[tenant] = append(l.items[tenant], item)
}

func (l *line[T]) pop() T {
	if l.empty() {
		return *new(T)
	}

	tenant := l.turns[0]
	l.turns = l.turns[1:]
	item := l.items[tenant][0]

	if rest := l.items[tenant][1:]; len(rest) > 0 {
		l.items[tenant] = rest
		l.turns = append(l.turns, tenant)
	} else {
		delete(l.items, tenant)
	}

	return item
}

func (l *line[T]) remove(tenant string, item T) {
	rest := slices.DeleteFunc(l.items[tenant], func(i T) bool { return i == item })
	if len(rest) > 0 {
		l.items[tenant] = rest

		return
	}

	delete(l.items, tenant)
	l.turns = slices.DeleteFunc(l.turns, func(t string) bool { return t == tenant })
}
