// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statusclient

import (
	"context"
	"reflect"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

type latestKey struct{}

// A latestObject is one that was read from the API server just now.
type latestObject struct {
	o    client.Object
	used atomic.Bool
}

// WithLatest returns a context for the reconcile of an object that was read from the API server
// or written to it just now. The first Get of the object, by a client of NewClient, returns a
// copy without a request. Later ones, for example after a conflict, are requests.
func WithLatest(ctx context.Context, o client.Object) context.Context {
	return context.WithValue(ctx, latestKey{}, &latestObject{o: o})
}

// getLatest copies the object of WithLatest to o. It returns false if another object is wanted, or
// the object was returned before.
func getLatest(ctx context.Context, key client.ObjectKey, o client.Object) bool {
	l, ok := ctx.Value(latestKey{}).(*latestObject)
	if !ok || client.ObjectKeyFromObject(l.o) != key || reflect.TypeOf(l.o) != reflect.TypeOf(o) || l.used.Swap(true) {
		return false
	}

	l.copyTo(o)

	return true
}

// isLatest copies the object of WithLatest to latest if o was read as that version. Otherwise it
// returns false.
func isLatest(ctx context.Context, o, latest client.Object) bool {
	l, ok := ctx.Value(latestKey{}).(*latestObject)
	if !ok || l.o.GetUID() != o.GetUID() || l.o.GetResourceVersion() != o.GetResourceVersion() {
		return false
	}

	l.copyTo(latest)

	return true
}

func (l *latestObject) copyTo(o client.Object) {
	reflect.ValueOf(o).Elem().Set(reflect.ValueOf(l.o.DeepCopyObject()).Elem())
}
