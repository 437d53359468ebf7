// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package environ

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLookup(t *testing.T) {
	t.Parallel()

	env := []string{"A=1", "AB=2", "A=3=3", "EMPTY=", "NOTHING"}

	cases := map[string]struct {
		reason string
		name   string
		want   string
		ok     bool
	}{
		"Last":    {reason: "The last one counts, up to its end.", name: "A", want: "3=3", ok: true},
		"Empty":   {reason: "An empty value is a value.", name: "EMPTY", ok: true},
		"Prefix":  {reason: "The whole name counts.", name: "EMP"},
		"Nothing": {reason: "An entry without a value is not a variable.", name: "NOTHING"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, ok := Lookup(env, tc.name)
			if got != tc.want || ok != tc.ok {
				t.Errorf("%s\nLookup(%q): want %q, %t, got %q, %t", tc.reason, tc.name, tc.want, tc.ok, got, ok)
			}
		})
	}
}

func TestArgs(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		env    []string
		want   []string
	}{
		"None":       {reason: "There are none."},
		"Both":       {reason: "The arguments of all commands come first.", env: []string{"TF_CLI_ARGS_init=-c", "TF_CLI_ARGS=-a -b"}, want: []string{"-a", "-b", "-c"}},
		"Others":     {reason: "Other commands have their own.", env: []string{"TF_CLI_ARGS_plan=-a", "TF_CLI_ARGS_initial=-b"}},
		"Quoted":     {reason: "Quotes hold a word together, and are not part of it.", env: []string{`TF_CLI_ARGS_init=-a="b c" '-d' \"e`}, want: []string{"-a=b c", "-d", `"e`}},
		"Unbalanced": {reason: "The CLI fails, so that nothing may depend on these words.", env: []string{`TF_CLI_ARGS_init=-a="b c`}, want: []string{"-a=b", "c"}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, Args(tc.env, "init")); diff != "" {
				t.Errorf("%s\nArgs(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()

	env := []string{"A=1", "AB=2", "A=3", "B=4"}
	before := slices.Clone(env)

	if diff := cmp.Diff([]string{"AB=2"}, Without(env, "A", "B")); diff != "" {
		t.Errorf("Without(...): -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(before, env); diff != "" {
		t.Errorf("Without(...) changed its argument: -want, +got:\n%s", diff)
	}
}

func TestWithGitConfig(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		env    []string
		want   []string
		err    string
	}{
		"First": {
			reason: "There is no configuration yet.",
			env:    []string{"A=1"},
			want:   []string{"A=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c", "GIT_CONFIG_KEY_1=d", "GIT_CONFIG_VALUE_1=", "GIT_CONFIG_COUNT=2"},
		},
		"More": {
			reason: "Existing configuration stays.",
			env:    []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=x", "GIT_CONFIG_VALUE_0=y"},
			want: []string{
				"GIT_CONFIG_KEY_0=x", "GIT_CONFIG_VALUE_0=y",
				"GIT_CONFIG_KEY_1=a.b", "GIT_CONFIG_VALUE_1=c", "GIT_CONFIG_KEY_2=d", "GIT_CONFIG_VALUE_2=", "GIT_CONFIG_COUNT=3",
			},
		},
		"Empty": {
			reason: "An empty count means none, as for git.",
			env:    []string{"GIT_CONFIG_COUNT="},
			want:   []string{"GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c", "GIT_CONFIG_KEY_1=d", "GIT_CONFIG_VALUE_1=", "GIT_CONFIG_COUNT=2"},
		},
		"Bad":      {reason: "git would fail with a worse message.", env: []string{"GIT_CONFIG_COUNT=many"}, err: `"many"`},
		"Negative": {reason: "The same is true of a negative count.", env: []string{"GIT_CONFIG_COUNT=-1"}, err: `"-1"`},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := WithGitConfig(tc.env, "a.b", "c", "d", "")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nWithGitConfig(...): -want, +got:\n%s", tc.reason, diff)
			}

			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s\nWithGitConfig(...): want error with %q, got %v", tc.reason, tc.err, err)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()

	words := []string{"-var=a=b c", `it's "quoted"`, `back\slash`, "a\nb", "$HOME `x`; | &", ""}
	if diff := cmp.Diff(words, Words(Quote(words))); diff != "" {
		t.Errorf("Words(Quote(...)): -want, +got:\n%s", diff)
	}
}

// TestCheck gives variables to a process. Those that an error names must be refused, and all others accepted.
func TestCheck(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason, name, value string
		err                 string
	}{
		"Usual":     {reason: "All other characters are fine.", name: "a B-c.ü", value: "= \n"},
		"NoName":    {reason: "There is no such variable.", err: `"" is not the name`},
		"Equals":    {reason: "It is the name of another one.", name: "A=B", err: `"A=B" is not the name`},
		"NULInName": {reason: "It ends there.", name: "A\x00", err: "is not the name"},
		"LongName":  {reason: "The error is short.", name: strings.Repeat("=", 1000), err: `"` + strings.Repeat("=", 100) + `" is`},
		"NUL":       {reason: "It ends there.", name: "A", value: "b\x00", err: "NUL"},
		"Latin1":    {reason: "A program may have it.", name: "A", value: "M\xfcller"},
		"Longest":   {reason: "The kernel accepts it.", name: "A", value: strings.Repeat("x", maxVariable-3)},
		"TooLong":   {reason: "The kernel refuses it.", name: "A", value: strings.Repeat("x", maxVariable-2), err: "131070 bytes"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := CheckName(tc.name)
			if err == nil {
				err = CheckValue(tc.name, []byte(tc.value))
			}

			if tc.err == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s\nwant an error with %q, got %v", tc.reason, tc.err, err)
			}

			// The kernel knows neither names nor "=".
			if strings.Contains(tc.err, "name") || strings.HasSuffix(name, "Name") {
				return
			}

			cmd := exec.CommandContext(t.Context(), "true")
			cmd.Env = []string{tc.name + "=" + tc.value}

			if started := cmd.Run() == nil; started != (tc.err == "") {
				t.Errorf("%s\na process with it: want it to start: %t", tc.reason, tc.err == "")
			}
		})
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()

	got := Flags([]string{"-lock", "-input=false", "--var=a=1", "-var", "b=2", "-parallelism", "3", "-varx=1", "-lock-timeout", "5s", "-var"}, "-var", "-lock", "-lock-timeout")
	if diff := cmp.Diff([]string{"-lock", "--var=a=1", "-var", "b=2", "-lock-timeout", "5s", "-var"}, got); diff != "" {
		t.Errorf("Flags(...): -want, +got:\n%s", diff)
	}
}

