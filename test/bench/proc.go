// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// clockTick is the unit of times in /proc, which is the same on every Linux that Go
// runs on.
const clockTick = 0.01

// proc is the directory of the proc file system.
const proc = "/proc"

// cpuTimes returns the CPU time of a process, and that of all its children that have
// ended.
func cpuTimes(pid int) (own, children float64, err error) {
	data, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, 0, err
	}

	return parseStat(string(data))
}

// parseStat reads /proc/PID/stat.
func parseStat(stat string) (own, children float64, err error) {
	// The second field, in brackets, is a name that may have anything in it.
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return 0, 0, errors.Errorf("cannot read %q", stat)
	}

	var ticks [4]float64
	for i := range ticks {
		if ticks[i], err = strconv.ParseFloat(fields[11+i], 64); err != nil {
			return 0, 0, errors.Wrapf(err, "cannot read %q", stat)
		}
	}

	return (ticks[0] + ticks[1]) * clockTick, (ticks[2] + ticks[3]) * clockTick, nil
}

// status returns a size in bytes out of /proc/PID/status: VmRSS or VmHWM.
func status(pid int, name string) (uint64, error) {
	data, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, err
	}

	return parseStatus(string(data), name)
}

func parseStatus(text, name string) (uint64, error) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			kb, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)

			return kb << 10, errors.Wrapf(err, "cannot read %q", line)
		}
	}

	return 0, errors.Errorf("there is no %s", name)
}

// load returns the load average of the last minute.
func load() (float64, error) {
	data, err := os.ReadFile(filepath.Join(proc, "loadavg"))
	if err != nil {
		return 0, err
	}

	first, _, _ := strings.Cut(string(data), " ")

	return strconv.ParseFloat(first, 64)
}

// cpuModel returns the name of the CPU, or "unknown".
func cpuModel() string {
	data, err := os.ReadFile(filepath.Join(proc, "cpuinfo"))
	if err != nil {
		return "unknown"
	}

	for line := range bytes.Lines(data) {
		if key, value, ok := strings.Cut(string(line), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}

	return "unknown"
}

// series are the values of all time series of a process, by name and labels.
type series map[string]float64

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

	return parseSeries(rsp.Body)
}

// parseSeries reads the text format of Prometheus as its own client writes it, without
// time stamps.
func parseSeries(r io.Reader) (series, error) {
	s := series{}
	lines := bufio.NewScanner(r)

	for lines.Scan() {
		line := lines.Text()

		i := strings.LastIndexByte(line, ' ')
		if i < 0 || strings.HasPrefix(line, "#") {
			continue
		}

		value, err := strconv.ParseFloat(line[i+1:], 64)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot read %q", line)
		}

		s[line[:i]] = value
	}

	return s, lines.Err()
}

// sum of all series of a name that have the supplied text, if any, in their labels.
func (s series) sum(name, labels string) float64 {
	total := 0.0

	for key, value := range s {
		n, l, _ := strings.Cut(key, "{")
		if n == name && strings.Contains(l, labels) {
			total += value
		}
	}

	return total
}
