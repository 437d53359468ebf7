// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package statusclient

import (
	"context"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

type latestKey struct{}

// A latestObject is the version of an object that was read from the API server, or written to it,
// just now. A reconcile is sequential, so it needs no lock.
type latestObject struct {
	// of is the object that is reconciled.
	of client.Object

	o client.Object

	// fresh says that the next Get may return it.
	fresh bool
}

// WithLatest returns a context for the reconcile of an object that was read from the API server
// just now. The first Get of the object, by a client of NewClient, returns a copy without a
// request. See also WithObject.
func WithLatest(ctx context.Context, o client.Object) context.Context {
	return context.WithValue(ctx, latestKey{}, &latestObject{of: o, o: o, fresh: true})
}

// WithObject returns a context for reconciles of this object only, one after the other. To a Get, an
// object of the same name with another UID does not exist. It may have replaced this one since the
// decision to reconcile, and another instance may have claimed it.
//
// The first Get after an update of the status returns a copy of what was written without a request,
// as after WithLatest.
func WithObject(ctx context.Context, o client.Object) context.Context {
	if latestIn(ctx).of != nil {
		return ctx
	}

	return context.WithValue(ctx, latestKey{}, &latestObject{of: o})
}

// Written returns the object as its last update of the status has written it. It is called after a
// reconcile that has read the object. It is nil if there was no such update, or if it is not known what
// the API server has now.
func Written(ctx context.Context) client.Object {
	if l := latestIn(ctx); l.fresh {
		return l.o
	}

	return nil
}

// latestIn returns the latestObject of a context, or an empty one.
func latestIn(ctx context.Context) *latestObject {
	if l, ok := ctx.Value(latestKey{}).(*latestObject); ok {
		return l
	}

	return &latestObject{}
}

// hasReplaced says whether an object that was read has the name of the object that is reconciled in
// this context, and is another one.
func hasReplaced(ctx context.Context, o client.Object) bool {
	of := latestIn(ctx).of

	return reflect.TypeOf(of) == reflect.TypeOf(o) && client.ObjectKeyFromObject(of) == client.ObjectKeyFromObject(o) && of.GetUID() != o.GetUID()
}

// getLatest copies the latest version to o. It returns false if another object is wanted, or the
// version was returned before.
func getLatest(ctx context.Context, key client.ObjectKey, o client.Object) bool {
	l := latestIn(ctx)
	if !l.fresh || client.ObjectKeyFromObject(l.o) != key || reflect.TypeOf(l.o) != reflect.TypeOf(o) {
		return false
	}

	l.fresh = false
	l.copyTo(o)

	return true
}

// isLatest copies the latest version to latest if o was read or written as that version. Otherwise
// it returns false.
func isLatest(ctx context.Context, o, latest client.Object) bool {
	l := latestIn(ctx)
	if l.o == nil || l.o.GetUID() != o.GetUID() || l.o.GetResourceVersion() != o.GetResourceVersion() {
		return false
	}

	l.copyTo(latest)

	return true
}

// keepLatest records the version of an object after a write. Without certainty that o is that
// version, the next Get is a request.
func keepLatest(ctx context.Context, o Claimable, certain bool) {
	l := latestIn(ctx)
	if l.fresh = certain; certain {
		l.o = copyOf(o)
	}
}

func (l *latestObject) copyTo(o client.Object) {
	reflect.ValueOf(o).Elem().Set(reflect.ValueOf(l.o.DeepCopyObject()).Elem())
}
