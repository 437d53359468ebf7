// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-terraform/internal/regular"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

const (
	// maxObject is the size up to which outputs are added to a Workspace. etcd refuses requests of
	// more than 1.5 MiB by default. A refused status would be lost as a whole: the Workspace would
	// never become Ready, and no condition would say why. The difference leaves room for later
	// additions, such as other conditions.
	maxObject = 1400 << 10

	// fieldSize is added for each field of a JSON object. The API server records the owner of each
	// field in the object, which takes 8 to 15 bytes and the name of the field. Each field also
	// makes a write 0.05 to 0.1 ms slower: without fieldSize, writes of large maps would time out.
	fieldSize = 64

	// maxNamed is the number of outputs that a message names.
	maxNamed = 5
)

const (
	reasonTooLarge xpv2.ConditionReason = "TooLarge"
	reasonAllShown xpv2.ConditionReason = "AllShown"

	reasonOutputsOmitted event.Reason = "OmittedOutputs"
)

// visibleOutputs returns the outputs that the status of a Workspace may show: those that have a
// value and are not sensitive. Their text is the one that the API server stores, as otherwise each report
// would differ from the status before it, and be written.
func visibleOutputs(outputs map[string]terraform.Output) map[string]extv1.JSON {
	visible := make(map[string]extv1.JSON, len(outputs))

	for name, o := range outputs {
		if o.Sensitive || isNull(o.Value) {
			continue
		}

		visible[name] = extv1.JSON{Raw: stored(o.Value)}
	}

	return visible
}

// stored returns a value as the API server stores it: a number that is no int64 is a float64 there, and has other
// digits than those that the CLI has printed.
func stored(value json.RawMessage) json.RawMessage {
	var v any
	if err := utiljson.Unmarshal(value, &v); err != nil {
		// A number that is too large for a float64, or JSON that is nested too deeply. showOutputs omits it.
		return value
	}

	text, _ := json.Marshal(v) // It was JSON.

	return text
}

// connectionDetails returns every output that has a value, sensitive or not. A string stays as it
// is, and other types are compact JSON with sorted keys. The digits of numbers do not change.
func connectionDetails(outputs map[string]terraform.Output) (managed.ConnectionDetails, error) {
	details := make(managed.ConnectionDetails, len(outputs))

	for name, o := range outputs {
		if isNull(o.Value) {
			continue
		}

		d := json.NewDecoder(bytes.NewReader(o.Value))
		d.UseNumber()

		var v any
		if err := d.Decode(&v); err != nil {
			return nil, errors.Wrapf(err, "cannot read output %q", name)
		}

		if s, ok := v.(string); ok {
			details[name] = []byte(s)

			continue
		}

		details[name], _ = json.Marshal(v) // It was JSON.
	}

	return details, nil
}

func anySensitive(outputs map[string]terraform.Output) bool {
	for _, o := range outputs {
		if o.Sensitive {
			return true
		}
	}

	return false
}

func isNull(v json.RawMessage) bool {
	return len(v) == 0 || bytes.Equal(v, []byte("null"))
}

// showOutputs replaces the outputs in the status of a Workspace. If there is no room for all, it
// omits the largest ones and names them in a condition and an Event.
func showOutputs(recorder event.Recorder, ws workspace.Workspace, outputs map[string]extv1.JSON) {
	o := ws.GetObservation()
	o.Outputs = nil
	ws.SetObservation(o)

	// The cache has no managed fields. fieldSize accounts for them.
	fields := ws.GetManagedFields()
	ws.SetManagedFields(nil)

	room := maxObject - storedSize(ws)

	ws.SetManagedFields(fields)

	sizes := map[string]int{}
	for name, value := range outputs {
		sizes[name] = storedSize(map[string]any{name: value})
	}

	last := ws.GetCondition(workspace.TypeOutputsOmitted)
	omitted := omit(sizes, room)

	for _, name := range omitted {
		delete(outputs, name)
	}

	o.Outputs = outputs
	ws.SetObservation(o)

	if len(omitted) == 0 {
		// Most Workspaces never have such outputs, and no such condition.
		if last.Status == corev1.ConditionTrue {
			transition(ws, workspace.TypeOutputsOmitted, corev1.ConditionFalse, reasonAllShown, "")
		}

		return
	}

	message := "status.atProvider.outputs has no room for " + nameSizes(sizes, omitted)
	if message != last.Message {
		recorder.Event(ws, event.Warning(reasonOutputsOmitted, errors.New(message)))
	}

	transition(ws, workspace.TypeOutputsOmitted, corev1.ConditionTrue, reasonTooLarge, message)
}

// omit returns the names of the outputs to omit so that the others fit into the room: the largest
// ones, in this order.
func omit(sizes map[string]int, room int) []string {
	names := bySize(sizes)

	for _, size := range sizes {
		room -= size
	}

	n := 0
	for ; room < 0 && n < len(names); n++ {
		room += sizes[names[n]]
	}

	return names[:n]
}

// storedSize returns the size of a value in the API server: that of its JSON, and fieldSize for
// each field. That JSON escapes <, > and &: one byte becomes six.
func storedSize(v any) int {
	var decoded any

	encoded, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(encoded, &decoded)
	}

	// JSON that is nested too deeply has no room, either.
	if err != nil {
		return maxObject
	}

	return len(encoded) + ownedSize(decoded)
}

// ownedSize returns the size of the records of field owners. A list has one owner.
func ownedSize(v any) int {
	fields, ok := v.(map[string]any)
	if !ok {
		return 0
	}

	size := 0
	for name, value := range fields {
		size += len(name) + fieldSize + ownedSize(value)
	}

	return size
}

// bySize returns the names, the largest output first.
func bySize(sizes map[string]int) []string {
	return slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
}

// nameSizes describes the first of the supplied names, with the sizes that are known.
func nameSizes(sizes map[string]int, names []string) string {
	var named []string

	for _, name := range names[:min(len(names), maxNamed)] {
		text := fmt.Sprintf("%.100q", name)
		if size, ok := sizes[name]; ok {
			text += " (" + regular.Size(int64(size)) + ")"
		}

		named = append(named, text)
	}

	if n := len(names) - len(named); n > 0 {
		named = append(named, fmt.Sprintf("and %d more", n))
	}

	return strings.Join(named, ", ")
}
