// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"

	"github.com/crossplane-contrib/provider-terraform/internal/metrics"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
)

// A catalog has the names of registered metrics.
type catalog map[string]bool

// Register adds the names of the metrics of a collector, also of those without a value.
func (c catalog) Register(collector prometheus.Collector) error {
	name := regexp.MustCompile(`fqName: "([^"]+)"`)
	descriptions := make(chan *prometheus.Desc)

	go func() {
		defer close(descriptions)

		collector.Describe(descriptions)
	}()

	for d := range descriptions {
		c[name.FindStringSubmatch(d.String())[1]] = true
	}

	return nil
}

func (c catalog) MustRegister(collectors ...prometheus.Collector) {
	for _, collector := range collectors {
		_ = c.Register(collector)
	}
}

func (c catalog) Unregister(prometheus.Collector) bool { return false }

// provided returns the metrics of the provider and of managed resources. The other metrics are
// those of libraries, which test/integration reads from running instances.
func provided(t *testing.T) catalog {
	t.Helper()

	c := catalog{}
	metrics.New(c)

	for _, collector := range []prometheus.Collector{managed.NewMRMetricRecorder(), statemetrics.NewMRStateMetrics()} {
		if err := c.Register(collector); err != nil {
			t.Fatal(err)
		}
	}

	state, err := StateMetrics(root)
	if err != nil {
		t.Fatal(err)
	}

	for _, names := range state {
		for _, name := range names {
			c[name] = true
		}
	}

	return c
}

// TestStateMetrics requires the same metrics of each kind of Workspace.
func TestStateMetrics(t *testing.T) {
	t.Parallel()

	got, err := StateMetrics(root)
	if err != nil {
		t.Fatal(err)
	}

	want := map[string][]string{}
	for _, k := range workspace.Kinds() {
		want[k.GroupVersionKind.String()] = []string{"terraform_workspace_condition"}
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics of kube-state-metrics: -want, +got:\n%s", diff)
	}
}

// TestVariables requires that each query selects by all variables: a panel that ignores one would show
// the sum of several installations.
func TestVariables(t *testing.T) {
	t.Parallel()

	d, err := ReadDashboard(root)
	if err != nil {
		t.Fatal(err)
	}

	for _, p := range d.Panels {
		for _, target := range p.Targets {
			for _, s := range Selectors(target.Expr) {
				for _, v := range []string{"cluster", "namespace", "job"} {
					// The job of the kubelet is another one.
					if ok := strings.Contains(s, v+`=~"$`+v+`"`); !ok && (v != "job" || !IsElsewhere(s)) {
						t.Errorf("the panel %q does not select by %s: %s", p.Title, v, s)
					}
				}
			}
		}
	}
}

// base returns the name of the metric that has the supplied series: those of a histogram have a
// suffix.
func (c catalog) base(series string) string {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if name, ok := strings.CutSuffix(series, suffix); ok && c[name] {
			return name
		}
	}

	return series
}

// TestMetrics requires that each metric of a query exists, and that each metric of the provider is on
// the dashboard.
func TestMetrics(t *testing.T) {
	t.Parallel()

	d, err := ReadDashboard(root)
	if err != nil {
		t.Fatal(err)
	}

	queries := d.Queries()
	shown, known := catalog{}, provided(t)

	for _, q := range queries {
		for _, name := range Metrics(q) {
			shown[known.base(name)] = true
		}
	}

	for name := range known {
		if strings.HasPrefix(name, "provider_terraform_") && !shown[name] {
			t.Errorf("%s is not on the dashboard", name)
		}
	}

	for _, a := range readAlerts(t) {
		queries = append(queries, a.Expr)
	}

	library := regexp.MustCompile(`^(controller_runtime|workqueue|rest_client|process|go|container)_|^up$`)

	for _, q := range queries {
		for _, name := range Metrics(q) {
			if !known[known.base(name)] && !library.MatchString(name) {
				t.Errorf("there is no metric %s, which is in the query\n%s", name, q)
			}
		}
	}
}

// TestDashboard requires that panels can be told apart, and use the data source that the user has
// selected.
func TestDashboard(t *testing.T) {
	t.Parallel()

	d, err := ReadDashboard(root)
	if err != nil {
		t.Fatal(err)
	}

	if d.SchemaVersion == 0 {
		t.Error("the dashboard has no schemaVersion")
	}

	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Type+" "+v.Name)
	}

	if diff := cmp.Diff([]string{"datasource datasource", "query cluster", "query namespace", "query job", "query shard"}, variables); diff != "" {
		t.Errorf("variables: -want, +got:\n%s", diff)
	}

	ids := map[int]string{}

	var rows []string

	for _, p := range d.Panels {
		if other, ok := ids[p.ID]; ok {
			t.Errorf("%q and %q have the same ID", p.Title, other)
		}

		ids[p.ID] = p.Title

		if p.Type == "row" {
			first, _, _ := strings.Cut(p.Title, " ")
			rows = append(rows, strings.TrimSuffix(first, ":"))

			continue
		}

		if p.Title == "" || p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("the panel %q has no title, no description or no query", p.Title)
		}

		for _, target := range p.Targets {
			if target.Datasource.Type != "prometheus" || target.Datasource.UID != "${datasource}" {
				t.Errorf("the panel %q has the data source %v, want the selected one", p.Title, target.Datasource)
			}
		}
	}

	if diff := cmp.Diff([]string{"Fleet", "Shard", "Runs", "Hand-offs", "Caches", "Kubernetes"}, rows); diff != "" {
		t.Errorf("rows: -want, +got:\n%s", diff)
	}
}

func TestSelectors(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		query  string
		want   []string
	}{
		"Metric": {
			reason: "A metric without matchers is a selector.",
			query:  "up",
			want:   []string{"up"},
		},
		"Matchers": {
			reason: "The value of a matcher may contain brackets and braces.",
			query:  `sum by (le) (rate(a{b=~"c[.]d{2}", e="f"}[5m]))`,
			want:   []string{`a{b=~"c[.]d{2}", e="f"}`},
		},
		"Join": {
			reason: "Labels of a join, functions and operators are not metrics.",
			query:  "count(a) == 0 and on (job, instance) max_over_time(b[1h])\nunless c * on (d) group_left (e, f) g > bool 2",
			want:   []string{"a", "b", "c", "g"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, Selectors(tc.query)); diff != "" {
				t.Errorf("\n%s\nSelectors(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
