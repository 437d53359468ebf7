// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// swept returns the UIDs of the directories that a sweep visits.
func swept(t *testing.T, r *Root) []string {
	t.Helper()

	var uids []string

	_, err := r.Sweep(t.Context(), func(d *Dir) error {
		uids = append(uids, d.uid)

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	return uids
}

// reopened returns the root as another process sees it.
func reopened(t *testing.T, r *Root) *Root {
	t.Helper()

	other, err := Open(r.Path(), maxUse)
	if err != nil {
		t.Fatal(err)
	}

	return other
}

func TestSweep(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	used := dirOf(t, r, uidA)
	dirOf(t, r, uidB)

	done, err := used.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	again, err := used.Use(t.Context())
	if err != nil {
		t.Fatalf("users do not keep one another away: %v", err)
	}

	other := reopened(t, r)
	if diff := cmp.Diff([]string{uidB}, swept(t, other)); diff != "" {
		t.Errorf("one is in use: -want, +got:\n%s", diff)
	}

	done()

	if diff := cmp.Diff([]string{uidB}, swept(t, other)); diff != "" {
		t.Errorf("one is still in use: -want, +got:\n%s", diff)
	}

	again()

	if diff := cmp.Diff([]string{uidA, uidB}, swept(t, other)); diff != "" {
		t.Errorf("none is in use: -want, +got:\n%s", diff)
	}
}

func TestSweepFails(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	for _, uid := range []string{uidA, uidB} {
		dirOf(t, r, uid)
	}

	errBoom := errors.New("boom")
	n := 0

	_, err := r.Sweep(t.Context(), func(*Dir) error {
		n++

		return errBoom
	})
	if !errors.Is(err, errBoom) || n != 2 {
		t.Errorf("want the error of each of 2 directories, got %v of %d", err, n)
	}
}

// TestSweepCanceled ends the process during a sweep, which takes long on a slow volume.
func TestSweepCanceled(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	for _, uid := range []string{uidA, uidB} {
		dirOf(t, r, uid)
	}

	ctx, cancel := context.WithCancel(t.Context())
	n := 0

	_, err := r.Sweep(ctx, func(*Dir) error {
		n++

		cancel()

		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("want the sweep to end after the first of 2 directories, got %v after %d", err, n)
	}
}

// TestSweepVanished removes a directory between its listing and its sweep.
func TestSweepVanished(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	for _, uid := range []string{uidA, uidB} {
		dirOf(t, r, uid)
	}

	_, err := r.Sweep(t.Context(), func(*Dir) error {
		_, err := r.Remove(uidB)

		return err
	})
	if err != nil {
		t.Errorf("there is nothing to sweep: %v", err)
	}
}

// TestUseDuringSweep uses a directory that is being swept: it waits.
func TestUseDuringSweep(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	d := dirOf(t, r, uidA)
	ctx, cancel := context.WithCancel(t.Context())
	synctest.Test(t, func(t *testing.T) {
		used := make(chan error, 2)
		use := func(ctx context.Context) {
			done, err := d.Use(ctx)
			used <- err

			if err == nil {
				done()
			}
		}

		_, err := r.Sweep(t.Context(), func(*Dir) error {
			go use(t.Context())

			synctest.Wait()

			if len(used) > 0 {
				t.Error("it is used although it is being swept")
			}

			cancel()
			use(ctx)

			return nil
		})
		if err != nil {
			t.Error(err)
		}

		if err := <-used; !errors.Is(err, context.Canceled) {
			t.Errorf("want the one that was canceled, got %v", err)
		}

		if err := <-used; err != nil {
			t.Errorf("the sweep is over: %v", err)
		}
	})
}

// TestUseLink plants a link in place of the file that is locked.
func TestUseLink(t *testing.T) {
	t.Parallel()

	r := openRoot(t)
	d := dirOf(t, r, uidA)
	outside := filepath.Join(t.TempDir(), "file")
	symlink(t, outside, filepath.Join(d.Path(), useName))

	if done, err := d.Use(t.Context()); err == nil {
		done()
		t.Error("want what leads outside to be refused")
	}

	if _, err := os.Lstat(outside); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something outside was touched: %v", err)
	}
}
