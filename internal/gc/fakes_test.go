// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package gc

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
)

// counts are Metrics with the last values.
type counts struct {
	Deleted, Failed, Unsaved int
}

func (c *counts) WorkdirDeleted() { c.Deleted++ }
func (c *counts) GCFailed()       { c.Failed++ }

func (c *counts) StatesUnsaved(n int) { c.Unsaved = n }

// fakeDirectories return errors on demand.
type fakeDirectories struct {
	uids    []string
	listErr error
	stuck   map[string]error
	used    map[string]bool

	// half are the UIDs whose removal leaves a part of the directory, and remains the error of the
	// removal of such parts.
	half    map[string]error
	remains error

	// states are the UIDs with a state that is nowhere else.
	states  map[string]bool
	unsaved []string

	// refill is a directory that every list contains.
	refill string
}

func (d *fakeDirectories) List() ([]string, error) {
	if d.refill != "" {
		d.uids = []string{d.refill}
	}

	return slices.Clone(d.uids), d.listErr
}

func (d *fakeDirectories) Remove(uid string) (bool, error) {
	if err := d.stuck[uid]; err != nil {
		return false, err
	}

	if d.used[uid] {
		return false, nil
	}

	if d.states[uid] {
		d.unsaved = append(d.unsaved, uid)
	}

	d.uids = slices.DeleteFunc(d.uids, func(s string) bool { return s == uid })

	return true, d.half[uid]
}

func (d *fakeDirectories) RemoveRemains() error { return d.remains }

func (d *fakeDirectories) Unsaved() ([]string, error) { return d.unsaved, nil }

// A page is the answer to one request of a listing.
type page struct {
	uids []types.UID
	err  error
}

// A fakeReader returns errors on demand.
type fakeReader struct {
	client.Reader

	// pages by kind of list. The tokens are their numbers.
	pages map[string][]page

	// before is called first, unless it is nil.
	before func(ctx context.Context) error

	asked int
}

func (r *fakeReader) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	r.asked++

	if r.before != nil {
		return r.before(ctx)
	}

	opts := (&client.ListOptions{}).ApplyOptions(o)
	pages := r.pages[list.GetObjectKind().GroupVersionKind().Kind]
	n := len(opts.Continue)

	if pages[n].err != nil {
		return pages[n].err
	}

	l, _ := list.(*metav1.PartialObjectMetadataList)
	for _, uid := range pages[n].uids {
		l.Items = append(l.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: uid}})
	}

	if n+1 < len(pages) {
		l.SetContinue(opts.Continue + "x")
	}

	return nil
}

// A journal is a logger that keeps its messages.
type journal struct {
	logging.Logger

	info []string
	errs []error
}

func (j *journal) Info(msg string, keysAndValues ...any) {
	j.info = append(j.info, msg)

	for _, v := range keysAndValues {
		if err, ok := v.(error); ok {
			j.errs = append(j.errs, err)
		}
	}
}
