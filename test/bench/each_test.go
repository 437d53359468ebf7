// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// TestEach checks that as many items are worked on at the same time as there are
// workers, and all of them once.
func TestEach(t *testing.T) {
	t.Parallel()

	const workers = 3

	var (
		mu         sync.Mutex
		busy, most int
		got        []int
		full       = make(chan struct{})
	)

	err := each(t.Context(), workers, []int{0, 1, 2, 3, 4, 5, 6}, func(_ context.Context, n int) error {
		mu.Lock()

		got = append(got, n)
		most = max(most, busy+1)

		if busy++; busy == workers && most == workers && len(got) == workers {
			close(full)
		}
		mu.Unlock()

		// No item ends before the maximum number has started.
		<-full

		mu.Lock()
		defer mu.Unlock()

		busy--

		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	if most != workers {
		t.Errorf("want %d items at the same time, got %d", workers, most)
	}

	if diff := cmp.Diff([]int{0, 1, 2, 3, 4, 5, 6}, got, cmpopts.SortSlices(func(a, b int) bool { return a < b })); diff != "" {
		t.Errorf("items: -want, +got:\n%s", diff)
	}
}

func TestEachFails(t *testing.T) {
	t.Parallel()

	errBoom := errors.New("boom")

	var got []int

	err := each(t.Context(), 1, []int{0, 1, 2}, func(_ context.Context, n int) error {
		got = append(got, n)

		if n == 1 {
			return errBoom
		}

		return nil
	})

	if diff := cmp.Diff(errBoom, err, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("each(...): -want error, +got error:\n%s", diff)
	}

	if diff := cmp.Diff([]int{0, 1}, got); diff != "" {
		t.Errorf("items until the error: -want, +got:\n%s", diff)
	}
}
