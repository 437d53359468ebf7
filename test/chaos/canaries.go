// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A canary is a secret that must appear nowhere.
type canary struct {
	name string

	// text is the data of a Secret.
	text string

	// secrets are the parts of the text that cannot be guessed.
	secrets []string
}

// alphabet of random texts: that of base64, without the characters that a shell or HCL
// interprets.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// canaries returns one of each kind of secret that is hard to hide: with lines, with
// white space, and longer than a message.
func canaries(seed uint64) map[string]canary {
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // It protects nothing.
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[rng.IntN(len(alphabet))]
		}

		return string(b)
	}
	lines := func(n int) []string {
		all := make([]string, n)
		for i := range all {
			all[i] = random(64)
		}

		return all
	}

	key := lines(12)
	pem := "-----BEGIN PRIVATE KEY-----\n" + strings.Join(key, "\n") + "\n-----END PRIVATE KEY-----\n"

	accountKey, id := lines(8), random(40)
	account, _ := json.MarshalIndent(map[string]string{
		"type":           "service_account",
		"private_key_id": id,
		"private_key":    "-----BEGIN PRIVATE KEY-----\n" + strings.Join(accountKey, "\n") + "\n-----END PRIVATE KEY-----\n",
	}, "", "    ") // Strings always can be.

	words := make([]string, 40)
	for i := range words {
		words[i] = random(14)
	}

	phrase := strings.Join(words[:20], "  ") + "\t" + strings.Join(words[20:], " \n ")
	token := random(3000)
	encoded := base64.StdEncoding.EncodeToString([]byte("apiVersion: v1\nkind: Config\nusers: [{user: {token: " + random(900) + "}}]"))
	// The beginning is the same for all of its kind.
	wrapped := wrap(encoded[64:], 76)

	return map[string]canary{
		"pem":     {name: "private key", text: pem, secrets: key},
		"account": {name: "service account", text: string(account), secrets: append(accountKey, id)},
		"phrase":  {name: "text with white space", text: phrase, secrets: append([]string{phrase}, words...)},
		"token":   {name: "long token", text: token, secrets: []string{token}},
		"base64":  {name: "encoded kubeconfig", text: strings.Join(wrapped, "\n") + "\n", secrets: wrapped},
	}
}

// wrap cuts a text into lines.
func wrap(text string, width int) []string {
	var lines []string

	for len(text) > width {
		lines, text = append(lines, text[:width]), text[width:]
	}

	return append(lines, text)
}

// A printer is a way for a module to get at a secret and to print it.
type printer struct {
	canary string

	// from is where the module gets it from: a file of variables in HCL or JSON, the
	// environment, or a file of credentials.
	from string
}

// Places that a module gets a secret from.
const (
	fromHCL         = "HCL"
	fromJSON        = "JSON"
	fromEnv         = "env"
	fromCredentials = "credentials"
)

// credentials is the secret that the ProviderConfig of leaky Workspaces has.
const credentials = "account"

func printers() []printer {
	return []printer{
		{canary: "pem", from: fromJSON},
		{canary: "account", from: fromEnv},
		{canary: "phrase", from: fromHCL},
		{canary: "token", from: fromEnv},
		{canary: "base64", from: fromJSON},
		{canary: credentials, from: fromCredentials},
		{canary: "token", from: fromHCL},
		{canary: "pem", from: fromEnv},
	}
}

// module prints the secret in an error, after so much other text that it is where a
// message is cut.
func (p printer) module(number int) string {
	pad := strings.Repeat("x", 700+number*97%300)

	switch p.from {
	case fromEnv:
		return fmt.Sprintf("resource \"terraform_data\" \"leak\" {\n  provisioner \"local-exec\" {\n    command = \"echo %s >&2; printenv CANARY >&2; exit 1\"\n  }\n}\n", pad)
	case fromCredentials:
		return fmt.Sprintf("resource \"terraform_data\" \"leak\" {\n  provisioner \"local-exec\" {\n    command = \"echo %s >&2; cat canary.json >&2; exit 1\"\n  }\n}\n", pad)
	default:
		return fmt.Sprintf("variable \"secret\" { type = string }\nresource \"terraform_data\" \"leak\" {\n  lifecycle {\n    precondition {\n      condition     = var.secret == \"\"\n      error_message = \"%s ${var.secret}\"\n    }\n  }\n}\n", pad)
	}
}

// file returns the file of variables for the secret.
func (p printer) file(c canary) []byte {
	text, _ := json.Marshal(c.text) // Strings always can be.
	if p.from == fromHCL {
		return fmt.Appendf(nil, "secret = %s\n", text)
	}

	return fmt.Appendf(nil, `{"secret": %s}`, text)
}

// A sighting is a text that people can read, and where.
type sighting struct {
	// time in nanoseconds since 1970, 0 if it is not known.
	time int64

	workspace, where, text string
}

// recognizable is the minimum length of a part of a secret that counts as a leak.
const recognizable = 12

// leaks returns where a part of a secret can be read.
func leaks(seen []sighting, all map[string]canary) []violation {
	parts := map[string]string{}

	for _, name := range sorted(all) {
		for _, s := range all[name].secrets {
			// Messages have white space collapsed.
			for _, form := range []string{s, strings.Join(strings.Fields(s), " ")} {
				for i := 0; i+recognizable <= len(form); i++ {
					parts[form[i:i+recognizable]] = name
				}
			}
		}
	}

	var found []violation

	known := map[string]bool{}

	for _, s := range seen {
		for i := 0; i+recognizable <= len(s.text); i++ {
			part := s.text[i : i+recognizable]

			name, ok := parts[part]
			if !ok {
				continue
			}

			// Each secret once for each place.
			if key := s.where + "\x00" + s.workspace + "\x00" + name; !known[key] {
				known[key] = true

				found = append(found, violation{
					workspace: s.workspace,
					time:      s.time,
					text:      fmt.Sprintf("%s shows a part of the %s (%q): %s", s.where, all[name].name, part, excerpt(s.text, i)),
				})
			}
		}
	}

	slices.SortStableFunc(found, func(a, b violation) int { return strings.Compare(a.workspace, b.workspace) })

	return found
}

// excerpt returns the text around the supplied position.
func excerpt(text string, i int) string {
	return "..." + text[max(0, i-60):min(len(text), i+60)] + "..."
}
