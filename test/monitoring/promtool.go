// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// EnvPromtool names the environment variable with the path of promtool.
const EnvPromtool = "PROMTOOL"

// interval is the time between the two scrapes of an instance, in the database of promtool.
const interval = "1m"

// Parse returns the samples of a scrape, in the text format of Prometheus.
func Parse(scrape string) (model.Vector, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)

	families, err := parser.TextToMetricFamilies(strings.NewReader(scrape))
	if err != nil {
		return nil, errors.Wrap(err, "cannot parse metrics")
	}

	var samples model.Vector

	for _, f := range families {
		some, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, f)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot extract the samples of %s", f.GetName())
		}

		samples = append(samples, some...)
	}

	return samples, nil
}

// A Database has the samples of two scrapes of each instance. Its zero value is ready to use.
type Database struct {
	series []series
}

// A series has the fields of an input series of promtool test rules.
type series struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

// Add adds the two scrapes of an instance, with the labels job and instance of Prometheus, and its
// metric up.
func (d *Database) Add(instance string, first, second model.Vector) {
	values := map[string][2]string{}
	set := func(samples model.Vector, at int) {
		for _, s := range append(samples, &model.Sample{Metric: model.Metric{model.MetricNameLabel: "up"}, Value: 1}) {
			m := s.Metric.Clone()
			m["job"], m["instance"] = "provider-terraform", model.LabelValue(instance)

			pair, ok := values[m.String()]
			if !ok {
				pair = [2]string{"_", "_"}
			}

			pair[at] = strconv.FormatFloat(float64(s.Value), 'f', -1, 64)
			values[m.String()] = pair
		}
	}

	set(first, 0)
	set(second, 1)

	for name, pair := range values {
		d.series = append(d.series, series{Series: name, Values: pair[0] + " " + pair[1]})
	}
}

// Evaluate evaluates the queries with promtool at the time of the second scrape. It returns an error
// unless each of them returns a number: NaN, as the quantile of no observations, is none.
func (d *Database) Evaluate(ctx context.Context, promtool string, queries []string) error {
	type sample struct {
		Labels string  `json:"labels"`
		Value  float64 `json:"value"`
	}

	type expectation struct {
		Expr    string   `json:"expr"`
		Time    string   `json:"eval_time"`
		Samples []sample `json:"exp_samples"`
	}

	expected := make([]expectation, 0, len(queries))

	for _, q := range queries {
		// NaN is not equal to itself.
		expr := "count((" + q + ") == (" + q + ")) > bool 0"
		expected = append(expected, expectation{Expr: expr, Time: interval, Samples: []sample{{Labels: "{}", Value: 1}}})
	}

	test, err := yaml.Marshal(map[string]any{
		"rule_files": []string{},
		"tests":      []any{map[string]any{"interval": interval, "input_series": d.series, "promql_expr_test": expected}},
	})
	if err != nil {
		return err
	}

	dir, err := os.MkdirTemp("", "promtool-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // It is a temporary directory.

	file := filepath.Join(dir, "queries.yaml")
	if err := os.WriteFile(file, test, 0o600); err != nil {
		return err
	}

	return Promtool(ctx, promtool, "test", "rules", file)
}

// Promtool runs promtool. The error has its output.
func Promtool(ctx context.Context, promtool string, args ...string) error {
	out, err := exec.CommandContext(ctx, promtool, args...).CombinedOutput() //nolint:gosec // The user who runs the test has set the path.

	return errors.Wrapf(err, "promtool %s: %s", strings.Join(args, " "), out)
}
