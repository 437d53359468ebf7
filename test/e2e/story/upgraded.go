// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
)

// upgraded replaces the package and the image of the shards by a newer version, during an apply of
// the instance of the package.
func (s *Story) upgraded(ctx context.Context) error {
	const name = "reports"

	var err error
	if s.second, err = s.PublishCLIs(ctx, "v0.2.0", s.packageDir()); err != nil {
		return err
	}

	pod, release, err := s.applying(ctx, "", name)
	defer release()

	if err != nil {
		return err
	}

	p, err := s.instance(ctx, pod)
	if err != nil {
		return err
	}

	if err := s.deploy(ctx, "static-package", s.second); err != nil {
		return err
	}

	if err := s.expectStopping(ctx, p); err != nil {
		return err
	}

	release()

	if err := s.expectPackage(ctx, s.second); err != nil {
		return err
	}

	if err := s.expectInstances(ctx, 3, s.second); err != nil {
		return err
	}

	return s.expectCreatedBy(name, pod)
}
