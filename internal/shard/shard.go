// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package shard defines which Workspaces an instance serves: the name of its shard, and
// everything that follows from the name. It has no state and does no I/O.
package shard

import (
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// leaseName is the name of the Lease of an unsharded instance in all versions. The name must
	// not change: an older version that still holds the Lease makes a newer one wait.
	leaseName = "crossplane-leader-election-provider-terraform"

	// catchAllName is not allowed as the name of a shard: its Lease would be that of the instance that
	// serves the Workspaces without a shard label.
	catchAllName = "catch-all"
)

// An ID identifies the Workspaces that one instance serves. The zero value is unsharded:
// every Workspace. IDs can be compared with ==.
type ID struct {
	name     string
	catchAll bool

	// index and ranges say which of how many ranges the instance serves. Without a range, ranges
	// is 0.
	index, ranges int
}

// CatchAll returns the ID of the instance that serves the Workspaces without a
// shard label.
func CatchAll() ID { return ID{catchAll: true} }

// Parse returns the ID of the shard called name, or of an unsharded instance if name is empty.
// The name becomes part of a label value and of the name of a Lease, so it must be a DNS-1123
// label.
func Parse(name string) (ID, error) {
	if name == "" {
		return ID{}, nil
	}

	if len(validation.IsDNS1123Label(name)) > 0 {
		return ID{}, errors.Errorf("shard name %q is not allowed: use 1 to %d lower-case letters, digits and '-', with a letter or digit first and last",
			name, validation.DNS1123LabelMaxLength)
	}

	if name == catchAllName {
		return ID{}, errors.Errorf("shard name %q is not allowed: it is reserved, any other DNS-1123 label will do", name)
	}

	return ID{name: name}, nil
}

// Name of the shard, empty for an instance that serves no named one.
func (id ID) Name() string { return id.name }

// Value is the value of the label shard of metrics, and of the key shard in the log: the name of
// the shard, or the range. It is empty for other instances, which Mode distinguishes.
func (id ID) Value() string {
	if id.ranges > 0 {
		return id.rangeText()
	}

	return id.name
}

// Sharded reports whether the instance serves only some of the Workspaces.
func (id ID) Sharded() bool { return id != ID{} }

// Mode is the value of the label mode of metrics.
func (id ID) Mode() string {
	switch {
	case id.catchAll:
		return catchAllName
	case id.ranges > 0:
		return "range"
	case id.Sharded():
		return "shard"
	default:
		return "unsharded"
	}
}

// Selector selects the labels of the Workspaces that the instance serves.
func (id ID) Selector() labels.Selector {
	switch {
	case id.catchAll, id.ranges > 0:
		// The key is a constant and valid. On an error, to select nothing is safe.
		if r, err := labels.NewRequirement(LabelKey, selection.DoesNotExist, nil); err == nil {
			return labels.NewSelector().Add(*r)
		}

		return labels.Nothing()
	case id.Sharded():
		return labels.SelectorFromValidatedSet(labels.Set{LabelKey: id.name})
	default:
		return labels.Everything()
	}
}

// Serves reports whether the instance serves a Workspace that has these labels and this UID. It is the
// rule of Selector and ShardSelector. To make and validate a selector each time takes a microsecond.
func (id ID) Serves(l map[string]string, uid types.UID) bool {
	name, labelled := l[LabelKey]

	switch {
	case id.catchAll, id.ranges > 0:
		return !labelled && id.inRange(uid)
	case id.Sharded():
		return name == id.name
	default:
		return true
	}
}

// LeaseName is the name of the Lease that the instance holds. No two IDs have the same one.
func (id ID) LeaseName() string {
	switch {
	case id.catchAll:
		return leaseName + "-" + catchAllName
	case id.ranges > 0:
		return leaseName + rangePrefix + strings.Replace(id.rangeText(), "/", rangeSeparator, 1)
	case id.Sharded():
		return leaseName + "-" + id.name
	default:
		return leaseName
	}
}

// Prefixes of instances that are no shards. A dot is not allowed in the name of a shard.
const (
	modePrefix          = "mode."
	rangeInstancePrefix = "range."
)

// Instance is the name of the instance in labels of Leases and in claims: the name of the shard, the
// range or the mode. No two IDs have the same one.
func (id ID) Instance() string {
	switch {
	case id.ranges > 0:
		return rangeInstancePrefix + strings.Replace(id.rangeText(), "/", rangeSeparator, 1)
	case id.name != "":
		return id.name
	default:
		return modePrefix + id.Mode()
	}
}

// FromInstance returns the ID with the supplied Instance, and false if there is none.
func FromInstance(instance string) (ID, bool) {
	var (
		id  ID
		err error
	)

	if text, isRange := strings.CutPrefix(instance, rangeInstancePrefix); isRange {
		id, err = ParseRange(strings.Replace(text, rangeSeparator, "/", 1))
	} else if mode, isMode := strings.CutPrefix(instance, modePrefix); !isMode {
		id, err = Parse(instance)
	} else if mode == catchAllName {
		id = CatchAll()
	}

	return id, err == nil && id.Instance() == instance
}

// String describes the ID for people.
func (id ID) String() string { return strings.TrimSpace(id.Mode() + " " + id.Value()) }
