// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"regexp"
	"strings"

	"github.com/crossplane-contrib/provider-terraform/internal/environ"
)

// The ways in which the CLIs refuse the arguments of a command. The init of Terraform 1.5 only prints its usage.
const (
	badFlag      = "Failed to parse command-line flags"
	badVar       = "Invalid -var option"
	tooManyWords = "Too many command line arguments"
	noVarFile    = "Failed to read variables file"
	noFile       = "Failed to read file" // Also one of the module.
)

var (
	badFlagText = regexp.MustCompile(`(?m)^Error parsing command-line (?:flags|options): (.*)$`)
	configFile  = regexp.MustCompile(`\.(?:tf|tofu)(?:\.json)?"`)
	badValue    = regexp.MustCompile(`^(?:Invalid (?:target|exclude) "|Invalid mode option$|Incompatible (?:plan mode|refresh) options$)`)
	usageText   = regexp.MustCompile(`(?m)^(?:Usage: ` + eitherCLI + `|` + tooManyWords + `)`)
)

// refusedArguments returns the diagnostic of a run whose arguments the CLI has refused, with the field of the
// arguments. The CLI names no field, and advises a global flag.
func refusedArguments(op string, env []string, ds []Diagnostic, stderr string) (Diagnostic, bool) {
	stderr = escapes.ReplaceAllString(stderr, "")
	field := argumentsOf(op, env)
	refused := func(why string) (Diagnostic, bool) {
		return Diagnostic{File: field, Summary: "Refused argument", Detail: why}, true
	}

	for _, d := range ds {
		switch {
		case d.Summary == badFlag, d.Summary == badVar:
			return refused(d.Detail)
		case d.Summary == noVarFile, d.Summary == noFile && op == opInit && !configFile.MatchString(d.Detail):
			return refused(d.Detail + " Its path is relative to spec.forProvider.entrypoint")
		case d.rank() != rankNothing:
		case badValue.MatchString(d.Summary):
			return refused(d.text())
		case d.says(tooManyWords):
			return refused(`one is empty, or neither begins with "-" nor is the value of the one before it`)
		}
	}

	if m := badFlagText.FindStringSubmatch(stderr); m != nil && len(ds) == 0 {
		return refused(m[1])
	}

	if len(ds) == 0 && usageText.MatchString(stderr) {
		return refused("one of them is unknown, or lacks a value or has a wrong one")
	}

	return Diagnostic{}, false
}

// argumentsOf returns where people may have written the arguments of a run.
func argumentsOf(op string, env []string) string {
	var places []string

	names := []string{allArgs + "_" + strings.NewReplacer(" ", "_", "-", "_").Replace(op)}

	switch op {
	case opInit, opPlan, opApply, opDestroy:
		places, names = []string{"spec.forProvider." + op + "Args"}, append(names, allArgs)
	}

	// The operator of the provider may have set them for all Workspaces.
	for _, name := range names {
		if value, _ := environ.Lookup(env, name); value != "" {
			places = append(places, "the environment variable "+name)
		}
	}

	// Such as one that a flag made of it: see flagsOf.
	if len(places) == 0 {
		places = []string{"the environment variable " + allArgs}
	}

	return strings.Join(places, " or ")
}
