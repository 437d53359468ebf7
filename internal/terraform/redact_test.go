// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/internal/process"
	"github.com/crossplane-contrib/provider-terraform/internal/redact"
)

// secretForms returns a secret of each kind, and a form in which it may be printed.
func secretForms(r *rand.Rand) map[string]struct{ secret, printed string } {
	text := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/"[r.IntN(38)]
		}

		return string(b)
	}
	token := text(6 + r.IntN(60))
	key := "-----BEGIN KEY-----\n" + text(64) + "\n" + text(64) + "\n" + text(3) + "\n-----END KEY-----\n"
	short := text(4) + "\n" + text(5) + "\n" + text(4) + "\n" + text(3)
	phrase := text(7) + " " + text(5) + " " + text(9) + " " + text(4)
	account := fmt.Sprintf("{\n  \"KEY\": %q,\n  \"ID\": %q\n}", key, token)
	collapsed := strings.Join(strings.Fields(key), " ")

	return map[string]struct{ secret, printed string }{
		"Token":      {token, token},
		"Quoted":     {token + `"` + token, strconv.Quote(token + `"` + token)},
		"Key":        {key, key},
		"KeyQuoted":  {key, strconv.Quote(key)},
		"Collapsed":  {key, collapsed},
		"ShortLines": {short, short},
		"Phrase":     {phrase, phrase},
		"Wrapped":    {phrase, strings.ReplaceAll(phrase, " ", "\n  ")},
		"Account":    {account, account},
		"KeyOf":      {account, strconv.Quote(key)},
		"Base64":     {key, base64.StdEncoding.EncodeToString([]byte(key))},
		"Colored":    {phrase, strings.ReplaceAll(phrase, " ", " \x1b[1m\x1b[31m")},
	}
}

// expectNoPart fails if the shown text contains a part of the printed text.
func expectNoPart(t *testing.T, kind, shown, printed string) {
	t.Helper()

	bare := func(text string) string { return strings.Join(strings.Fields(escapes.ReplaceAllString(text, "")), "") }

	shown, printed = bare(shown), bare(printed)
	for i := range len(printed) - redact.MinLength + 1 {
		if part := printed[i : i+redact.MinLength]; strings.Contains(shown, part) {
			t.Fatalf("%s: there is %q of %q in %q", kind, part, printed, shown)
		}
	}
}

// TestNoPartOfSecret puts secrets at every offset around each place where text is cut.
func TestNoPartOfSecret(t *testing.T) {
	t.Parallel()
	// length is the length of the text before the secret, so that the secret is cut. err makes an
	// error of the text.
	places := map[string]struct {
		length int
		err    func(ws Workspace, text string) error
	}{
		"Detail": {maxMessage, func(ws Workspace, text string) error {
			return newError("plan", ws, result{code: 1}, failed(Diagnostic{Summary: "S", Detail: text}))
		}},
		"Summary": {maxMessage, func(ws Workspace, text string) error {
			return newError("plan", ws, result{code: 1}, failed(Diagnostic{Summary: text}))
		}},
		"Address": {maxMessage, func(ws Workspace, text string) error {
			return newError("plan", ws, result{code: 1}, failed(Diagnostic{Summary: "S", Address: text}))
		}},
		"Text": {maxMessage, func(ws Workspace, text string) error {
			return newError("init", ws, result{code: 1, stderr: "Error: S\n\n" + text}, failed())
		}},
		"LastLines": {maxMessage, func(ws Workspace, text string) error {
			return newError("init", ws, result{code: 1, stderr: text}, failed())
		}},
		"Interrupted": {maxMessage - len("interrupted: "), func(ws Workspace, text string) error {
			return newError("init", ws, result{code: 1, stderr: text, interrupted: os.ErrDeadlineExceeded}, failed())
		}},
		"Tail": {200, func(ws Workspace, text string) error {
			end := &process.Tail{Max: 150, Redact: ws.redacted}
			for line := range strings.Lines(text + strings.Repeat("\n...", 30)) {
				_, _ = fmt.Fprintln(end, strings.TrimSuffix(line, "\n"))
			}

			return newError("init", ws, result{code: 1, stderr: "Error: S\n\n" + end.String()}, failed())
		}},
	}
	for place, p := range places {
		t.Run(place, func(t *testing.T) {
			t.Parallel()

			r := rand.New(rand.NewPCG(1, 2)) // The same secrets every time.
			for kind, s := range secretForms(r) {
				ws := Workspace{Dir: "/tf/ws", Redact: redact.New([]byte(s.secret)).Text}
				for n := max(0, p.length-len(s.printed)-20); n < p.length+20; n++ {
					err := p.err(ws, strings.Repeat(".", n)+" "+s.printed)
					expectNoPart(t, kind, err.Error(), s.printed)
				}
			}
		})
	}
}

