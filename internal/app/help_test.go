// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/alecthomas/kingpin.v2"
)

// TestHelp ensures that the help has every flag with its variable and default, in sections.
func TestHelp(t *testing.T) {
	t.Setenv("COLUMNS", "100")

	out := &strings.Builder{}
	app := (&Options{}).program(binary, out).app.Terminate(nil)

	if _, err := app.Parse([]string{"-h"}); err != nil {
		t.Fatal(err)
	}

	for _, want := range []string{
		"usage: crossplane-terraform-provider [<flags>]\n",
		"\nHelp:\n  -h, --help\n",
		"\nShards:\n  --shard-name=NAME\n",
		"      Environment: SHARD_NAME\n",
		"  --poll=DURATION\n      How often a Workspace that is up to date is planned.\n      Environment: CROSSPLANE_TERRAFORM_PROVIDER_POLL. Default: 10m\n",
		"  --[no-]enable-secret-cache\n",
		"      Environment: ENABLE_SECRET_CACHE. Default: true\n",
		"  -d, --[no-]debug\n      Log debug messages.\n      Environment: CROSSPLANE_TERRAFORM_PROVIDER_DEBUG. Default: false\n",
		"  --log-encoding=console|json\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("help: want %q in:\n%s", want, out)
		}
	}

	if strings.Contains(out.String(), "lease-apply-duration") {
		t.Error("help: want no hidden flag")
	}
}

// TestFlagsPage ensures that docs/flags.md and the help agree: the same sections with the same flags, each with its
// variable and default, and with a meaning that begins with the text of the help.
func TestFlagsPage(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../../docs/flags.md")
	if err != nil {
		t.Fatal(err)
	}

	h := (&Options{}).program(binary, t.Output())
	if _, err := h.app.ParseContext(nil); err != nil {
		t.Fatal(err)
	}

	var got, want []string

	meanings := map[string]string{}

	for line := range strings.Lines(strings.ReplaceAll(string(page), "`", "")) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			got = append(got, strings.TrimSpace(title))
		}

		if cells := strings.Split(line, "|"); strings.HasPrefix(line, "| --") && len(cells) == 6 {
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}

			got = append(got, strings.Join(cells[1:4], " | "))
			name, _, _ := strings.Cut(strings.TrimPrefix(cells[1], "--"), ",")
			meanings[name] = cells[4]
		}
	}

	for i, s := range h.sections {
		want = append(want, s.title)

		for _, f := range h.flags(i) {
			if f.Hidden {
				continue
			}

			want = append(want, row(f))

			help := []rune(strings.TrimSuffix(f.Help, "."))
			help[0] = unicode.ToLower(help[0])

			if i > 0 && !strings.HasPrefix(meanings[f.Name], string(help)) {
				t.Errorf("docs/flags.md: --%s: want a meaning that begins with %q, got %q", f.Name, string(help), meanings[f.Name])
			}
		}
	}

	want = append(want, "Environment variables")

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/flags.md: -flags of the program, +page:\n%s", diff)
	}
}

// row returns the first cells of the row of a flag: its names, its variable if it has a special name, and its default.
func row(f *kingpin.FlagModel) string {
	names := "--" + f.Name
	if f.Short != 0 {
		names += fmt.Sprintf(", -%c", f.Short)
	}

	variable := f.Envar
	if strings.HasPrefix(variable, "CROSSPLANE_TERRAFORM_PROVIDER_") {
		variable = ""
	}

	return strings.Join([]string{names, variable, strings.Join(f.Default, "")}, " | ")
}
