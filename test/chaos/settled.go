// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// undecided is in the condition of a Workspace that was interrupted in its first creation, like
// another one with the same state.
const undecided = "may have been created by"

// A condition of a Workspace, as far as it matters here.
type condition struct {
	status, message string
	generation      int64
}

func conditionOf(o *unstructured.Unstructured, kind string) condition {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")

	for _, c := range conditions {
		c, ok := c.(map[string]any)
		if !ok || c["type"] != kind {
			continue
		}

		status, _ := c["status"].(string)
		message, _ := c["message"].(string)
		generation, _ := c["observedGeneration"].(int64)

		return condition{status: status, message: message, generation: generation}
	}

	return condition{}
}

// isReady returns an error unless a Workspace is Synced and Ready with its latest inputs.
func isReady(o *unstructured.Unstructured, want *wanted) error {
	for _, kind := range []string{"Synced", "Ready"} {
		c := conditionOf(o, kind)
		if c.status != "True" || kind == "Synced" && c.generation != o.GetGeneration() {
			return errors.Errorf("is not %s for generation %d: %s", kind, o.GetGeneration(), describeObject(o))
		}
	}

	have, _, _ := unstructured.NestedString(o.Object, "status", "atProvider", "outputs", "revision")
	if want := strconv.Itoa(want.revision); have != want {
		return errors.Errorf("has revision %q, want %q", have, want)
	}

	return nil
}

// isRefused says whether the condition of a Workspace reports that its state is lost, and
// how to accept that.
func isRefused(o *unstructured.Unstructured) bool {
	c := conditionOf(o, "Synced")

	return c.status == "False" && strings.Contains(c.message, acceptLoss)
}

// refusal matches the condition of a Workspace that does not destroy what it has not created.
var refusal = regexp.MustCompile(acceptTakenOver + `=([0-9a-f-]+)`)

// refusedToDestroy returns the lineages of the states that Workspaces have found, by the names of these
// Workspaces: they wait until a person accepts that they destroy something in them.
func (v violation) refusedToDestroy() map[string]string {
	lineages := map[string]string{}

	for line := range strings.Lines(v.text) {
		m := refusal.FindStringSubmatch(line)
		if m == nil {
			continue
		}

		name := v.workspace
		if first, _, _ := strings.Cut(line, " "); slices.Contains(v.others, first) {
			name = first
		}

		lineages[name] = m[1]
	}

	return lineages
}

// describeObject says how a Workspace is, in a line.
func describeObject(o *unstructured.Unstructured) string {
	s := &strings.Builder{}
	fmt.Fprintf(s, "shard %q, claim %s, annotations %v", o.GetLabels()[shardLabel], claimOf(o), o.GetAnnotations())

	for _, kind := range []string{"Synced", "Ready", "Stalled"} {
		if c := conditionOf(o, kind); c.status != "" {
			fmt.Fprintf(s, ", %s=%s (generation %d) %s", kind, c.status, c.generation, c.message)
		}
	}

	return s.String()
}

// unsettled returns the Workspaces that are not as expected. all are the Workspaces by
// name, and objects the existing ones. Of several Workspaces that use one state, one has
// to be Ready, and all others have to be refused.
func unsettled(all map[string]*wanted, objects map[string]*unstructured.Unstructured) (unready, shared []violation) {
	byState := map[string][]string{}
	now := time.Now().UnixNano()

	for _, name := range sorted(all) {
		w, o := all[name], objects[name]

		switch {
		case w.removed != 0 && o != nil:
			unready = append(unready, violation{workspace: name, time: now, text: "is not gone: " + describeObject(o)})
		case w.removed != 0 || w.flavour == leaky:
		case o == nil:
			unready = append(unready, violation{workspace: name, time: now, text: "is not there"})
		case w.lost && isRefused(o):
		default:
			byState[w.state()] = append(byState[w.state()], name)
		}
	}

	for _, state := range sorted(byState) {
		var (
			ready []string
			text  strings.Builder
		)

		names := byState[state]

		for _, name := range names {
			err := isReady(objects[name], all[name])
			if err == nil {
				ready = append(ready, name)
			} else {
				fmt.Fprintf(&text, "%s %s\n", name, err)
			}
		}

		if len(ready) == 0 {
			unready = append(unready, violation{workspace: names[0], others: names[1:], time: now, text: strings.TrimSpace(text.String())})
		}

		if len(ready) > 1 {
			shared = append(shared, violation{workspace: ready[0], others: ready[1:], time: now, text: fmt.Sprintf("%s are Ready with the same state %s", strings.Join(ready, " and "), state)})
		}
	}

	return unready, shared
}
