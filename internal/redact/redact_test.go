// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane-contrib/provider-terraform/test/wait"
)

const pem = `-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASC
BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj
AQAB
-----END PRIVATE KEY-----
`

func newSecrets(contents ...string) *Secrets {
	all := make([][]byte, 0, len(contents))
	for _, c := range contents {
		all = append(all, []byte(c))
	}

	return New(all...)
}

func TestText(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		contents []string
		text     string
		want     string
	}{
		"Whole": {
			reason:   "The content of a Secret is hidden.",
			contents: []string{"hunter22\n"},
			text:     "login with hunter22 failed",
			want:     "login with (sensitive) failed",
		},
		"Line": {
			reason:   "So is each line of it.",
			contents: []string{"https://me:hunter22@example.org\nhttps://you:hunter33@example.org\n"},
			text:     "cannot clone https://you:hunter33@example.org",
			want:     "cannot clone (sensitive)",
		},
		"TokenOfURL": {
			reason:   "A token may be in the place of the user.",
			contents: []string{"https://ghp_abcdefghijklmnopqrstuvwx@example.org\nhttps://git@example.org"},
			text:     "ghp_abcdefghijklmnopqrstuvwx is refused by example.org for git",
			want:     "(sensitive) is refused by example.org for git",
		},
		"Parameters": {
			reason:   "A program may put the parameters of a query, or of a connection string, in another order, and escape them.",
			contents: []string{"?sv=2022-11-02&sig=SECRETabc%2Bdef1ghi%3D&ss=b", "AccountKey=c2VjcmV0c2VjcmV0==;AccountName=acme1;Database=production-database;Endpoint=https://acme1.example.org/"},
			text:     "https://a.example.org/?ss=b&sig=SECRETabc%2Bdef1ghi%3D&sv=2022-11-02 SECRETabc+def1ghi= c2VjcmV0c2VjcmV0== production-database https://acme1.example.org/a",
			want:     "https://a.example.org/?ss=b&sig=(sensitive)&sv=2022-11-02 (sensitive) (sensitive) production-database https://acme1.example.org/a",
		},
		"CutPassword": {
			reason:   "A program that parses a URL takes the sign # or / in a password for its end.",
			contents: []string{"postgres://tf:hunter22#X9abcd@db.example.org/tf\n", "user:secret/of1234@proxy.example.org:80\n"},
			text:     `parse "postgres://tf:hunter22": invalid port ":hunter22" after host, X9abcd, Unsupported proxy syntax in 'user:secret', invalid port ":secret" secret, of1234`,
			want:     `parse "postgres://tf(sensitive)": invalid port "(sensitive)" after host, (sensitive), Unsupported proxy syntax in 'user(sensitive)', invalid port "(sensitive)" secret, (sensitive)`,
		},
		"PasswordWithoutScheme": {
			reason:   "Proxies and databases have addresses without a scheme.",
			contents: []string{"user:secret12@proxy.example.org", "app:hunter2secret@tcp(10.0.0.1:3306)/db", "user:pw1234567@[2001:db8::1]:3128", "https://u:12345@h.example.org"},
			text:     "secret12 hunter2secret pw1234567 and :12345",
			want:     "(sensitive) (sensitive) (sensitive) and (sensitive)",
		},
		"NoPassword": {
			reason: "Words of addresses that have no password are in messages, too.",
			contents: []string{
				"mailto:webmaster@example.org", "arn:aws:sts::123456789012:assumed-role/Administrators/joe@example.org",
				`url = "https://db.example.org:5432/production1?notify=joe@example.org"`,
			},
			text: "google_service_account.webmaster, aws_iam_group.Administrators, module.production1",
			want: "google_service_account.webmaster, aws_iam_group.Administrators, module.production1",
		},
		"TemplateSign": {
			reason:   "A template sign is escaped in HCL, also in a heredoc.",
			contents: []string{"password = \"open$${sesame}gate\"\ntext = <<E\nhunter%%{ two }\nE\n"},
			text:     "open${sesame}gate or hunter%{ two }",
			want:     "(sensitive) or (sensitive)",
		},
		"Composed": {
			reason:   "The CLI composes the characters of a string.",
			contents: []string{"password = \"Re\u0301sume\u0301\""},
			text:     "R\u00e9sum\u00e9 and Re\u0301sume\u0301 and R%C3%A9sum%C3%A9",
			want:     "(sensitive) and (sensitive) and (sensitive)",
		},
		"Quoted": {
			reason:   "So is each string in it, in HCL and in JSON.",
			contents: []string{`password = "hunter22"`, `{"token":"abc\"def"}`},
			text:     `hunter22 and abc\"def`,
			want:     "(sensitive) and (sensitive)",
		},
		"Names": {
			reason:   "The names in a key file, and its type, are words that are in addresses and messages.",
			contents: []string{"{\n  \"type\": \"service_account\",\n  \"project_id\": \"our-project\",\n  \"private_key\": \"hunter22\"\n}"},
			text:     `google_service_account.a, tls_private_key.b: "project_id" is our-project, hunter22`,
			want:     `google_service_account.a, tls_private_key.b: "project_id" is (sensitive), (sensitive)`,
		},
		"NameWithDigit": {
			reason:   "A secret may be in the place of a name.",
			contents: []string{`{"hunter22": "alice-alice"}`},
			text:     `x["hunter22"] of alice-alice`,
			want:     `x["(sensitive)"] of (sensitive)`,
		},
		"Escaped": {
			reason:   "The forms in which text is quoted are hidden.",
			contents: []string{`hunter "22" <&>\`},
			text:     `hunter "22" <&>\ is "hunter \"22\" <&>\\" is "hunter \"22\" \u003c\u0026\u003e\\"`,
			want:     `(sensitive) is "(sensitive)" is "(sensitive)"`,
		},
		"EscapedTwice": {
			reason:   "A string may be JSON inside a string.",
			contents: []string{`hunter"22`},
			text:     `"{\"token\": \"hunter\\\"22\"}"`,
			want:     `"{\"token\": \"(sensitive)\"}"`,
		},
		"Unescaped": {
			reason:   "The content of a quoted string is a secret.",
			contents: []string{`{"token": "hunter \"22\" \u003c"}`},
			text:     `hunter "22" < is "hunter \"22\" <"`,
			want:     `(sensitive) is "(sensitive)"`,
		},
		"LineOfString": {
			reason:   "A string may have several lines, which are printed one by one.",
			contents: []string{`{"private_key": "-----BEGIN-----\nMIIEvQIBADAN\n-----END-----\n"}`},
			text:     "bad line MIIEvQIBADAN in the key",
			want:     "bad line (sensitive) in the key",
		},
		"TokenAsUser": {
			reason:   "A token may be in the place of the user, with or without a word for the password.",
			contents: []string{"https://ghp_0123456789abcdefghij:x-oauth-basic@example.org\nhttps://t0k3n-0123456789abcdef:@example.org\n"},
			text:     "ghp_0123456789abcdefghij and t0k3n-0123456789abcdef",
			want:     "(sensitive) and (sensitive)",
		},
		"Template": {
			reason:   "The CLI escapes template syntax.",
			contents: []string{`hunter${22}%{x}`},
			text:     `"hunter$${22}%%{x}"`,
			want:     `"(sensitive)"`,
		},
		"YAML": {
			reason:   "A value need not be quoted.",
			contents: []string{"users:\n- name: admin\n  user:\n    token: abc123def\n    password: 'hunter22'\n"},
			text:     "token abc123def of admin, password hunter22",
			want:     "token (sensitive) of admin, password (sensitive)",
		},
		"Number": {
			reason:   "Nor is a number quoted, in JSON or in a list.",
			contents: []string{`{"pin":87654321,"pins":[11223344,55667788]}`, "ids = [22334455, -66778899]", `{"arn": "arn:aws:iam::123456789012:role/x"}`},
			text:     "87654321, 11223344, 55667788, 22334455 and -66778899 of 123456789012",
			want:     "(sensitive), (sensitive), (sensitive), (sensitive) and -(sensitive) of 123456789012",
		},
		"BrokenJSON": {
			reason:   "The CLI quotes the letters that a value without quotation marks begins with. The names of members are words in messages.",
			contents: []string{`{"password": hunterSecret22, "region": "eu"}`, "\ufeff {\n  \"list\": [true, rabbits]}"},
			text:     `"hunterSecret" is not a valid JSON keyword, nor is "rabbits": password and region are true`,
			want:     `"(sensitive)" is not a valid JSON keyword, nor is "(sensitive)": password and region are true`,
		},
		"NoJSON": {
			reason:   "Words without quotation marks are names in a file of another format.",
			contents: []string{"[default]\nregion = eu\n", "variable {\n  region = 1\n}\n", "{{ .variable.region }}"},
			text:     "default region of variable",
			want:     "default region of variable",
		},
		"ConnectionString": {
			reason:   "Nor does it need a separate line.",
			contents: []string{"host=db user=admin password=hunter22 sslmode=disable", "postgres://admin:hunter%2033@db/x"},
			text:     "hunter22 and hunter%2033 and hunter 33",
			want:     "(sensitive) and (sensitive) and (sensitive)",
		},
		"URL": {
			reason:   "In a URL it is escaped.",
			contents: []string{"hunter 2/2"},
			text:     "http://x/?q=hunter+2%2F2, http://x/hunter%202%2F2",
			want:     "http://x/?q=(sensitive), http://x/(sensitive)",
		},
		"Collapsed": {
			reason:   "White space makes no difference.",
			contents: []string{pem},
			text:     "key: " + strings.Join(strings.Fields(pem), " ") + "!",
			want:     "key: (sensitive)!",
		},
		"Joined": {
			reason:   "Missing white space does not matter.",
			contents: []string{pem},
			text:     "key: " + strings.Join(strings.Fields(pem), ""),
			want:     "key: (sensitive)",
		},
		"Wrapped": {
			reason:   "Nor does additional white space.",
			contents: []string{"correct horse battery staple"},
			text:     "not correct\n  horse battery\n  staple\n",
			want:     "not (sensitive)\n",
		},
		"Base64": {
			reason:   "The encoded form of a secret is hidden, too.",
			contents: []string{"hunter22-and-more"},
			text:     "aHVudGVyMjItYW5kLW1vcmU= and, with a user before it, bWU6aHVudGVyMjItYW5kLW1vcmU=",
			want:     "(sensitive)U= and, with a user before it, bWU6(sensitive)U=",
		},
		"Base64URL": {
			reason:   "The encoding may be that of URLs.",
			contents: []string{"hunter>>>???22"},
			text:     "aHVudGVyPj4+Pz8/MjI= is aHVudGVyPj4-Pz8_MjI=",
			want:     "(sensitive)I= is (sensitive)I=",
		},
		"LongestFirst": {
			reason:   "A secret that begins like another one is hidden as a whole.",
			contents: []string{"hunter22", "hunter22-and-more"},
			text:     "hunter22-and-more",
			want:     "(sensitive)",
		},
		"Overlap": {
			reason:   "Two overlapping secrets are hidden as a whole.",
			contents: []string{"hunter22-and", "22-and-more"},
			text:     "hunter22-and-more",
			want:     "(sensitive)",
		},
		"TooShort": {
			reason:   "Short text is not a secret: it would match everywhere.",
			contents: []string{"a", "true", "a b c d e"},
			text:     "a true error, a b c d e",
			want:     "a true error, a b c d e",
		},
		"Shortest": {
			reason:   "Six bytes are enough for a secret, five are not.",
			contents: []string{"secret", "passw"},
			text:     "secret passw",
			want:     "(sensitive) passw",
		},
		"Again": {
			reason:   "Redacted text does not change, regardless of the secrets.",
			contents: []string{"sensitive", "hunter22"},
			text:     "(sensitive) is sensitive, and so is hunter22",
			want:     "(sensitive) is (sensitive), and so is (sensitive)",
		},
		"Nothing": {
			reason: "Without secrets nothing is hidden.",
			text:   "an error",
			want:   "an error",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSecrets(tc.contents...)

			got := s.Text(tc.text)
			if got != tc.want {
				t.Errorf("\n%s\nText(%q): want %q, got %q", tc.reason, tc.text, tc.want, got)
			}

			if again := s.Text(got); again != got {
				t.Errorf("\n%s\nText(%q): want no change, got %q", tc.reason, got, again)
			}
		})
	}
}