func TestOption(t *testing.T) {
	t.Parallel()

	for word, want := range map[string][3]any{
		"-var=a=1":    {"var", "a=1", true},
		"--lock=":     {"lock", "", true},
		"-force-copy": {"force-copy", "", false},
		"a=1":         {"a", "1", true},
	} {
		name, value, hasValue := Option(word)
		if got := [3]any{name, value, hasValue}; got != want {
			t.Errorf("Option(%q): want %v, got %v", word, want, got)
		}
	}
}

// TestGitCredentialHelper lets git use one entry for a host, and has another one refused: the file does not change, and the next request
// gets the entry of its user.
func TestGitCredentialHelper(t *testing.T) {
	t.Parallel()

	const entries = "https://first:a@example.org\nhttps://second:b@example.org\n"

	file := filepath.Join(t.TempDir(), "the credentials")
	if err := os.WriteFile(file, []byte(entries), 0o600); err != nil {
		t.Fatal(err)
	}

	env, err := WithGitConfig(append(os.Environ(), "CREDENTIALS="+file, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0"),
		"credential.helper", "", "credential.helper", GitCredentialHelper("$CREDENTIALS"))
	if err != nil {
		t.Fatal(err)
	}

	git := func(action, user, rest string) string {
		cmd := exec.CommandContext(t.Context(), "git", "credential", action)
		cmd.Env, cmd.Stdin = env, strings.NewReader("protocol=https\nhost=example.org\nusername="+user+"\n"+rest)

		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git credential %s: %v\n%s", action, err, out)
		}

		return string(out)
	}

	git("approve", "second", "password=b\n")
	git("reject", "first", "password=a\n")

	if got := git("fill", "second", ""); !strings.Contains(got, "password=b\n") {
		t.Errorf("want the password of the user, got %q", got)
	}

	if got, err := os.ReadFile(file); err != nil || string(got) != entries {
		t.Errorf("want the file as it was, got %q, %v", got, err)
	}
}
