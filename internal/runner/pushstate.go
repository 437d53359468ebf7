// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// PushState saves the state at the supplied path, and removes it there. If it has another lineage in the backend, PushState calls adopt
// with what is there, before that.
func (r *Runner) PushState(ctx context.Context, path string, adopt func(found *terraform.State) error) error {
	read := func() ([]byte, error) { return regular.Read(path, terraform.MaxAnswer) }

	err := r.push(ctx, func(args ...string) error { return r.CLI.PushState(ctx, *r.run, path, args...) })
	if terraform.HasOtherEncryption(err) {
		var raw []byte
		if raw, err = r.decrypt(ctx, path); err != nil {
			return err
		}

		read = func() ([]byte, error) { return raw, nil }
		err = r.push(ctx, func(args ...string) error { return r.CLI.PushRawState(ctx, *r.run, raw, args...) })
	}

	if r.mayLoseLineage(err) {
		err = r.findLineage(ctx, read, adopt, err)
	}

	if err != nil {
		return err
	}

	return errors.Wrap(os.Remove(path), "cannot remove state that was saved")
}

func (r *Runner) push(ctx context.Context, push func(args ...string) error) error {
	return r.useState(ctx, func(args ...string) error { return errors.Wrap(push(args...), "cannot save state") })
}

// mayLoseLineage says whether a push that ended with err, or an earlier one, may have given the state another lineage: where there is no
// state, the CLIs make a new one, with the serial 1.
func (r *Runner) mayLoseLineage(err error) bool {
	record, recordErr := r.RunRecord()

	return (err == nil || terraform.IsUnrelatedState(err)) && recordErr == nil && (record == nil || record.Lineage == "")
}

// findLineage calls adopt if what is in the backend is the state that was pushed, with a lineage of its own. pushed is the error of the
// push.
func (r *Runner) findLineage(ctx context.Context, read func() ([]byte, error), adopt func(found *terraform.State) error, pushed error) error {
	raw, err := read()
	if err != nil {
		return pushed
	}

	saved, err := terraform.ParseState(raw)
	if err != nil || saved.Lineage == "" || saved.Managed == 0 {
		return pushed
	}

	var there []byte

	err = r.useState(ctx, func(args ...string) (err error) {
		there, err = r.CLI.PullRawState(ctx, *r.run, args...)

		return errors.Wrap(err, "cannot read the state that was saved")
	})
	if err != nil {
		return err
	}

	if found, err := terraform.ParseState(there); err == nil && found.Lineage != saved.Lineage && found.Serial == 1 && terraform.SameContents(there, raw) {
		return adopt(found)
	}

	return pushed
}

// decrypt returns the state at the supplied path if it is encrypted. The CLI encrypts a state that it could not
// save, and cannot read such a file when it is to save it. It can read it as the state of a backend. What it
// has read is not written to the disk.
func (r *Runner) decrypt(ctx context.Context, path string) ([]byte, error) {
	if err := r.UseUnsavedState(path); err != nil {
		return nil, err
	}
	defer r.UseBackend()

	var raw []byte

	err := r.useState(ctx, func(args ...string) (err error) {
		raw, err = r.CLI.PullRawState(ctx, *r.run, args...)

		return errors.Wrap(err, "cannot decrypt the state")
	})

	return raw, err
}