// TestWith ensures that former secrets are hidden, too, and that words of messages are not.
func TestWith(t *testing.T) {
	t.Parallel()

	var former []*Secrets
	for _, s := range []*Secrets{
		newSecrets("hunter11"), newSecrets("forgotten-1"), newSecrets("hunter22"), newSecrets("hunter22"), newSecrets("default-key-1234"), newSecrets("last hunter"),
		newSecrets(strings.Repeat("too-large", maxKept)),
	} {
		former = s.Remember(former...)
	}

	if n := len(newSecrets("a file", "hunter22").Remember(newSecrets("hunter22", "a file").Remember()...)); n != 1 {
		t.Errorf("the same ones in another order: want one entry, got %d", n)
	}

	s := newSecrets("hunter33", "default", "crossplane", "production-1", "default-key", "in production-1").With(former, "production-1")

	cases := map[string]struct{ reason, text, want string }{
		"Current":   {reason: "Those are hidden.", text: "hunter33", want: "(sensitive)"},
		"Former":    {reason: "So are the former ones.", text: "hunter11 hunter22 last  hunter", want: "(sensitive) (sensitive) (sensitive)"},
		"Longer":    {reason: "A former one may begin with a current one.", text: "default-key-1234", want: "(sensitive)"},
		"Forgotten": {reason: "Only some are kept.", text: "forgotten-1", want: "forgotten-1"},
		"Large":     {reason: "Large ones are not kept.", text: "too-large-too-large", want: "too-large-too-large"},
		"Word":      {reason: "It is in most messages.", text: "default", want: "default"},
		"Command":   {reason: "It is to be copied.", text: "terraform.crossplane.io/approve-plan", want: "terraform.crossplane.io/approve-plan"},
		"Name":      {reason: "It is public.", text: "production-1", want: "production-1"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := s.Line(s.Text(tc.text)); got != tc.want {
				t.Errorf("%s: want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestKeyFile ensures that what is the same in each key file of Google Cloud is shown: plans with a hidden address cannot be approved.
func TestKeyFile(t *testing.T) {
	t.Parallel()

	const key = `{
  "type": "service_account",
  "project_id": "production-1",
  "private_key_id": "0123456789abcdef0123456789abcdef01234567",
  "private_key": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n",
  "client_email": "robot@production-1.iam.gserviceaccount.com",
  "auth_uri": "https://accounts.google.com/o/oauth2/auth",
  "token_uri": "https://oauth2.googleapis.com/token",
  "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs",
  "universe_domain": "googleapis.com"
}`

	const shown = `delete google_project_service.x["compute.googleapis.com"]; Post "https://oauth2.googleapis.com/token": dial tcp: lookup oauth2.googleapis.com; https://www.googleapis.com/oauth2/v1/certs`

	s := newSecrets(key)
	if got := s.Line(s.Text(shown + " MIIEvQIBADANBgkqhkiG9w0BAQEFAASC")); got != shown+" (sensitive)" {
		t.Errorf("want all but the key, got %q", got)
	}
}

func TestNil(t *testing.T) {
	t.Parallel()

	var s *Secrets
	if got := s.Line(s.Text("hunter22")); got != "hunter22" {
		t.Errorf("of no secrets: want the text, got %q", got)
	}
}

func TestLine(t *testing.T) {
	t.Parallel()

	const phrase = "correct horse battery staple"

	var words []string
	for n := range 40 {
		words = append(words, fmt.Sprintf("w%d", 1000*n))
	}

	long := strings.Join(words, " ")

	cases := map[string]struct {
		reason, line, want string
	}{
		"Whole":  {"A secret in the line is hidden.", "Error: correct horse battery staple is bad", "Error: (sensitive) is bad"},
		"Begins": {"A line may end with the first words of one.", "Error: not correct horse", "Error: not (sensitive)"},
		"Ends":   {"The next one begins with the others.", "  battery staple is bad", "  (sensitive) is bad"},
		"Middle": {"There may be no other words between two ends.", "  horse battery", "(sensitive)"},
		"Six":    {"Six bytes may be a part of one.", "ct hors", "(sensitive)"},
		"Short":  {"Few bytes are no secret.", "not horse", "not horse"},
		"Inside": {"Words in the middle of a line are not wrapped.", "a battery of tests", "a battery of tests"},
		"Empty":  {"There may be nothing.", "", ""},
		"Long":   {"A long part is hidden as one.", "Error: " + long[:100], "Error: (sensitive)"},
		"Longer": {"Another secret begins with the end of one.", "battery staple-9f8a7b6c5d was refused", "(sensitive) was refused"},
		"Rest":   {"So is the other end.", long[100:] + " is bad", "(sensitive) is bad"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := newSecrets(phrase, long, "staple-9f8a7b6c5d").Line(tc.line); got != tc.want {
				t.Errorf("\n%s\nLine(%q): want %q, got %q", tc.reason, tc.line, tc.want, got)
			}
		})
	}
}

// TestEqual tests that equal contents, and equal lines, are in memory once.
func TestEqual(t *testing.T) {
	t.Parallel()

	content := strings.Repeat("correct horse\n", 100)

	s := newSecrets(content, content)
	if got, want := s.Text("a correct horse"), "a (sensitive)"; got != want {
		t.Errorf("Text(): want %q, got %q", want, got)
	}

	// One is the content, and one the line.
	if len(s.current.spaced) != 2 {
		t.Errorf("texts with white space in a content with one line: want 2, got %d", len(s.current.spaced))
	}
}

// TestMemory tests that the memory for secrets of any shape is limited, and does not contain their other forms.
func TestMemory(t *testing.T) {
	t.Parallel()

	const most = 16 // Bytes for each byte of a secret.

	lines := func(format string) string {
		b := &strings.Builder{}
		for i := range 5_000 {
			fmt.Fprintf(b, format, i)
		}

		return b.String()
	}

	for name, content := range map[string]string{
		"Lines":  lines("a%06d\n"),
		"JSON":   "[" + lines(`"a%06d",`) + "]",
		"YAML":   lines("k: a%06d\n"),
		"Spaces": lines("a %05d\n"),
		"Quoted": lines("p=\"<%06d\"\n"),
		"Long":   strings.Repeat("A", 1<<17) + "B",
		"Signs":  strings.Repeat("$", 1<<17) + "{B",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSecrets(content)
			if s.Text(content) == content {
				t.Fatal("want a placeholder")
			}

			size := 8*cap(s.current.forms) + 8*cap(s.current.starts) + 16*cap(s.current.spaced)
			for _, text := range s.current.spaced {
				size += len(text)
			}

			if got := float64(size) / float64(len(content)); got > most {
				t.Errorf("bytes of memory for each byte: want at most %d, got %.1f", most, got)
			}

			if s.current.contents != nil {
				t.Error("the content itself is still in memory")
			}
		})
	}
}

// TestTime tests that the time for a line does not depend on how many secrets begin the same, or how
// long they are.
func TestTime(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("takes seconds")
	}

	many := &strings.Builder{}
	for i := range 20_000 {
		fmt.Fprintf(many, "AAAAAA%05d\n", i)
	}

	steps := &strings.Builder{}
	for i := range 1400 {
		fmt.Fprintf(steps, "%s0\n", strings.Repeat("A", i))
	}

	for name, secret := range map[string]string{
		"Many":  many.String(),
		"Long":  strings.Repeat("A", 1<<20) + "B",
		"Steps": steps.String(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newSecrets(secret)
			done := make(chan string)

			go func() { done <- s.Text(strings.Repeat("A", 512<<10) + "A00077 ") }()

			select {
			case <-done:
			case <-time.After(wait.Patience):
				t.Error("the search takes too long")
			}
		})
	}
}

