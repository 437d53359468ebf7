// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// root of the repository, from the directory of this package.
const root = "../.."

// alertTests has the tests of promtool.
const alertTests = "testdata/alerts.yaml"

// promtool returns the path of promtool. make check-monitoring builds it.
func promtool(t *testing.T) string {
	t.Helper()

	if os.Getenv(EnvPromtool) == "" {
		t.Skipf("needs %s: run make check-monitoring", EnvPromtool)
	}

	path, err := program.Find(EnvPromtool, "check-monitoring")
	if err != nil {
		t.Fatal(err)
	}

	return path
}

// readAlerts returns the alerts, of which there are some.
func readAlerts(t *testing.T) []Alert {
	t.Helper()

	alerts, err := Alerts(root)
	if err != nil {
		t.Fatal(err)
	}

	if len(alerts) == 0 {
		t.Fatal("there are no alerts")
	}

	return alerts
}

// TestRules checks the file that the command in the README extracts.
func TestRules(t *testing.T) {
	t.Parallel()

	tool := promtool(t)

	readme, err := os.ReadFile(filepath.Join(root, Directory, "README.md"))
	if err != nil {
		t.Fatal(err)
	}

	command := regexp.MustCompile(`(?m)^    (sed .*) > \S+$`).FindSubmatch(readme)
	if command == nil {
		t.Fatal("the README has no command that extracts the rules")
	}

	extract := exec.CommandContext(t.Context(), "sh", "-c", string(command[1]))
	extract.Dir = root

	rules, err := extract.Output()
	if err != nil {
		t.Fatalf("%s: %v", command[1], err)
	}

	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, rules, 0o600); err != nil {
		t.Fatal(err)
	}

	for _, a := range readAlerts(t) {
		if !strings.Contains(string(rules), "- alert: "+a.Name+"\n") {
			t.Errorf("the extracted rules do not contain %s", a.Name)
		}
	}

	if err := Promtool(t.Context(), tool, "check", "rules", "--lint=all", "--lint-fatal", file); err != nil {
		t.Error(err)
	}
}

// TestScrapeConfig checks the scrape configuration in the README.
func TestScrapeConfig(t *testing.T) {
	t.Parallel()

	tool := promtool(t)

	readme, err := os.ReadFile(filepath.Join(root, Directory, "README.md"))
	if err != nil {
		t.Fatal(err)
	}

	config := regexp.MustCompile("(?s)```yaml\n(scrape_configs:.*?)```").FindSubmatch(readme)
	if config == nil {
		t.Fatal("the README has no scrape configuration")
	}

	file := filepath.Join(t.TempDir(), "prometheus.yaml")
	if err := os.WriteFile(file, config[1], 0o600); err != nil {
		t.Fatal(err)
	}

	if err := Promtool(t.Context(), tool, "check", "config", "--syntax-only", file); err != nil {
		t.Error(err)
	}
}

// TestAlerts tests with promtool when each alert fires.
func TestAlerts(t *testing.T) {
	t.Parallel()

	tool, dir := promtool(t), t.TempDir()
	rules := readAlerts(t)

	for _, a := range rules {
		delete(a.Annotations, "description")
		delete(a.Annotations, "runbook_url")
	}

	data, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "all", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(filepath.Join(dir, "rules.yaml"), data, 0o600); err != nil {
		t.Fatal(err)
	}

	tests, err := os.ReadFile(alertTests)
	if err != nil {
		t.Fatal(err)
	}

	file := filepath.Join(dir, "alerts.yaml")
	if err := os.WriteFile(file, tests, 0o600); err != nil {
		t.Fatal(err)
	}

	if err := Promtool(t.Context(), tool, "test", "rules", file); err != nil {
		t.Error(err)
	}
}

// TestAlertTests requires for each alert a test in which it fires, and one in which it does not.
func TestAlertTests(t *testing.T) {
	t.Parallel()

	data, err := os.ReadFile(alertTests)
	if err != nil {
		t.Fatal(err)
	}

	var file struct {
		Tests []struct {
			Cases []struct {
				Alert    string `json:"alertname"`
				Expected []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		} `json:"tests"`
	}

	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}

	fires, silent := map[string]bool{}, map[string]bool{}

	for _, test := range file.Tests {
		for _, c := range test.Cases {
			fires[c.Alert] = fires[c.Alert] || len(c.Expected) > 0
			silent[c.Alert] = silent[c.Alert] || len(c.Expected) == 0
		}
	}

	for _, a := range readAlerts(t) {
		if !fires[a.Name] || !silent[a.Name] {
			t.Errorf("%s needs a test of %s in which it fires, and one in which it does not", a.Name, alertTests)
		}

		delete(fires, a.Name)
	}

	for name := range fires {
		t.Errorf("%s has a test of %s, which is no alert", alertTests, name)
	}
}

// TestRunbooks requires that each alert says what to do, and links to a section that exists.
func TestRunbooks(t *testing.T) {
	t.Parallel()

	const page = "docs/troubleshooting.md"

	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}

	sections := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllSubmatch(text, -1) {
		sections[anchor(string(heading[1]))] = true
	}

	names := map[string]bool{}

	for _, a := range readAlerts(t) {
		if names[a.Name] {
			t.Errorf("there are two alerts %s", a.Name)
		}

		names[a.Name] = true

		if a.Annotations["summary"] == "" || a.Annotations["description"] == "" {
			t.Errorf("%s has no summary or no description", a.Name)
		}

		if !slices.Contains([]string{"critical", "warning"}, a.Labels["severity"]) {
			t.Errorf("%s has the severity %q, want critical or warning", a.Name, a.Labels["severity"])
		}

		url, section, _ := strings.Cut(a.Annotations["runbook_url"], "#")
		if !strings.HasPrefix(url, "https://") || !strings.HasSuffix(url, "/"+page) || !sections[section] {
			t.Errorf("%s links to %q, which is no section of %s", a.Name, a.Annotations["runbook_url"], page)
		}
	}
}

// anchor returns the fragment of the address of a section with the supplied heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		default:
			return -1
		}
	}, strings.ToLower(heading))
}
