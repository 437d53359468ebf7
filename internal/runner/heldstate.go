// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// HeldStates are the states that a run could neither save nor write to its directory, because the disk was full for
// example. They stay in memory until there is room: nothing else records what the run has created. The zero value is
// ready for use.
type HeldStates struct {
	byPath sync.Map // By the path of the file that the run could not write.
}

// hold keeps the state that a run has printed in place of writing it, and returns the error of the run.
func (r *Runner) hold(err error) error {
	e := &terraform.Error{}
	if errors.As(err, &e) && e.State != nil {
		r.Held.byPath.Store(filepath.Join(r.run.Dir, terraform.ErroredStateFile), e.State)
	}

	return err
}

// write writes the state that is to be at the path, if it is held. If that fails, the state is still held.
func (h *HeldStates) write(path string) error {
	state, ok := h.byPath.Load(path)
	if !ok {
		return nil
	}

	data, _ := state.([]byte)

	// A module can make a link in its place.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600) //nolint:gosec // It is a file in a directory of this process.
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Sync(), f.Close())
	}

	if err != nil {
		return errors.Wrap(err, "cannot write the state that a run could not save. Only this instance has it, in its memory, until there is room")
	}

	h.byPath.Delete(path)

	return nil
}
