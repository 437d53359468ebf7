// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/alecthomas/kingpin.v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A kind of flag.
type kind[T any] struct {
	parse func(string) (T, error)

	// allowed describes the texts that parse accepts, for errors.
	allowed string

	// placeholder stands for a value in the help.
	placeholder string

	// ok says whether a value is within the limit, which is described for errors. It is nil without one.
	ok    func(T) bool
	limit string

	// noValue says that the flag needs no value, and has a --no- form.
	noValue bool
}

func (k kind[T]) limited(ok func(T) bool, limit string) kind[T] {
	k.ok, k.limit = ok, limit

	return k
}

// oneOf is the kind of a flag with one of the supplied texts.
func oneOf(texts ...string) kind[string] {
	return kind[string]{parse: func(s string) (string, error) {
		if !slices.Contains(texts, s) {
			return "", errors.New("not allowed")
		}

		return s, nil
	}, allowed: strings.Join(texts, " or "), placeholder: strings.Join(texts, "|")}
}

// optional is the kind of a flag whose target stays nil unless the flag is set.
func optional[T any](k kind[T]) kind[*T] {
	return kind[*T]{parse: func(s string) (*T, error) {
		t, err := k.parse(s)

		return &t, err
	}, allowed: k.allowed, noValue: k.noValue}
}

// A value is the value of a flag. Unlike the values of kingpin, its error names the flag
// and the allowed values.
type value[T any] struct {
	kind[T]

	flag   string
	target *T
}

func (v *value[T]) Set(s string) error {
	t, err := v.parse(s)
	if err != nil {
		return errors.Errorf("--%s is %q: it must be %s", v.flag, s, v.allowed)
	}

	if v.ok != nil && !v.ok(t) {
		return errors.Errorf("--%s is %v: it must be %s", v.flag, t, v.limit)
	}

	*v.target = t

	return nil
}

func (v *value[T]) String() string { return fmt.Sprint(*v.target) }

// IsBoolFlag is for kingpin: see noValue.
func (v *value[T]) IsBoolFlag() bool { return v.noValue }

// withoutBooleans returns arguments such as --debug=false in the form that kingpin takes, --no-debug. Other programs of Kubernetes take
// that form.
func withoutBooleans(a *kingpin.Application, args []string) ([]string, error) {
	args = slices.Clone(args)

	for i, arg := range args {
		name, value, ok := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !ok || !strings.HasPrefix(arg, "--") {
			continue
		}

		f := a.GetFlag(name)
		if f == nil || !f.Model().IsBoolFlag() {
			continue
		}

		set, err := strconv.ParseBool(value)
		if err != nil {
			return nil, errors.Errorf("--%s is %q: it must be true or false", name, value)
		}

		args[i] = "--" + name
		if !set {
			args[i] = "--no-" + name
		}
	}

	return args, nil
}

func addFlag[T any](a *kingpin.Application, k kind[T], name, help string, target *T) *kingpin.FlagClause {
	f := a.Flag(name, help).PlaceHolder(k.placeholder)
	f.SetValue(&value[T]{kind: k, flag: name, target: target})

	return f
}
