// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package monitoring reads the alerts and the dashboard in cluster/monitoring, and evaluates their
// queries with promtool.
package monitoring

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Directory of the alerts and the dashboard, from the root of the repository.
const Directory = "cluster/monitoring"

// An Alert is one rule of prometheusrule.yaml.
type Alert struct {
	Name        string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for,omitempty"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// Alerts returns the alerts of the repository in the directory root.
func Alerts(root string) ([]Alert, error) {
	data, err := os.ReadFile(filepath.Join(root, Directory, "prometheusrule.yaml")) //nolint:gosec // One of ours.
	if err != nil {
		return nil, err
	}

	var rule struct {
		Spec struct {
			Groups []struct {
				Rules []Alert `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}

	if err := yaml.Unmarshal(data, &rule); err != nil {
		return nil, errors.Wrap(err, "cannot parse prometheusrule.yaml")
	}

	var alerts []Alert
	for _, g := range rule.Spec.Groups {
		alerts = append(alerts, g.Rules...)
	}

	return alerts, nil
}

// StateMetrics returns the names of the metrics in kube-state-metrics.yaml, by the group of the Workspaces.
func StateMetrics(root string) (map[string][]string, error) {
	data, err := os.ReadFile(filepath.Join(root, Directory, "kube-state-metrics.yaml")) //nolint:gosec // One of ours.
	if err != nil {
		return nil, err
	}

	var config struct {
		Spec struct {
			Resources []struct {
				Kind   schema.GroupVersionKind `json:"groupVersionKind"`
				Prefix string                  `json:"metricNamePrefix"`

				Metrics []struct {
					Name string `json:"name"`
				} `json:"metrics"`
			} `json:"resources"`
		} `json:"spec"`
	}

	if err := yaml.Unmarshal(data, &config); err != nil {
		return nil, errors.Wrap(err, "cannot parse kube-state-metrics.yaml")
	}

	names := map[string][]string{}

	for _, r := range config.Spec.Resources {
		for _, m := range r.Metrics {
			names[r.Kind.String()] = append(names[r.Kind.String()], r.Prefix+"_"+m.Name)
		}
	}

	return names, nil
}

// elsewhere matches the metrics that come from kube-state-metrics and the kubelet, and not from the provider.
var elsewhere = regexp.MustCompile(`^(terraform_workspace|container)_`)

// IsElsewhere says whether a query needs metrics that the provider does not have.
func IsElsewhere(query string) bool {
	return slices.ContainsFunc(Metrics(query), elsewhere.MatchString)
}

// A Panel is one panel of the dashboard. A row is a panel without targets.
type Panel struct {
	ID          int      `json:"id"`
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Targets     []Target `json:"targets"`
}

// A Target is a query of a panel, with its data source.
type Target struct {
	Expr       string `json:"expr"`
	Datasource struct {
		Type string `json:"type"`
		UID  string `json:"uid"`
	} `json:"datasource"`
}

// A Variable of the dashboard is what its user selects.
type Variable struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Query any    `json:"query"`
}

// A Dashboard is the part of dashboard.json that is tested.
type Dashboard struct {
	SchemaVersion int     `json:"schemaVersion"`
	Panels        []Panel `json:"panels"`
	Templating    struct {
		List []Variable `json:"list"`
	} `json:"templating"`
}

// ReadDashboard returns the dashboard of the repository in the directory root.
func ReadDashboard(root string) (*Dashboard, error) {
	data, err := os.ReadFile(filepath.Join(root, Directory, "dashboard.json")) //nolint:gosec // One of ours.
	if err != nil {
		return nil, err
	}

	d := &Dashboard{}

	return d, errors.Wrap(json.Unmarshal(data, d), "cannot parse dashboard.json")
}

// Queries returns the queries of all panels, as Grafana sends them if everything is selected.
func (d *Dashboard) Queries() []string {
	variables := strings.NewReplacer("$__rate_interval", "5m", "$cluster", ".*", "$namespace", ".*", "$job", ".*", "$shard", ".*")

	var queries []string

	for _, p := range d.Panels {
		for _, t := range p.Targets {
			queries = append(queries, variables.Replace(t.Expr))
		}
	}

	return queries
}
