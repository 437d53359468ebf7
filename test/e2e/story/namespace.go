// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// namespace deletes a namespace with Workspaces, whose state is in another one.
func (s *Story) namespace(ctx context.Context) error {
	if err := s.remove(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: teamB}}); err != nil {
		return err
	}

	for name, ws := range s.workspaces {
		if ws.GetNamespace() == teamB {
			s.gone(name)
		}
	}

	return nil
}

// gone records that a Workspace was deleted.
func (s *Story) gone(name string) {
	delete(s.workspaces, name)
	s.deleted = append(s.deleted, name)
}