// TestLong tests that a secret that is searched for in pieces is hidden as one.
func TestLong(t *testing.T) {
	t.Parallel()

	b := &strings.Builder{}
	for i := range 5000 {
		fmt.Fprintf(b, "%d,", i)
	}

	for _, n := range []int{maxForm - 1, maxForm, maxForm + 1, 2*maxForm - 1, 2 * maxForm, 2*maxForm + 1, 3*maxForm + 5, b.Len()} {
		secret := b.String()[:n]
		if got, want := newSecrets(secret).Text("a "+secret+" b"), "a (sensitive) b"; got != want {
			t.Errorf("Text() of a secret with %d bytes: want %q, got %q", n, want, got)
		}
	}
}

// FuzzText puts a secret into any text, in each of its forms.
func FuzzText(f *testing.F) {
	f.Add(`password = "hunter22"`, "login with ", 3)
	f.Add("\x00\xff\"\\\"\n,;", "(sensitive)", 0)
	f.Add(pem, "-----BEGIN PRIVATE", 7)
	f.Add("correct horse battery staple", "correct horse ", 1)

	f.Fuzz(func(t *testing.T, content, text string, form int) {
		secret := bare(strings.TrimSpace(content))
		if len(secret) < MinLength || strings.Contains(secret+text, "sensitive") {
			return
		}

		forms := append([]string{content, strings.Join(strings.Fields(content), " "), secret}, escaped(strings.TrimSpace(content))...)
		planted := forms[uint(form)%uint(len(forms))]

		s := newSecrets(content)

		got := s.Text(text + planted + text)
		if strings.Contains(bare(got), secret) {
			t.Errorf("Text(%q) of secret %q: %q", text+planted+text, content, got)
		}

		if again := s.Text(got); again != got {
			t.Errorf("Text(%q): want no change, got %q", got, again)
		}
	})
}
