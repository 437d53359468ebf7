// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"strings"

	"gopkg.in/alecthomas/kingpin.v2"
)

// A section of the help has a title, and the flags from the first one to that of the next section.
type section struct {
	title string
	first int
}

// A help has the flags of a program in sections. The help of kingpin has neither sections nor
// environment variables, and no defaults of boolean flags.
type help struct {
	app      *kingpin.Application
	sections []section
}

// begin begins a section with the flags that are added to the program next.
func (h *help) begin(title string) {
	h.sections = append(h.sections, section{title: title, first: len(h.app.Model().Flags)})
}

// flags returns the flags of the section of the supplied index.
func (h *help) flags(i int) []*kingpin.FlagModel {
	flags := h.app.Model().Flags
	if i+1 < len(h.sections) {
		flags = flags[:h.sections[i+1].first]
	}

	return flags[h.sections[i].first:]
}

// template returns the help as a template of kingpin, which wraps the lines. kingpin knows the names of
// the environment variables once it has parsed the arguments.
func (h *help) template() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "usage: %s [<flags>]\n       %[1]s version\n\n%s\n", h.app.Name, h.app.Help)

	for i, s := range h.sections {
		fmt.Fprintf(b, "\n%s:\n", s.title)

		for _, f := range h.flags(i) {
			if !f.Hidden {
				fmt.Fprintf(b, "  %s\n{{%q|Wrap 6}}{{%q|Wrap 6}}", flagForms(f), f.Help, flagSources(f))
			}
		}
	}

	return b.String()
}

// flagForms returns how a flag is written on the command line.
func flagForms(f *kingpin.FlagModel) string {
	short := ""
	if f.Short != 0 {
		short = fmt.Sprintf("-%c, ", f.Short)
	}

	switch {
	case f.Name == "help" || f.Name == "version":
		return short + "--" + f.Name
	case f.IsBoolFlag():
		return short + "--[no-]" + f.Name
	default:
		return short + "--" + f.Name + "=" + f.FormatPlaceHolder()
	}
}

// flagSources returns the environment variable and the default of a flag, if it has any.
func flagSources(f *kingpin.FlagModel) string {
	var sources []string
	if f.Envar != "" {
		sources = append(sources, "Environment: "+f.Envar)
	}

	if len(f.Default) > 0 {
		sources = append(sources, "Default: "+strings.Join(f.Default, ", "))
	}

	return strings.Join(sources, ". ")
}
