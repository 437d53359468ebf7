// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpmeta "github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/crossplane-contrib/provider-terraform/internal/shard"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A sight is a Workspace and the instance that serves it.
type sight struct {
	workspace.Workspace

	servedBy string
}

// observe returns every Workspace by its name in the table, and shows the table.
func (d *demo) observe(ctx context.Context) (map[string]sight, error) {
	seen := map[string]sight{}

	for _, kind := range workspace.Kinds() {
		if err := d.plane.Kube.List(ctx, kind.List); err != nil {
			return nil, err
		}

		if err := meta.EachListItem(kind.List, func(o runtime.Object) error {
			ws, ok := o.(workspace.Workspace)
			if !ok {
				return errors.Errorf("%T is not a Workspace", o)
			}

			server, err := servedBy(d.instances, string(ws.GetUID()), time.Now())
			seen[name(ws)] = sight{Workspace: ws, servedBy: server}

			return err
		}); err != nil {
			return nil, err
		}
	}

	d.screen.show(tabulate(seen, time.Now()))

	return seen, nil
}

// name of a Workspace, after that of its namespace if it has one.
func name(o client.Object) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}

	return o.GetNamespace() + "/" + o.GetName()
}

// tabulate returns the table of the supplied Workspaces: cluster-scoped ones first, then
// by name.
func tabulate(seen map[string]sight, now time.Time) table {
	t := make(table, 0, len(seen))

	for _, name := range slices.SortedFunc(maps.Keys(seen), byScope) {
		s := seen[name]

		server := cell{text: "none", color: yellow}
		if s.servedBy != "" {
			server = cell{text: s.servedBy, color: cyan}
		}

		t = append(t, []cell{
			{text: name},
			{text: cmp.Or(s.GetLabels()[shard.LabelKey], "-")},
			server,
			condition(s.status(xpv2.TypeSynced)),
			condition(s.status(xpv2.TypeReady)),
			{text: cmp.Or(s.outputs(), "-")},
			{text: duration.HumanDuration(now.Sub(s.GetCreationTimestamp().Time))},
		})
	}

	return t
}

func condition(status string) cell {
	if status == "True" {
		return cell{text: status, color: green}
	}

	return cell{text: cmp.Or(status, "-"), color: yellow}
}

func byScope(a, b string) int {
	return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
}

// status of the condition of the supplied type, empty if there is no such condition.
func (s sight) status(t xpv2.ConditionType) string {
	if c := s.GetCondition(t); c.Status != corev1.ConditionUnknown {
		return string(c.Status)
	}

	return ""
}

// outputs in the status, as text: sorted, strings without quotes and other values as JSON.
func (s sight) outputs() string {
	outputs := s.GetObservation().Outputs
	parts := make([]string, 0, len(outputs))

	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		parts = append(parts, fmt.Sprintf("%s=%s", name, text(outputs[name])))
	}

	return strings.Join(parts, ", ")
}

func text(value extv1.JSON) string {
	var s string
	if json.Unmarshal(value.Raw, &s) == nil {
		return s
	}

	var b bytes.Buffer

	// The API server returns valid JSON only.
	_ = json.Compact(&b, value.Raw)

	return b.String()
}

// served returns an error unless the Workspace is Synced and Ready, was served by
// the instance of the shard that its label names, and has the supplied outputs.
func (s sight) served(outputs string) error {
	if s.Workspace == nil {
		return errors.New("is not there")
	}

	if want := s.GetLabels()[shard.LabelKey]; s.servedBy != want {
		return errors.Errorf("is served by %s, not by %s", cmp.Or(s.servedBy, "no instance"), want)
	}

	for _, t := range []xpv2.ConditionType{xpv2.TypeSynced, xpv2.TypeReady} {
		if c := s.GetCondition(t); c.Status != corev1.ConditionTrue {
			return errors.Errorf("%s is %s: %s", t, c.Status, cmp.Or(c.Message, string(c.Reason), "no reason yet"))
		}
	}

	if got := s.outputs(); got != outputs {
		return errors.Errorf("outputs are %s, not %s", cmp.Or(got, "none"), outputs)
	}

	return nil
}

// untouched returns an error if there is any trace of work on the Workspace. That no instance serves it may be
// in its condition Ready, and people may have set its external name.
func (s sight) untouched() error {
	switch {
	case s.Workspace == nil:
		return errors.New("is not there")
	case s.servedBy != "":
		return errors.Errorf("is served by %s", s.servedBy)
	case s.status(xpv2.TypeSynced) != "" || s.status(xpv2.TypeReady) != "" && s.GetCondition(xpv2.TypeReady).Reason != workspace.ReasonNotServed:
		return errors.New("has conditions")
	case len(s.GetFinalizers()) > 0:
		return errors.Errorf("has finalizers %q", s.GetFinalizers())
	case !xpmeta.GetExternalCreatePending(s).IsZero():
		return errors.New("is being created")
	default:
		return nil
	}
}
