// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// ours selects the pods of instances, however they are deployed.
func ours() labels.Set { return labels.Set{"app.kubernetes.io/name": "provider-terraform"} }

// A witness remembers the pods of instances and the Events of the whole story, also those that are
// deleted since.
type witness struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex
	pods   map[types.UID]*corev1.Pod
	events map[types.UID]*corev1.Event
}

// watch returns a witness of everything from now on.
func watch(ctx context.Context, cfg *rest.Config) (*witness, error) {
	cs, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}

	w := &witness{pods: map[types.UID]*corev1.Pod{}, events: map[types.UID]*corev1.Event{}}

	ctx, w.cancel = context.WithCancel(ctx)

	pods := informers.NewSharedInformerFactoryWithOptions(cs, 0, informers.WithNamespace(system),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = ours().String() })).Core().V1().Pods().Informer()
	events := informers.NewSharedInformerFactory(cs, 0).Core().V1().Events().Informer()

	if _, err := pods.AddEventHandler(each(func(p *corev1.Pod) { note(w, w.pods, p) })); err != nil {
		return nil, err
	}

	if _, err := events.AddEventHandler(each(func(e *corev1.Event) { note(w, w.events, e) })); err != nil {
		return nil, err
	}

	for _, i := range []cache.SharedIndexInformer{pods, events} {
		w.wg.Go(func() { i.RunWithContext(ctx) })
	}

	if !cache.WaitForCacheSync(ctx.Done(), pods.HasSynced, events.HasSynced) {
		w.stop()

		return nil, errors.New("cannot watch pods and Events")
	}

	return w, nil
}

// each calls fn with every version of an object.
func each[T any](fn func(T)) cache.ResourceEventHandlerFuncs {
	of := func(o any) {
		if object, ok := o.(T); ok {
			fn(object)
		}
	}

	return cache.ResourceEventHandlerFuncs{
		AddFunc:    of,
		UpdateFunc: func(_, o any) { of(o) },
		DeleteFunc: of,
	}
}

func note[T metav1.Object](w *witness, known map[types.UID]T, o T) {
	w.mu.Lock()
	defer w.mu.Unlock()

	known[o.GetUID()] = o
}

func (w *witness) stop() {
	w.cancel()
	w.wg.Wait()
}

// seenPods returns the pods of the whole story, as they were last seen, by their names.
func (w *witness) seenPods() []*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()

	return slices.SortedFunc(maps.Values(w.pods), func(a, b *corev1.Pod) int { return strings.Compare(a.GetName(), b.GetName()) })
}

// restarts returns how often the containers of a pod were started again.
func (w *witness) restarts(uid types.UID) int32 {
	w.mu.Lock()
	defer w.mu.Unlock()

	sum := int32(0)

	if p := w.pods[uid]; p != nil {
		for _, c := range p.Status.ContainerStatuses {
			sum += c.RestartCount
		}
	}

	return sum
}

// count returns how often an Event with the supplied reason, and the supplied text in its message,
// was recorded for an object.
func (w *witness) count(uid types.UID, reason, text string) int {
	w.mu.Lock()
	defer w.mu.Unlock()

	sum := 0

	for _, e := range w.events {
		if e.InvolvedObject.UID == uid && e.Reason == reason && strings.Contains(e.Message, text) {
			sum += max(1, int(e.Count))
		}
	}

	return sum
}
