// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// A script is a watch with predefined events.
type script chan watch.Event

func (s script) ResultChan() <-chan watch.Event { return s }
func (s script) Stop()                          {}

// follows makes a witness follow events.
func follows(w *witness, events ...watch.Event) {
	s := make(script, len(events))
	for _, e := range events {
		s <- e
	}

	close(s)
	w.follow(s)
}

// newVersion returns a version of a Workspace.
func newVersion(uid types.UID, shard, message string) *unstructured.Unstructured {
	o := newObject("True", "False", message)
	o.SetGroupVersionKind(clusterKind())
	o.SetUID(uid)
	o.SetName("ws-1")
	o.SetLabels(map[string]string{shardLabel: shard})

	return o
}

// TestWitnessAt shows that the version of a Workspace at an earlier time is known, even if
// another object had its name.
func TestWitnessAt(t *testing.T) {
	t.Parallel()

	w := newWitness(nil)
	before := time.Now()

	follows(w, watch.Event{Type: watch.Added, Object: newVersion("uid-1", "a", "")})

	between := time.Now()

	follows(w,
		watch.Event{Type: watch.Modified, Object: newVersion("uid-1", "b", "")},
		watch.Event{Type: watch.Deleted, Object: newVersion("uid-1", "b", "")},
		watch.Event{Type: watch.Added, Object: newVersion("uid-2", "c", "")},
	)

	for at, want := range map[time.Time]string{before: "a", between: "a", time.Now(): "c"} {
		if got := w.at(clusterKind(), "", "ws-1", at).GetLabels()[shardLabel]; got != want {
			t.Errorf("at %s: shard %q, want %q", at, got, want)
		}
	}

	if got := w.at(namespacedKind(), "", "ws-1", time.Now()); got != nil {
		t.Errorf("another kind: got %v", got)
	}
}

// TestWitnessDepartures shows that deleted objects are known, including those that were
// deleted while there was no watch.
func TestWitnessDepartures(t *testing.T) {
	t.Parallel()

	w := newWitness(nil)
	event := newVersion("uid-4", "", "")
	event.SetKind("Event")
	follows(w,
		watch.Event{Type: watch.Added, Object: newVersion("uid-1", "a", "")},
		watch.Event{Type: watch.Added, Object: newVersion("uid-2", "a", "")},
		watch.Event{Type: watch.Added, Object: newVersion("uid-3", "a", "")},
		watch.Event{Type: watch.Added, Object: event},
		watch.Event{Type: watch.Deleted, Object: newVersion("uid-1", "a", "")},
	)
	w.listed(clusterKind(), []unstructured.Unstructured{*newVersion("uid-3", "a", "")})

	if diff := cmp.Diff([]string{"uid-1", "uid-2"}, sorted(w.departures())); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestWitnessSightings shows that every message is recorded once, with its time.
func TestWitnessSightings(t *testing.T) {
	t.Parallel()

	w := newWitness(nil)
	event := &unstructured.Unstructured{Object: map[string]any{"kind": "Event", "message": "hello", "involvedObject": map[string]any{"name": "ws-1"}}}
	follows(w,
		watch.Event{Type: watch.Added, Object: newVersion("uid-1", "a", "one")},
		watch.Event{Type: watch.Modified, Object: newVersion("uid-1", "b", "one")},
		watch.Event{Type: watch.Modified, Object: newVersion("uid-1", "b", "two")},
		watch.Event{Type: watch.Added, Object: event},
	)

	got := map[string]int{}

	for _, s := range w.sightings() {
		if s.workspace != "ws-1" || s.time == 0 {
			t.Errorf("got %+v, want the time and the Workspace of the message", s)
		}

		got[s.where+": "+s.text]++
	}

	want := map[string]int{"the condition Ready: <nil> <nil>": 1, "the condition Synced: <nil> one": 1, "the condition Synced: <nil> two": 1, "an Event: hello": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
