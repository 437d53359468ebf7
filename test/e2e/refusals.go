// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// checkRefusals returns an error if the API server has refused something to a container of the provider, in any
// pod that has ever existed.
func checkRefusals(_ context.Context, e *env) error {
	logs, err := e.Logs()
	if err != nil {
		return err
	}

	var refused []string

	found := false

	for _, l := range logs {
		// Of a package, and of a Deployment or a StatefulSet.
		if l.Container != "package-runtime" && l.Container != "provider" {
			continue
		}

		found = true

		text, err := os.ReadFile(l.Path)
		if err != nil {
			return err
		}

		for _, line := range refusals(string(text), e.refusals) {
			refused = append(refused, l.Pod+": "+line)
		}
	}

	switch {
	case !found:
		return errors.New("there is no log of the provider")
	case len(refused) > 0:
		return errors.Errorf("the API server has refused something to the provider:\n%s", strings.Join(refused, ""))
	default:
		return nil
	}
}

// refusals returns the lines of a log that say that something is forbidden, but for the expected ones.
func refusals(log string, expected []string) []string {
	var refused []string

	for line := range strings.Lines(log) {
		is := func(text string) bool { return strings.Contains(line, text) }

		if slices.ContainsFunc([]string{"forbidden", "Unauthorized", "A right is missing"}, is) && !slices.ContainsFunc(expected, is) {
			refused = append(refused, line)
		}
	}

	return refused
}
