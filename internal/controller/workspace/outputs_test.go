// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

func output(value string) terraform.Output { return terraform.Output{Value: json.RawMessage(value)} }

func sensitive(value string) terraform.Output {
	return terraform.Output{Value: json.RawMessage(value), Sensitive: true}
}

func TestOutputs(t *testing.T) {
	cases := map[string]struct {
		reason  string
		output  terraform.Output
		visible string
		detail  string
		absent  bool
	}{
		"String": {
			reason:  "A string has no quotes in the Secret.",
			output:  output(`"a \"quoted\" <text>"`),
			visible: `"a \"quoted\" <text>"`,
			detail:  `a "quoted" <text>`,
		},
		"EmptyString": {
			reason:  "An empty string is a value.",
			output:  output(`""`),
			visible: `""`,
		},
		"LargeNumber": {
			reason:  "All digits of a number are kept.",
			output:  output("12345678901234567890"),
			visible: "12345678901234567890",
			detail:  "12345678901234567890",
		},
		"Bool": {
			reason:  "A bool is JSON.",
			output:  output("true"),
			visible: "true",
			detail:  "true",
		},
		"List": {
			reason:  "A list is compact JSON in the Secret.",
			output:  output(`["a", 1,  null]`),
			visible: `["a", 1,  null]`,
			detail:  `["a",1,null]`,
		},
		"Object": {
			reason:  "Keys are sorted. Characters that HTML would read as a tag are escaped: this must not change.",
			output:  output(`{"b":"<&>","a":null,"n":1.50}`),
			visible: `{"b":"<&>","a":null,"n":1.50}`,
			detail:  `{"a":null,"b":"\u003c\u0026\u003e","n":1.50}`,
		},
		"Null": {
			reason: "An output without a value is published nowhere.",
			output: output("null"),
			absent: true,
		},
		"NoValue": {
			reason: "Neither is an output with an unknown value.",
			output: terraform.Output{},
			absent: true,
		},
		"Sensitive": {
			reason: "A sensitive output is in the Secret only.",
			output: sensitive(`"s3cret"`),
			detail: "s3cret",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			outputs := map[string]terraform.Output{"o": tc.output}

			wantVisible := map[string]extv1.JSON{}
			if !tc.absent && !tc.output.Sensitive {
				wantVisible["o"] = extv1.JSON{Raw: []byte(tc.visible)}
			}

			if diff := cmp.Diff(wantVisible, visibleOutputs(outputs)); diff != "" {
				t.Errorf("\n%s\nvisibleOutputs(...): -want, +got:\n%s", tc.reason, diff)
			}

			wantDetails := managed.ConnectionDetails{}
			if !tc.absent {
				wantDetails["o"] = []byte(tc.detail)
			}

			got, err := connectionDetails(outputs)
			if err != nil {
				t.Fatalf("connectionDetails(...): %v", err)
			}

			if diff := cmp.Diff(wantDetails, got); diff != "" {
				t.Errorf("\n%s\nconnectionDetails(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestConnectionDetailsInvalid(t *testing.T) {
	if _, err := connectionDetails(map[string]terraform.Output{"o": output("{")}); err == nil {
		t.Error("connectionDetails(...) of an output that is not JSON: want an error")
	}
}
