// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// stubScript is a CLI that records the directory, the arguments and the environment of each run,
// and answers as a test has said. Without an answer for a command it succeeds. Its own directory
// has the records in runs and the answers in answers.
const stubScript = `
here=${0%%/*}
if [ "$1" = version ]; then echo %q; exit; fi

n=0
while [ -e "$here/runs/$n.args" ]; do n=$((n+1)); done
mkdir -p "$here/runs"
env > "$here/runs/$n.env"
printf '%%s\n' "$PWD" "$@" > "$here/runs/$n.args"

out=
for arg; do case $arg in -out=*) out=${arg#-out=};; esac; done
if [ "$1" = init ]; then mkdir -p .terraform; fi

for answer in "$here/answers/$1".*; do
  [ -e "$answer" ] || break
  mv "$answer" "$here/answer"
  . "$here/answer"
  break
done
exit 0
`

// planned is the answer of a plan with changes.
const planned = `echo '{"type":"change_summary","changes":{"add":1}}'; exit 2`

// fails is the answer of a run that fails with a diagnostic.
func fails(summary string) string {
	return fmt.Sprintf("printf 'Error: %%s\\n\\nIt failed.\\n' %q >&2; exit 1", summary)
}

// cli returns a stub with the supplied name, product and version.
func (p *place) cli(t *testing.T, name, version string) *terraform.CLI {
	t.Helper()

	path := filepath.Join(p.bin, name)

	if err := program.WriteScript(path, fmt.Sprintf(stubScript, version)); err != nil {
		t.Fatal(err)
	}

	cli, err := terraform.Find(t.Context(), path, terraform.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return cli
}

// answer makes the next runs of a command, such as init or state, run the supplied shell commands,
// one after the other.
func (p *place) answer(t *testing.T, command string, answers ...string) {
	t.Helper()

	files := filesystem.Files{}
	for n, a := range answers {
		files[fmt.Sprintf("answers/%s.%02d", command, n)] = a
	}

	filesystem.Write(t, p.bin, files)
}

// answerPlanned makes a plan succeed, and the state readable that it was made from.
func (p *place) answerPlanned(t *testing.T) {
	t.Helper()
	p.answer(t, "plan", planned)
	p.answer(t, "state", `echo '{"version":4,"lineage":"l","serial":4}'`)
}

// answerPlan returns the answer of a plan with changes, made from the supplied state.
func (p *place) answerPlan(t *testing.T, state string) string {
	t.Helper()

	path := filepath.Join(t.TempDir(), "plan")

	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	w := zip.NewWriter(f)

	for _, name := range []string{"tfstate-prev", "tfstate"} {
		entry, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}

		if _, err := entry.Write([]byte(state)); err != nil {
			t.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return fmt.Sprintf("cat %q > \"$out\"\n%s", path, planned)
}

// records returns the content of the records with this suffix, in the order of the runs.
func (p *place) records(t *testing.T, suffix string) [][]string {
	t.Helper()

	var records [][]string

	for n := 0; ; n++ {
		data, err := os.ReadFile(filepath.Join(p.bin, "runs", strconv.Itoa(n)+suffix))
		if os.IsNotExist(err) {
			return records
		}

		if err != nil {
			t.Fatal(err)
		}

		records = append(records, strings.Split(strings.TrimSpace(string(data)), "\n"))
	}
}

// ran returns the arguments of each run. DIR stands for the directory of the Workspace, and IN
// precedes a directory below it that the command ran in.
func (p *place) ran(t *testing.T, r *Runner) []string {
	t.Helper()

	var runs []string

	for _, lines := range p.records(t, ".args") {
		run := strings.Join(lines[1:], " ")
		if sub, ok := strings.CutPrefix(lines[0], r.Dir.Path()+"/"); ok {
			run = "IN " + sub + " " + run
		} else if lines[0] != r.Dir.Path() {
			run = "IN another directory " + run
		}

		runs = append(runs, strings.ReplaceAll(strings.ReplaceAll(run, r.Dir.Path(), "DIR"), r.Dir.Records(), "RECORDS"))
	}

	return runs
}

// environs returns the environment of each run.
func (p *place) environs(t *testing.T) []map[string]string {
	t.Helper()

	var environs []map[string]string

	for _, lines := range p.records(t, ".env") {
		env := map[string]string{}

		for _, line := range lines {
			name, value, _ := strings.Cut(line, "=")
			env[name] = value
		}

		environs = append(environs, env)
	}

	return environs
}
