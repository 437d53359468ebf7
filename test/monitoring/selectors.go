// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"regexp"
	"slices"
	"strings"
)

// token matches the parts of a query that contain names. Label lists and ranges come first, so that
// they are not taken for metrics. The group is a name with its matchers.
var token = regexp.MustCompile(`\b(?:by|without|on|ignoring|group_left|group_right) *\([^)]*\)|\[[^\]]*\]|"[^"]*"|([a-zA-Z_][a-zA-Z0-9_]*(?:\{(?:"[^"]*"|[^"}])*\})?)`)

// isFunction matches the text after the name of a function or an aggregation.
var isFunction = regexp.MustCompile(`^\s*(?:\(|(?:by|without)\b)`)

// matcher matches the operator and the value of a label matcher.
var matcher = regexp.MustCompile(`(?:=~|!~|!=|=) *"[^"]*"`)

// Selectors returns the parts of a PromQL query that select series: metrics with their matchers. It
// is no parser: promtool checks the syntax.
func Selectors(query string) []string {
	var found []string

	for _, at := range token.FindAllStringSubmatchIndex(query, -1) {
		if at[2] < 0 {
			continue
		}

		name := query[at[2]:at[3]]
		isOperator := slices.Contains([]string{"and", "or", "unless", "bool"}, name)

		if !isOperator && !isFunction.MatchString(query[at[3]:]) {
			found = append(found, name)
		}
	}

	return found
}

// Metrics returns the names of the metrics in a PromQL query.
func Metrics(query string) []string {
	var found []string

	for _, s := range Selectors(query) {
		name, _, _ := strings.Cut(s, "{")
		found = append(found, name)
	}

	return found
}

// AnyValue replaces the values in a selector: the result selects all series that have the same
// labels, whatever their values.
func AnyValue(selector string) string {
	return matcher.ReplaceAllString(selector, `=~".+"`)
}
