// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of the text of a plan. What is read is more than what is kept, so that no secret is cut before it is found.
const (
	maxPlanText = 900 << 10 // A Secret has room for it.
	maxReadText = 4 << 20
)

// A Reading is what a saved plan says. Both parts may contain values of any kind, also those of sensitive variables.
type Reading struct {
	// Effects are everything that the plan changes, with the values, the variables and the configuration, as JSON. Two
	// plans with the same effects have the same.
	Effects []byte
	// Text for people. It is cut if it is too long.
	Text []byte
}

// ErrPlanEncrypted says that only the CLI can read the file of a plan.
var ErrPlanEncrypted = errors.New("cannot read the plan: its file is encrypted")

// ReadPlan reads a saved plan. args are further arguments. It returns ErrPlanEncrypted if the file is encrypted.
func (c *CLI) ReadPlan(ctx context.Context, ws Workspace, file string, args ...string) (*Reading, error) {
	show := func(format string) command {
		return command{op: opShow, args: slices.Concat([]string{opShow, format}, args, []string{file}), inWorkspace: true}
	}

	raw, err := c.run(ctx, ws, show("-json"))
	if err != nil {
		return nil, err
	}

	sources, err := planSources(file)
	if errors.Is(err, zip.ErrFormat) {
		return nil, ErrPlanEncrypted
	} else if err != nil {
		return nil, fmt.Errorf("cannot read the plan: %w", err)
	}

	effects, err := effectsOf(raw, sources)
	if err != nil {
		return nil, fmt.Errorf("cannot read the plan: %w", err)
	}

	text := &limitedBuffer{max: maxReadText}

	cmd := show("-no-color")
	if res, err := c.execute(ctx, ws, cmd, text, ws.logger(cmd.op)); err != nil {
		return nil, err
	} else if res.code != 0 {
		return nil, newError(cmd.op, ws, res, firsts[Diagnostic]{})
	}

	return &Reading{Effects: effects, Text: shorten(ws.redacted(text.text.String()), maxPlanText)}, nil
}

const opShow = "show"

// effectsOf returns the part of a plan that decides what its apply does. A plan has the time when it was made, too.
// Resources without a change are left out, and data sources in check blocks, which the apply reads again: what they are read as may
// differ each time.
// sources are those of the modules: the CLI shows no locals, and only a part of the expressions.
func effectsOf(raw []byte, sources map[string]string) ([]byte, error) {
	var plan struct {
		ResourceChanges []map[string]any `json:"resource_changes"`
		OutputChanges   any              `json:"output_changes"`
		Variables       any              `json:"variables"`
		Configuration   any              `json:"configuration"`
		Sources         any              `json:"sources"`
	}

	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // Two large numbers may be one float.

	if err := d.Decode(&plan); err != nil {
		return nil, err
	}

	plan.ResourceChanges = slices.DeleteFunc(plan.ResourceChanges, func(c map[string]any) bool {
		change, _ := c["change"].(map[string]any)
		actions, _ := change["actions"].([]any)
		_, moved := c["previous_address"]
		_, imports := change["importing"]

		return c["action_reason"] == readInCheck || len(actions) == 1 && actions[0] == "no-op" && !moved && !imports
	})

	plan.Sources = sources

	return json.Marshal(plan) // Maps are sorted.
}

// sourcesDir is the directory of the modules in a saved plan.
const sourcesDir = "tfconfig/"

// planSources returns digests of the files of all modules in a saved plan, by their names. There are some in each plan: one
// without them is not understood.
func planSources(file string) (map[string]string, error) {
	sources := map[string]string{}

	err := readPlanEntries(file, func(name string) bool { return strings.HasPrefix(name, sourcesDir) },
		func(name string, data []byte) { sources[name] = fmt.Sprintf("%x", sha256.Sum256(data)) })
	if err == nil && len(sources) == 0 {
		err = errors.New("it has no modules")
	}

	return sources, err
}

func readEntry(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // Nothing was written.

	return io.ReadAll(io.LimitReader(r, MaxAnswer))
}

// shorten returns at most n bytes of a text, with a last line that says so if there are more.
func shorten(text string, n int) []byte {
	if len(text) <= n {
		return []byte(text)
	}

	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}

	return fmt.Appendf(nil, "%s\n(%d bytes more)\n", text[:n], len(text)-n)
}
