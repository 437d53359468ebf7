// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

// TestCollect has the faults that a real API server or a real directory does not have on demand.
// See live_test.go for the others.
func TestCollect(t *testing.T) {
	t.Parallel()

	apples, pears := fruit("Apple"), fruit("Pear")
	errBoom := errors.New("boom")
	noMatch := &meta.NoKindMatchError{GroupKind: pears.GroupKind(), SearchedVersions: []string{"v1"}}

	type want struct {
		Deleted []string
		Left    []string
		Err     error
		Metrics counts
		Pages   int
	}

	cases := map[string]struct {
		reason string
		dirs   *fakeDirectories
		reader *fakeReader
		kinds  []schema.GroupVersionKind
		want   want
	}{
		"Orphan": {
			reason: "A directory without a Workspace is deleted.",
			dirs:   &fakeDirectories{uids: []string{"a", "b", "c"}},
			reader: &fakeReader{pages: map[string][]page{"AppleList": {{uids: []types.UID{"a"}}}, "PearList": {{uids: []types.UID{"c"}}}}},
			kinds:  []schema.GroupVersionKind{apples, pears},
			want:   want{Deleted: []string{"b"}, Left: []string{"a", "c"}, Metrics: counts{Deleted: 1}, Pages: 2},
		},
		"NoDirectories": {
			reason: "Without directories, Workspaces are not listed.",
			dirs:   &fakeDirectories{},
			reader: &fakeReader{},
			kinds:  []schema.GroupVersionKind{apples, pears},
			want:   want{},
		},
		"DirectoriesUnknown": {
			reason: "An incomplete list of directories does not count.",
			dirs:   &fakeDirectories{uids: []string{"a"}, listErr: errBoom},
			reader: &fakeReader{},
			kinds:  []schema.GroupVersionKind{apples},
			want:   want{Left: []string{"a"}, Err: errBoom},
		},
		"NoKinds": {
			reason: "If no kind of Workspace is known, no directory is deleted.",
			dirs:   &fakeDirectories{uids: []string{"a"}},
			reader: &fakeReader{},
			want:   want{Left: []string{"a"}, Err: cmpopts.AnyError},
		},
		"LaterPageFails": {
			reason: "The pages before a failed one are not complete.",
			dirs:   &fakeDirectories{uids: []string{"a", "b"}},
			reader: &fakeReader{pages: map[string][]page{"AppleList": {{uids: []types.UID{"a"}}, {err: errBoom}}}},
			kinds:  []schema.GroupVersionKind{apples},
			want:   want{Left: []string{"a", "b"}, Err: errBoom, Pages: 2},
		},
		"KindVanishesBetweenPages": {
			reason: "A kind that was removed during the list was not listed completely.",
			dirs:   &fakeDirectories{uids: []string{"a", "b"}},
			reader: &fakeReader{pages: map[string][]page{
				"AppleList": {{}},
				"PearList":  {{uids: []types.UID{"a"}}, {err: noMatch}},
			}},
			kinds: []schema.GroupVersionKind{apples, pears},
			want:  want{Left: []string{"a", "b"}, Err: cmpopts.AnyError, Pages: 3},
		},
		"SecondKindFails": {
			reason: "The Workspaces of one kind are not all Workspaces.",
			dirs:   &fakeDirectories{uids: []string{"a", "b"}},
			reader: &fakeReader{pages: map[string][]page{"AppleList": {{uids: []types.UID{"a"}}}, "PearList": {{err: errBoom}}}},
			kinds:  []schema.GroupVersionKind{apples, pears},
			want:   want{Left: []string{"a", "b"}, Err: errBoom, Pages: 2},
		},
		"InUse": {
			reason: "A run that has not ended keeps its directory, although its Workspace is deleted.",
			dirs:   &fakeDirectories{uids: []string{"a", "b"}, used: map[string]bool{"b": true}},
			reader: &fakeReader{pages: map[string][]page{"AppleList": {{}}}},
			kinds:  []schema.GroupVersionKind{apples},
			want:   want{Deleted: []string{"a"}, Left: []string{"b"}, Metrics: counts{Deleted: 1}, Pages: 1},
		},
		"Unsaved": {
			reason: "A state that was left counts as long as it exists.",
			dirs:   &fakeDirectories{uids: []string{"a", "b"}, states: map[string]bool{"b": true}, unsaved: []string{"c"}},
			reader: &fakeReader{pages: map[string][]page{"AppleList": {{}}}},
			kinds:  []schema.GroupVersionKind{apples},
			want:   want{Deleted: []string{"a", "b"}, Metrics: counts{Deleted: 2, Unsaved: 2}, Pages: 1},
		},
		"UnsavedOnly": {
			reason: "The same is true when there is nothing to collect.",
			dirs:   &fakeDirectories{unsaved: []string{"c"}},
			reader: &fakeReader{},
			kinds:  []schema.GroupVersionKind{apples},
			want:   want{Metrics: counts{Unsaved: 1}},
		},
		"Half": {
			reason: "A directory of which a part is left is gone: no list has it any more.",
			dirs:   &fakeDirectories{uids: []string{"a", "b"}, half: map[string]error{"a": errBoom}},
			reader: &fakeReader{pages: map[string][]page{"AppleList": {{}}}},
			kinds:  []schema.GroupVersionKind{apples},
			want:   want{Deleted: []string{"a", "b"}, Err: errBoom, Metrics: counts{Deleted: 2}, Pages: 1},
		},
		"Remains": {
			reason: "If such a part cannot be deleted, directories are.",
			dirs:   &fakeDirectories{uids: []string{"a"}, remains: errBoom},
			reader: &fakeReader{pages: map[string][]page{"AppleList": {{}}}},
			kinds:  []schema.GroupVersionKind{apples},
			want:   want{Deleted: []string{"a"}, Err: errBoom, Metrics: counts{Deleted: 1}, Pages: 1},
		},
		"RemainsOnly": {
			reason: "A part is deleted when there is nothing to collect, too.",
			dirs:   &fakeDirectories{remains: errBoom},
			reader: &fakeReader{},
			kinds:  []schema.GroupVersionKind{apples},
			want:   want{Err: errBoom},
		},
		"Stuck": {
			reason: "If one directory cannot be deleted, the others are.",
			dirs:   &fakeDirectories{uids: []string{"a", "b", "c"}, stuck: map[string]error{"b": errBoom}},
			reader: &fakeReader{pages: map[string][]page{"AppleList": {{}}}},
			kinds:  []schema.GroupVersionKind{apples},
			want:   want{Deleted: []string{"a", "c"}, Left: []string{"b"}, Err: errBoom, Metrics: counts{Deleted: 2}, Pages: 1},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got want

			c := New(tc.dirs, tc.reader, tc.kinds, time.Hour, logging.NewNopLogger(), &got.Metrics)
			got.Deleted, got.Err = c.Collect(t.Context())
			got.Left = tc.dirs.uids
			got.Pages = tc.reader.asked

			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCollectBornMeanwhile ensures that a directory that is made while the Workspaces are listed
// is kept: the list may not have its Workspace.
func TestCollectBornMeanwhile(t *testing.T) {
	t.Parallel()

	dirs := &fakeDirectories{uids: []string{"gone"}}
	reader := &fakeReader{before: func(context.Context) error {
		dirs.uids = append(dirs.uids, "born")

		return nil
	}}

	deleted, err := New(dirs, reader, []schema.GroupVersionKind{{Kind: "Apple"}}, time.Hour, logging.NewNopLogger(), &counts{}).Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]string{"gone"}, deleted); diff != "" {
		t.Errorf("deleted: -want, +got:\n%s", diff)
	}
}

func TestStart(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		interval time.Duration
		err      error
		unsaved  []string
		// after is the time for which the Collector ran.
		after time.Duration
		want  counts
		log   []string
	}{
		"Several": {
			reason:   "One round comes after each interval, and none at once: there is no reason to hurry.",
			interval: time.Hour,
			after:    3*time.Hour + time.Second,
			want:     counts{Deleted: 3},
			log:      slices.Repeat([]string{"Deleted working directory of a Workspace that is gone"}, 3),
		},
		"Failing": {
			reason:   "A failed round is logged with its error, and the next one is tried.",
			interval: time.Hour,
			err:      errors.New("boom"),
			after:    2*time.Hour + time.Second,
			want:     counts{Failed: 2},
			log:      slices.Repeat([]string{"Cannot collect working directories"}, 2),
		},
		"Never": {
			reason:   "Without an interval there are no rounds.",
			interval: 0,
			after:    24 * time.Hour,
		},
		"Unsaved": {
			reason:   "States that are nowhere else are counted at once: an alert depends on the number.",
			interval: time.Hour,
			unsaved:  []string{"a", "b"},
			after:    time.Minute,
			want:     counts{Unsaved: 2},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var (
					got counts
					log journal
				)

				// Each round finds another directory.
				dirs := &fakeDirectories{refill: "orphan", unsaved: tc.unsaved}
				reader := &fakeReader{pages: map[string][]page{"AppleList": {{err: tc.err}}}}
				c := New(dirs, reader, []schema.GroupVersionKind{fruit("Apple")}, tc.interval, &log, &got)

				ctx, cancel := context.WithTimeout(t.Context(), tc.after)
				defer cancel()

				if err := c.Start(ctx); err != nil {
					t.Errorf("%s\nStart: %v", tc.reason, err)
				}

				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
				}

				if diff := cmp.Diff(tc.log, log.info, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s\nlog: -want, +got:\n%s", tc.reason, diff)
				}

				for _, err := range log.errs {
					if !errors.Is(err, tc.err) {
						t.Errorf("%s\nthe log gives %v as the reason", tc.reason, err)
					}
				}
			})
		})
	}
}

func fruit(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: kind}
}
