// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// A copied object is one as it was at some time.
type copied struct {
	// time of the observation, in nanoseconds since 1970.
	time   int64
	object *unstructured.Unstructured
}

// A witness observes Workspaces, Events and Leases, and records their versions and all
// messages in them. It reads them unstructured: versions of the provider differ in their
// fields. It is safe for concurrent use.
type witness struct {
	kube client.WithWatch

	mu sync.Mutex

	// history of each object, by UID, and of all that had a name.
	history map[types.UID][]copied
	named   map[string][]types.UID

	// gone is when an object was first missing, by UID.
	gone map[types.UID]int64

	// seen are all messages, without duplicates.
	seen  []sighting
	known map[sighting]bool
}

func newWitness(kube client.WithWatch) *witness {
	return &witness{
		kube:    kube,
		history: map[types.UID][]copied{},
		named:   map[string][]types.UID{},
		gone:    map[types.UID]int64{},
		known:   map[sighting]bool{},
	}
}

// Kinds that a witness sees.
func witnessed() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Group: "tf.upbound.io", Version: "v1beta1", Kind: "Workspace"},
		{Group: "tf.m.upbound.io", Version: "v1beta1", Kind: "Workspace"},
		{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"},
		{Version: "v1", Kind: "Event"},
	}
}

// watch a kind until the context ends. When a watch is restarted, all changes in between
// appear as one.
func (w *witness) watch(ctx context.Context, kind schema.GroupVersionKind) error {
	for ctx.Err() == nil {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))

		if err := w.kube.List(ctx, list); err == nil {
			w.listed(kind, list.Items)

			if events, err := w.kube.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}}); err == nil {
				w.follow(events)
				events.Stop()
			}
		}

		// The API server may be away. The end of the context ends the loop.
		_ = wait.For(ctx, wait.Glance)
	}

	return nil
}

func (w *witness) follow(events watch.Interface) {
	for e := range events.ResultChan() {
		o, ok := e.Object.(*unstructured.Unstructured)
		if !ok || e.Type == watch.Error {
			return
		}

		w.mu.Lock()

		if e.Type == watch.Deleted {
			w.gone[o.GetUID()] = time.Now().UnixNano()
		} else {
			w.see(o)
		}

		w.mu.Unlock()
	}
}

// listed sees all objects of a kind, and which ones are missing.
func (w *witness) listed(kind schema.GroupVersionKind, all []unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()

	there := map[types.UID]bool{}

	for i := range all {
		there[all[i].GetUID()] = true
		w.see(&all[i])
	}

	for uid, versions := range w.history {
		if versions[0].object.GroupVersionKind() == kind && !there[uid] && w.gone[uid] == 0 {
			w.gone[uid] = time.Now().UnixNano()
		}
	}
}

// see an object, with w.mu held.
func (w *witness) see(o *unstructured.Unstructured) {
	now, uid := time.Now().UnixNano(), o.GetUID()

	if len(w.history[uid]) == 0 {
		key := nameOf(o.GroupVersionKind(), o.GetNamespace(), o.GetName())
		w.named[key] = append(w.named[key], uid)
	}

	w.history[uid] = append(w.history[uid], copied{time: now, object: o.DeepCopy()})

	for where, text := range messages(o) {
		s := sighting{workspace: subjectOf(o), where: where, text: text}
		if w.known[s] {
			continue
		}

		w.known[s] = true
		s.time = now
		w.seen = append(w.seen, s)
	}
}

// subjectOf returns the name of the Workspace that an object is, or is about.
func subjectOf(o *unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(o.Object, "involvedObject", "name")
	if name == "" {
		name = o.GetName()
	}

	return name
}

// messages returns the texts in an object that people can read, by their field.
func messages(o *unstructured.Unstructured) map[string]string {
	all := map[string]string{}

	if message, ok, _ := unstructured.NestedString(o.Object, "message"); ok {
		all["an Event"] = message
	}

	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")

	for _, c := range conditions {
		c, ok := c.(map[string]any)
		if ok {
			all[fmt.Sprintf("the condition %s", c["type"])] = fmt.Sprintf("%v %v", c["reason"], c["message"])
		}
	}

	return all
}

// at returns the object of the supplied name at the supplied time, or the first version of
// it after that. It is nil if there is none.
func (w *witness) at(kind schema.GroupVersionKind, namespace, name string, at time.Time) *unstructured.Unstructured {
	w.mu.Lock()
	defer w.mu.Unlock()

	var found *unstructured.Unstructured

	for _, uid := range w.named[nameOf(kind, namespace, name)] {
		for _, v := range w.history[uid] {
			if found == nil || v.time <= at.UnixNano() {
				found = v.object
			}
		}
	}

	if found == nil {
		return nil
	}

	return found.DeepCopy()
}

// sightings returns all messages so far, and departures when each object was gone.
func (w *witness) sightings() []sighting {
	w.mu.Lock()
	defer w.mu.Unlock()

	return slices.Clone(w.seen)
}

func (w *witness) departures() map[string]int64 {
	w.mu.Lock()
	defer w.mu.Unlock()

	gone := map[string]int64{}
	for uid, at := range maps.All(w.gone) {
		gone[string(uid)] = at
	}

	return gone
}

func nameOf(kind schema.GroupVersionKind, namespace, name string) string {
	return kind.GroupKind().String() + "/" + namespace + "/" + name
}
