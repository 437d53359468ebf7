// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/alecthomas/kingpin.v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A value is the value of a flag. Unlike the values of kingpin, its error names the flag
// and the allowed values.
type value[T any] struct {
	flag    string
	target  *T
	parse   func(string) (T, error)
	allowed string
}

// Set parses s and stores the result.
func (v *value[T]) Set(s string) error {
	t, err := v.parse(s)
	if err != nil {
		return errors.Errorf("--%s is %q: it must be %s", v.flag, s, v.allowed)
	}

	*v.target = t

	return nil
}

// String returns the current value.
func (v *value[T]) String() string { return fmt.Sprint(*v.target) }

// IsBoolFlag tells kingpin that the flag needs no value, and has a --no- form.
func (v *value[T]) IsBoolFlag() bool {
	switch any(v.target).(type) {
	case *bool, **bool:
		return true
	default:
		return false
	}
}

func durationFlag(a *kingpin.Application, name, help, def string, target *time.Duration) *kingpin.FlagClause {
	return add(a, help, &value[time.Duration]{flag: name, target: target, parse: time.ParseDuration, allowed: "a duration such as 90s, 10m or 1h30m"}).Default(def)
}

func intFlag(a *kingpin.Application, name, help string, def int, target *int) {
	add(a, help, &value[int]{flag: name, target: target, parse: strconv.Atoi, allowed: "an integer"}).Default(strconv.Itoa(def))
}

func boolFlag(a *kingpin.Application, name, help string, def bool, target *bool) *kingpin.FlagClause {
	return add(a, help, &value[bool]{flag: name, target: target, parse: strconv.ParseBool, allowed: "true or false"}).Default(strconv.FormatBool(def))
}

// optionalBoolFlag adds a flag whose target stays nil unless the flag is set.
func optionalBoolFlag(a *kingpin.Application, name, help string, target **bool) *kingpin.FlagClause {
	parse := func(s string) (*bool, error) {
		b, err := strconv.ParseBool(s)

		return &b, err
	}

	return add(a, help, &value[*bool]{flag: name, target: target, parse: parse, allowed: "true or false"})
}

// enumFlag adds a flag for one of the supplied texts, of which the first is the
// default.
func enumFlag(a *kingpin.Application, name, help string, target *string, allowed ...string) *kingpin.FlagClause {
	parse := func(s string) (string, error) {
		if !slices.Contains(allowed, s) {
			return "", errors.New("not allowed")
		}

		return s, nil
	}

	return add(a, help, &value[string]{flag: name, target: target, parse: parse, allowed: strings.Join(allowed, " or ")}).Default(allowed[0])
}

func add[T any](a *kingpin.Application, help string, v *value[T]) *kingpin.FlagClause {
	f := a.Flag(v.flag, help)
	f.SetValue(v)

	return f
}
