// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const opStatePush = "state push"

// stateVersion is the version of state files since Terraform 0.12.
const stateVersion = 4

// A State is the recorded infrastructure of a workspace. The zero value means that there is none.
type State struct {
	Lineage string // Set when a state is first written, and never changed.
	Serial  uint64 // Grows with every change.
	Managed int    // Instances, without data sources.
	Data    bool   // There are data sources.
	Gone    int    // Of those, how many the refresh of a plan has not found, at most. The CLI does not report all of them as drift.
	Deposed int    // Objects that were replaced and are still to be destroyed. The other numbers do not count them.
	// Addresses of the managed resources, without keys of instances and of modules: "module.a.cloud_thing.b".
	Addresses []string
	// Outputs of the root module, except null ones, with the values of sensitive ones.
	Outputs map[string]Output
}

// PullState reads the state of the workspace, without a lock. It is zero if there is none. args are further
// arguments.
func (c *CLI) PullState(ctx context.Context, ws Workspace, args ...string) (*State, error) {
	raw, err := c.PullRawState(ctx, ws, args...)
	if err != nil {
		return nil, err
	}

	if len(bytes.TrimSpace(raw)) == 0 {
		return &State{}, nil
	}

	s, err := ParseState(raw)
	if err != nil {
		return nil, fmt.Errorf("cannot read the state that was pulled: %w", err)
	}

	return s, nil
}

// PullRawState reads the state of the workspace as a state file that is not encrypted. It is empty if there is none.
func (c *CLI) PullRawState(ctx context.Context, ws Workspace, args ...string) ([]byte, error) {
	return c.run(ctx, ws, command{op: "state pull", args: append([]string{"state", "pull", "-no-color"}, args...), inWorkspace: true})
}

// ListState returns the addresses of the resource instances in the state of the workspace. args are further arguments.
func (c *CLI) ListState(ctx context.Context, ws Workspace, args ...string) ([]string, error) {
	answer, err := c.run(ctx, ws, command{op: "state list", args: append([]string{"state", "list", "-no-color"}, args...), inWorkspace: true})

	return strings.Split(strings.TrimSpace(string(answer)), "\n"), err
}

// instanceKey matches the key of an instance of a module in an address.
var instanceKey = regexp.MustCompile(`\[(?:\d+|"(?:[^"\\]|\\.)*")\]`)

// SameContents reports whether two state files have the same resources and outputs.
func SameContents(a, b []byte) bool {
	contents := func(raw []byte) []byte {
		var file struct {
			Resources any `json:"resources"`
			Outputs   any `json:"outputs"`
		}

		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber() // Two large numbers may be one float.

		if d.Decode(&file) != nil {
			return nil
		}

		text, _ := json.Marshal(file) // Maps are sorted.

		return text
	}

	first := contents(a)

	return first != nil && bytes.Equal(first, contents(b))
}

// ParseState parses a state file. An encrypted one is an error.
func ParseState(raw []byte) (*State, error) {
	var file struct {
		Version   int                   `json:"version"`
		Lineage   string                `json:"lineage"`
		Serial    uint64                `json:"serial"`
		Outputs   map[string]jsonOutput `json:"outputs"`
		Resources []struct {
			Mode      string `json:"mode"`
			Module    string `json:"module"`
			Type      string `json:"type"`
			Name      string `json:"name"`
			Instances []struct {
				IndexKey json.RawMessage `json:"index_key"`
				Deposed  string          `json:"deposed"`
			} `json:"instances"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("not a state file: %w", err)
	}

	if file.Version != stateVersion {
		return nil, fmt.Errorf("version %d of the state file is not supported, only %d is", file.Version, stateVersion)
	}

	s := &State{Lineage: file.Lineage, Serial: file.Serial}
	if len(file.Outputs) > 0 {
		s.Outputs = outputs(file.Outputs)
	}

	for _, r := range file.Resources {
		// An instance that is being replaced is listed twice, under one key.
		keys := map[string]bool{}
		for _, i := range r.Instances {
			keys[string(i.IndexKey)] = true

			if i.Deposed != "" {
				s.Deposed++
			}
		}

		s.Data = s.Data || r.Mode == "data" && len(keys) > 0

		if r.Mode == "managed" && len(keys) > 0 {
			s.Managed += len(keys)
			s.Addresses = append(s.Addresses, strings.TrimPrefix(instanceKey.ReplaceAllString(r.Module, "")+".", ".")+r.Type+"."+r.Name)
		}
	}

	return s, nil
}

// Find returns the address of a managed resource that is at the supplied address, or in the module there. It is empty if there is
// none. Keys of instances do not count.
func (s *State) Find(address string) string {
	address = instanceKey.ReplaceAllString(address, "")

	i := slices.IndexFunc(s.Addresses, func(a string) bool { return a == address || strings.HasPrefix(a, address+".") })
	if i < 0 {
		return ""
	}

	return s.Addresses[i]
}

// Empty reports whether the state is nil, or has neither resources, data sources included, nor outputs.
func (s *State) Empty() bool {
	return s == nil || (s.Managed == 0 && !s.Data && len(s.Outputs) == 0)
}

// ErroredStateFile is the file, beside the root module, in which a CLI leaves a state that it could not
// save. Nothing else records the resources that the run has just created.
const ErroredStateFile = "errored.tfstate"

// PushState replaces the state of the workspace with the one in the file. IsNewerState recognizes the
// refusal because of the state that is there. args are further arguments.
func (c *CLI) PushState(ctx context.Context, ws Workspace, path string, args ...string) error {
	return c.runLogged(ctx, ws, command{op: opStatePush, args: slices.Concat([]string{"state", "push", "-no-color"}, args, []string{"--", path}), inWorkspace: true})
}

// PushRawState does the same as PushState with the content of a file.
func (c *CLI) PushRawState(ctx context.Context, ws Workspace, raw []byte, args ...string) error {
	return c.runLogged(ctx, ws, command{op: opStatePush, args: slices.Concat([]string{"state", "push", "-no-color"}, args, []string{"--", "-"}), inWorkspace: true, stdin: raw})
}

// IsUnrelatedState reports whether err is the refusal to replace a state with one that has another lineage.
func IsUnrelatedState(err error) bool { return wrote(err, "over unrelated state") }

// IsNewerState reports whether err is the refusal to replace a state with one that is older, has
// another lineage, or differs at the same serial.
func IsNewerState(err error) bool {
	return wrote(err, "cannot import state with", "cannot overwrite existing state with")
}
