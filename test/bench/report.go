// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const reportFile = "benchmarks.json"

// A report is all that was measured, as benchmarks.json has it. Times are seconds.
type report struct {
	Date    time.Time `json:"date"`
	Version string    `json:"version"`
	CLI     string    `json:"cli"`
	Machine machine   `json:"machine"`

	Cost          []cost         `json:"cost,omitempty"`
	Existing      []cost         `json:"existing,omitempty"` // By the existing provider, without requests and memory.
	Bursts        []burst        `json:"bursts,omitempty"`
	Interruptions []interruption `json:"interruptions,omitempty"`
	Scaling       []scaling      `json:"scaling,omitempty"`
	Memory        []memory       `json:"memory,omitempty"`
	Assigned      []assigned     `json:"assigned,omitempty"`
	Moves         []move         `json:"moves,omitempty"`
}

// A machine describes the hardware and the load, on which the numbers depend.
type machine struct {
	CPU  string `json:"cpu"`
	CPUs int    `json:"cpus"`

	// LoadBefore is the load average before the measurements: the load of other processes.
	LoadBefore float64 `json:"loadBefore"`
}

// A cost is the cost of one phase in the life of Workspaces.
type cost struct {
	Module     string `json:"module"`
	Phase      string `json:"phase"`
	Workspaces int    `json:"workspaces"`
	Workers    int    `json:"workers"`

	// Times that each Workspace went through the phase: 1, or the number of polls.
	Times float64 `json:"times"`

	Instance spent `json:"instance"`

	// Floor is the cost of the bare CLI in a loop. It is zero if there is nothing to run.
	Floor spent `json:"floor"`

	// P50 and P99 are times to Ready.
	P50 float64 `json:"p50,omitempty"`
	P99 float64 `json:"p99,omitempty"`

	// Requests to the API server by the instance, without those of the CLI.
	Requests float64 `json:"requests"`

	// MaxRSS is the most memory that the instance has had, without the CLI's, in bytes.
	MaxRSS uint64 `json:"maxRSS"`
}

// spent is the cost of a process that runs the CLI, with its children. All children end
// before it.
type spent struct {
	Wall float64 `json:"wall"`
	Runs float64 `json:"runs"`

	// Own is the CPU time of the process itself, and Children that of the CLI with
	// its plugins.
	Own      float64 `json:"own"`
	Children float64 `json:"children"`
}

// cpu is the CPU time of all processes.
func (s spent) cpu() float64 { return s.Own + s.Children }

// of returns the cost of the same phase and module, a zero one if it was not measured.
func (r *report) of(module, phase string) cost {
	i := slices.IndexFunc(r.Cost, func(c cost) bool { return c.Module == module && c.Phase == phase })
	if i < 0 {
		return cost{}
	}

	return r.Cost[i]
}

// each returns the cost per Workspace and repetition.
func (c cost) each(v float64) float64 { return v / (float64(c.Workspaces) * c.Times) }

// A scaling is how long slow applies take on some shards, each of which has the same
// number of Workspaces.
type scaling struct {
	Shards   int     `json:"shards"`
	PerShard int     `json:"perShard"`
	Takes    float64 `json:"takes"`
	Wall     float64 `json:"wall"`
}

// throughput is how many Workspaces get Ready in a second.
func (s scaling) throughput() float64 { return float64(s.Shards*s.PerShard) / s.Wall }

// gain over one shard.
func (s scaling) gain(one scaling) float64 { return s.throughput() / one.throughput() }

// A memory is the memory of instances that share Workspaces. Some more Workspaces keep
// them busy when they start. All fields but the number of Workspaces are the mean of one
// instance.
type memory struct {
	Workspaces int `json:"workspaces"`

	// Shards that share the Workspaces, 1 for an instance without a shard.
	Shards int `json:"shards"`

	// Before is the heap of an instance that has only the Workspaces that keep it busy
	// when it starts.
	Before float64 `json:"before"`
	Heap   float64 `json:"heap"`
	RSS    float64 `json:"rss"`

	// MaxRSS is the largest RSS of one instance without the settings that make the heap
	// comparable. It is zero for several.
	MaxRSS float64 `json:"maxRSS,omitempty"`

	Goroutines float64 `json:"goroutines"`
}

// held is the heap that Workspaces need.
func (m memory) held() float64 { return m.Heap - m.Before }

// readReport reads the report in the supplied directory.
func readReport(dir string) (*report, error) {
	data, err := os.ReadFile(filepath.Join(dir, reportFile)) //nolint:gosec // The caller names the directory.
	if err != nil {
		return nil, err
	}

	r := &report{}

	return r, errors.Wrapf(json.Unmarshal(data, r), "cannot read %s", reportFile)
}
