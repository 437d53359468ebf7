// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/chaos/record"
	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

// A historian records every version of every state. After an outage of the API server it
// continues its watch at the last version.
type historian struct {
	kube client.WithWatch

	// versions in the order in which they were stored.
	versions []version

	// at is the resource version of the latest.
	at string
}

// watch adds versions until the context ends.
func (h *historian) watch(ctx context.Context) error {
	for ctx.Err() == nil {
		w, err := h.kube.Watch(ctx, &corev1.SecretList{}, client.HasLabels{"tfstate"},
			&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: h.at, AllowWatchBookmarks: true}})
		if err == nil {
			err = h.follow(w)
			w.Stop()

			if err != nil {
				return err
			}
		}

		// The API server may be away. The end of the context ends the loop.
		_ = wait.For(ctx, wait.Glance)
	}

	return nil
}

// follow adds versions until the watch ends. An error means that some are missing.
func (h *historian) follow(w watch.Interface) error {
	for e := range w.ResultChan() {
		s, ok := e.Object.(*corev1.Secret)

		switch {
		case e.Type == watch.Error:
			if err := kerrors.FromObject(e.Object); kerrors.IsGone(err) || kerrors.IsResourceExpired(err) {
				return errors.Wrap(err, "cannot watch states")
			}

			return nil
		case !ok:
			return errors.Errorf("a %T is no state", e.Object)
		case e.Type != watch.Bookmark:
			if err := h.add(s, e.Type == watch.Deleted); err != nil {
				return err
			}
		}

		h.at = s.GetResourceVersion()
	}

	return nil
}

func (h *historian) add(s *corev1.Secret, deleted bool) error {
	v := version{state: record.Secret(s.GetNamespace(), s.GetLabels()["tfstateSecretSuffix"], s.GetLabels()["tfstateWorkspace"]), deleted: deleted}

	if !deleted {
		var err error
		if v, err = readVersion(v.state, s.Data["tfstate"]); err != nil {
			return errors.Wrapf(err, "Secret %q", s.GetName())
		}
	}

	v.time = time.Now().UnixNano()
	h.versions = append(h.versions, v)

	return nil
}