// TestNoPartOfSecretInLog prints secrets in the ways in which the CLI prints text.
func TestNoPartOfSecretInLog(t *testing.T) {
	t.Parallel()

	c := findStub(t, Options{})
	for kind, s := range secretForms(rand.New(rand.NewPCG(3, 4))) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()

			secrets := redact.New([]byte(s.secret))

			message, err := json.Marshal(map[string]any{"@message": "Apply: " + s.printed, "diagnostic": map[string]string{"detail": s.printed}})
			if err != nil {
				t.Fatal(err)
			}

			var log []string

			ws := stubWorkspace(t, "say",
				"STUB_STDOUT="+string(message)+"\nplain "+s.printed+"\n",
				"STUB_STDERR=Error: "+s.printed+"\n",
				"STUB_CODE=1",
			)
			ws.Redact = secrets.Text
			ws.Log = func(line string) { log = append(log, secrets.Line(line)) }

			_, err = c.Destroy(t.Context(), ws, nil, nil)
			if err == nil || len(log) == 0 {
				t.Fatalf("want an error and a log, got %v and %q", err, log)
			}

			expectNoPart(t, kind, err.Error(), s.printed)
			// A line may end with a few bytes of a secret that continues in the next line.
			for _, line := range log {
				expectNoPart(t, kind, line, s.printed)
			}
		})
	}
}

// TestNoKeyOfModuleInLog ensures that the log has the addresses of called modules without what may be secret, and other lines as they
// are.
func TestNoKeyOfModuleInLog(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct{ op, line, want string }{
		"Token": {
			opInit, "Downloading git::http://x-access-token:s3cr3t@127.0.0.1/one?ref=main for n...",
			"Downloading git::http://127.0.0.1/one?ref=main for n...",
		},
		"Key": {
			opInit, "Downloading git::ssh://git@example.org/one.git?ref=v1&sshkey=LS0tLS1C for n...",
			"Downloading git::ssh://git@example.org/one.git?ref=v1&sshkey=redacted for n...",
		},
		"Quoted": { // The text about a failed download has lines of its own for what it quotes.
			opInit, `"git::http://x-access-token:s3cr3t@127.0.0.1/one?ref=main": error`,
			`"git::http://127.0.0.1/one?ref=main": error`,
		},
		"Download": {opPlan, `Could not download module "https://u:s3cr3t@example.org/a"`, `Could not download module "https://example.org/a"`},
		"None":     {opInit, "Downloading registry.example.org/a/b/c 1.0.0 for n...", "Downloading registry.example.org/a/b/c 1.0.0 for n..."},
		"Link":     {opApply, "Get https://c.example.org/v1?limit=5: EOF", "Get https://c.example.org/v1?limit=5: EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got []string

			Workspace{Log: func(line string) { got = append(got, line) }}.logger(tc.op)(tc.line + "\n")

			if diff := cmp.Diff([]string{tc.want}, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

// TestNoLogNoRedaction tests that output without a log is not searched for secrets.
func TestNoLogNoRedaction(t *testing.T) {
	ws := stubWorkspace(t, "say", "STUB_STDOUT=out\n", "STUB_STDERR=err\n")
	ws.Redact = func(text string) string {
		t.Errorf("%q was searched", text)

		return text
	}

	if err := findStub(t, Options{}).runLogged(t.Context(), ws, command{args: []string{"any"}}); err != nil {
		t.Error(err)
	}
}

// TestShows ensures that the address in a progress has no secret, which a for_each may make a key of, and a limit.
func TestShows(t *testing.T) {
	t.Parallel()

	ws, got := Workspace{Redact: redact.New([]byte("sesame-sesame")).Text}, ""
	report := ws.shows(func(p Progress) { got = p.Address })

	report(Progress{Address: `a.b["sesame-sesame"]`})

	if want := `a.b["(sensitive)"]`; got != want {
		t.Errorf("want address %q, got %q", want, got)
	}

	report(Progress{Address: strings.Repeat("x", 2*maxAddress)})

	if len(got) != maxAddress {
		t.Errorf("want an address of %d bytes, got %d", maxAddress, len(got))
	}

	if ws.shows(nil) != nil {
		t.Error("want no report without one to pass it on to")
	}
}

// TestNoPartOfSecretInBrokenJSON has a file of variables whose value lacks quotation marks. The CLI quotes its first letters.
func TestNoPartOfSecretInBrokenJSON(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		const content = `{"password": hunterSecret22}`

		ws := newWorkspace(t, map[string]string{"main.tf": `variable "password" { type = string }`, "x.tfvars.json": content})
		ws.Redact = redact.New([]byte(content)).Text

		_, err := c.Plan(t.Context(), ws, PlanOptions{Out: ws.Dir + "/plan", Args: []string{"-var-file=x.tfvars.json"}})
		if err == nil || !strings.Contains(err.Error(), "is not a valid JSON keyword") {
			t.Fatalf("want an error about the file, got %v", err)
		}

		expectNoPart(t, string(c.Product), err.Error(), "hunterSecret22")
	})
}
