// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadPlan ensures that two plans with the same effects read the same, wherever they are made, and that no other plan
// does.
func TestReadPlan(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		read := func(password, command string) *Reading {
			t.Helper()

			ws := newWorkspace(t, map[string]string{"main.tf": `
variable "password" {
  sensitive = true
  default   = "` + password + `"
}

resource "terraform_data" "a" {
  for_each = toset(["x", "y", "z"])
  input    = "${each.key}${var.password}"

  provisioner "local-exec" {
    command = "` + command + `"
  }
}

resource "terraform_data" "b" {
  input = "a sesame"
}

output "big" { value = 12345678901234567890 }
`})
			ws.Redact = func(text string) string { return strings.ReplaceAll(text, "sesame", "(sensitive)") }
			mustPlan(t, c, ws)

			r, err := c.ReadPlan(t.Context(), ws, filepath.Join(ws.Dir, "plan"))
			if err != nil {
				t.Fatal(err)
			}

			return r
		}

		first := read("sesame", "true")
		if !bytes.Equal(first.Effects, read("sesame", "true").Effects) {
			t.Error("want the same effects of the same plan in another directory")
		}

		if bytes.Equal(first.Effects, read("other", "true").Effects) {
			t.Error("want other effects with another value of a sensitive variable")
		}

		if bytes.Equal(first.Effects, read("sesame", "false").Effects) {
			t.Error("want other effects with another command of a provisioner")
		}

		if bytes.Equal(first.Effects, read("sesame", "true # other").Effects) {
			t.Error("want other effects with another module")
		}

		if text := string(first.Text); !strings.Contains(text, `terraform_data.a["x"] will be created`) || strings.Contains(text, "sesame") {
			t.Errorf("want a text for people without secrets, got %s", text)
		}
	})
}

func TestEffectsOf(t *testing.T) {
	t.Parallel()

	effects := func(plan string) string {
		t.Helper()

		e, err := effectsOf([]byte(plan), map[string]string{"a.tf": "a"})
		if err != nil {
			t.Fatal(err)
		}

		return string(e)
	}
	plan := effects(`{"timestamp":"a","resource_changes":[{"address":"a","change":{"actions":["update"],"after":1}}],"variables":{"a":{"value":1},"b":{"value":2}}}`)

	cases := map[string]struct {
		reason string
		plan   string
		same   bool
	}{
		"Timestamp": {reason: "Each plan has another one.", same: true, plan: `{"timestamp":"b","resource_changes":[{"address":"a","change":{"actions":["update"],"after":1}}],"variables":{"a":{"value":1},"b":{"value":2}}}`},
		"Order":     {reason: "Objects have no order.", same: true, plan: `{"variables":{"b":{"value":2},"a":{"value":1}},"resource_changes":[{"change":{"after":1,"actions":["update"]},"address":"a"}]}`},
		"Unchanged": {reason: "A resource without a change has no effect.", same: true, plan: `{"resource_changes":[{"address":"n","change":{"actions":["no-op"],"after":7}},{"address":"a","change":{"actions":["update"],"after":1}}],"variables":{"a":{"value":1},"b":{"value":2}}}`},
		"Check":     {reason: "What a check reads is read again.", same: true, plan: `{"resource_changes":[{"address":"data.n","action_reason":"read_because_check_nested","change":{"actions":["read"],"after":7}},{"address":"a","change":{"actions":["update"],"after":1}}],"variables":{"a":{"value":1},"b":{"value":2}}}`},
		"Read":      {reason: "Resources may use what another data source reads.", plan: `{"resource_changes":[{"address":"data.n","action_reason":"read_because_dependency_pending","change":{"actions":["read"],"after":7}},{"address":"a","change":{"actions":["update"],"after":1}}],"variables":{"a":{"value":1},"b":{"value":2}}}`},
		"Moved":     {reason: "A move changes the state.", plan: `{"resource_changes":[{"address":"n","previous_address":"m","change":{"actions":["no-op"],"after":7}},{"address":"a","change":{"actions":["update"],"after":1}}],"variables":{"a":{"value":1},"b":{"value":2}}}`},
		"Imported":  {reason: "So does an import.", plan: `{"resource_changes":[{"address":"n","change":{"actions":["no-op"],"importing":{"id":"i"}}},{"address":"a","change":{"actions":["update"],"after":1}}],"variables":{"a":{"value":1},"b":{"value":2}}}`},
		"Value":     {reason: "It is another value.", plan: `{"resource_changes":[{"address":"a","change":{"actions":["update"],"after":2}}],"variables":{"a":{"value":1},"b":{"value":2}}}`},
		"Number":    {reason: "As a float it would be the same.", plan: `{"resource_changes":[{"address":"a","change":{"actions":["update"],"after":1.00000000000000000001}}],"variables":{"a":{"value":1},"b":{"value":2}}}`},
		"Output":    {reason: "Outputs count.", plan: `{"output_changes":{"o":{}},"resource_changes":[{"address":"a","change":{"actions":["update"],"after":1}}],"variables":{"a":{"value":1},"b":{"value":2}}}`},
		"Config":    {reason: "The configuration has what a provisioner runs.", plan: `{"configuration":{"c":1},"resource_changes":[{"address":"a","change":{"actions":["update"],"after":1}}],"variables":{"a":{"value":1},"b":{"value":2}}}`},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := effects(tc.plan); (got == plan) != tc.same {
				t.Errorf("%s\neffectsOf(...): want the same %v, got %s and %s", tc.reason, tc.same, plan, got)
			}
		})
	}

	if _, err := effectsOf([]byte("{"), nil); err == nil {
		t.Error("want an error for what is no plan")
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{"abc": "abc", "abcd": "abc\n(1 bytes more)\n", "abüd": "ab\n(3 bytes more)\n"} {
		if got := string(shorten(text, 3)); got != want {
			t.Errorf("shorten(%q, 3): want %q, got %q", text, want, got)
		}
	}
}
