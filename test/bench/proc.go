// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net/http"

	"github.com/prometheus/common/model"
	"github.com/prometheus/procfs"

	"github.com/crossplane-contrib/provider-terraform/test/monitoring"
)

// clockTick is the unit of times in /proc, which is the same on every Linux that Go
// runs on.
const clockTick = 0.01

// readProc returns the CPU time of a process, that of all its children that have ended, and its
// largest RSS.
func readProc(pid int) (own, children float64, rss uint64, err error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, 0, 0, err
	}

	stat, err := p.Stat()
	if err != nil {
		return 0, 0, 0, err
	}

	status, err := p.NewStatus()

	return stat.CPUTime(), float64(stat.CUTime+stat.CSTime) * clockTick, status.VmHWM, err
}

// series are the samples of all time series of a process.
type series model.Vector

// scrape reads the metrics at the supplied URL.
func scrape(ctx context.Context, url string) (series, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}

	// The compressors of HTTP answers are kept for reuse. They take most of a megabyte of
	// the memory that is to be measured.
	req.Header.Set("Accept-Encoding", "identity")

	rsp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer rsp.Body.Close() //nolint:errcheck // Nothing was written to it.

	text, err := io.ReadAll(rsp.Body)
	if err != nil {
		return nil, err
	}

	samples, err := monitoring.Parse(string(text))

	return series(samples), err
}

// sum of all series of a name, or of those of the supplied command, if it is not empty.
func (s series) sum(name, command string) float64 {
	total := 0.0

	for _, sample := range s {
		if string(sample.Metric[model.MetricNameLabel]) == name && (command == "" || string(sample.Metric["command"]) == command) {
			total += float64(sample.Value)
		}
	}

	return total
}
