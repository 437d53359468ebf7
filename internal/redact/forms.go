// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"hash/maphash"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// maxAligned is the length of the longest secret that is searched for inside text that was
// encoded with base64 together with other text, such as a password after a user. A longer secret
// is searched for at the beginning only.
const maxAligned = 1 << 10

// minParameter is the length of the shortest secret among the parameters of a query.
const minParameter = 16

// maxMember is the length of the text that is searched for the name of a member.
const maxMember = 32

var (
	// quoted matches strings in the syntax of HCL, JSON and most credential files.
	quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

	// memberName matches what follows the name of a member of a JSON object, and typeMember what
	// precedes the value of the member type.
	memberName = regexp.MustCompile(`^\s*:`)
	typeMember = regexp.MustCompile(`"type"\s*:\s*$`)

	// assigned matches values without double quotation marks in INI, YAML and environment files,
	// and in connection strings. A value without a digit is not matched: it is more likely to be a
	// word that is in messages, too.
	assigned = regexp.MustCompile(`(?:=|:\s)\s*'?([^\s"']*\d[^\s"']*)`)

	// number matches numbers in JSON and in lists.
	number = regexp.MustCompile(`(?:^|[[\s,:=])-?(\d[\d.]{5,})(?:$|[]\s,}])`)

	// object matches the beginning of a JSON object. keyword matches what the CLI takes for a keyword in it, and
	// quotes if it is none. The keywords of JSON are shorter.
	object  = regexp.MustCompile(`^[\x{feff}\s]*\{\s*"`)
	keyword = regexp.MustCompile(`[A-Za-z]{6,}`)

	// escapedSign matches an escaped template sign of HCL.
	escapedSign = regexp.MustCompile(`([$%])[$%]\{`)

	// userinfo matches the password in a URL, and a token in the place of the user. Names of users are shorter.
	userinfo = regexp.MustCompile(`//(?:([^/\s:@]{20,})|[^/\s:@]*)(?::([^@\s]*))?@`)

	// proxy matches the password in an address without a scheme, as of a proxy or a database, or what looks like one. With
	// a port, or if it is no path and has a digit, it is one: ARNs and addresses of mails are not.
	proxy     = regexp.MustCompile(`^[^/\s:@"{]+:([^/@\s][^@\s]*)@(\S+)\s*$`)
	withPort  = regexp.MustCompile(`^(?:[\w.-]+|\[[0-9a-f:]+\]):\d+\b`)
	wordDigit = regexp.MustCompile(`^[^/]*\d[^/]*$`)

	// unescapedEnd matches characters that end the host of a URL. Programs show what is before and after them if a password has
	// them as they are.
	unescapedEnd = regexp.MustCompile(`[/?#]`)
	port         = regexp.MustCompile(`^\d{1,5}$`)
)

// learn adds the forms of all contents.
func (v *values) learn() {
	v.starts = make([]uint64, v.size/8+1)

	for _, c := range v.contents {
		v.content(string(c))
	}

	v.contents = nil
	v.forms, v.spaced = distinct(v.forms), distinct(v.spaced)
}

// distinct returns a copy of all different values, in order.
func distinct[T cmp.Ordered](values []T) []T {
	slices.Sort(values)

	return slices.Clone(slices.Compact(values))
}

// know adds a form of a secret.
func (v *values) know(form string) {
	form = bare(form)

	// A text that contains a long form contains all of its pieces. They overlap, so that they are
	// hidden as one.
	for len(form) > maxForm {
		v.add(form[:maxForm])
		form = form[min(maxForm-1, len(form)-maxForm):]
	}

	if len(form) >= MinLength {
		v.add(form)
	}
}

func (v *values) add(piece string) {
	v.forms = append(v.forms, maphash.String(v.seed, piece))

	start := v.start(piece)
	v.starts[start/64] |= 1 << (start % 64)

	if !slices.Contains(v.lengths, len(piece)) {
		v.lengths = append(v.lengths, len(piece))
		slices.SortFunc(v.lengths, func(a, b int) int { return b - a })
	}
}

// content adds a text, its lines, and the strings and values in it.
func (v *values) content(text string) {
	v.secret(text)

	// Equal lines count once: the forms of a short line take much more memory than the line.
	lines := slices.Compact(slices.Sorted(strings.Lines(text)))

	if strings.Contains(strings.TrimSpace(text), "\n") {
		for _, line := range lines {
			v.secret(line)
		}
	}

	for _, line := range lines {
		for _, m := range assigned.FindAllStringSubmatch(line, -1) {
			v.secret(strings.TrimRight(m[1], ",;"))
			v.parameters(m[1])
		}

		// A comma is the end of one number and the beginning of another.
		for _, m := range number.FindAllStringSubmatch(strings.ReplaceAll(line, ",", ",,"), -1) {
			v.secret(m[1])
		}

		for _, m := range userinfo.FindAllStringSubmatch(line, -1) {
			v.password(m[1])
			v.password(m[2])
		}

		if m := proxy.FindStringSubmatch(line); m != nil && (withPort.MatchString(m[2]) || wordDigit.MatchString(m[1])) {
			v.password(m[1])
		}
	}

	v.strings(text)

	// The quotation marks around a value may have been forgotten.
	if object.MatchString(text) {
		for _, word := range keyword.FindAllString(quoted.ReplaceAllString(text, ""), -1) {
			v.secret(word)
		}
	}
}

// parameters adds the long values in a query or a connection string, from the first value on: programs put them in another order. A short
// one, and one without a digit, is more likely to be a word that is in messages, too.
func (v *values) parameters(text string) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '&' || r == ';' })
	if len(parts) < 2 {
		return
	}

	v.parameter(parts[0])

	for _, part := range parts[1:] {
		_, value, _ := strings.Cut(part, "=")
		v.parameter(value)
	}
}

func (v *values) parameter(value string) {
	if len(value) < minParameter || !strings.ContainsAny(value, "0123456789") || strings.Contains(value, "://") {
		return
	}

	v.secret(value)

	if unescaped, err := url.QueryUnescape(value); err == nil {
		v.secret(unescaped)
	}
}

// password adds the password in a URL, and the parts in which a program shows it that takes a sign in it for the end of the
// host. A part without a digit is more likely to be a word that is in messages, too, unless it follows the colon.
func (v *values) password(text string) {
	v.secret(text)

	if unescaped, err := url.PathUnescape(text); err == nil {
		v.secret(unescaped)
	}

	parts := unescapedEnd.Split(text, -1)
	if len(parts) > 1 && port.MatchString(parts[0]) && text[len(parts[0])] != '#' {
		return // The "@" is in the path.
	}

	v.secret(":" + parts[0])

	for _, part := range parts {
		if strings.ContainsAny(part, "0123456789") {
			v.secret(part)
		}
	}
}

// strings adds the strings in a text.
func (v *values) strings(text string) {
	for _, at := range quoted.FindAllStringIndex(text, -1) {
		m := text[at[0]:at[1]]

		// These words are in addresses and messages, too. A key file of Google Cloud has the names
		// project_id and private_key, and the type service_account. A word with a digit may be a secret
		// in the place of a name.
		named := memberName.MatchString(text[at[1]:]) || typeMember.MatchString(text[max(0, at[0]-maxMember):at[0]])
		if named && !strings.ContainsAny(m, "0123456789") {
			continue
		}

		v.secret(unwrap(m))

		// The parsed content of the file is what a module works with.
		meant := ""
		if json.Unmarshal([]byte(m), &meant) == nil && meant != unwrap(m) {
			v.content(meant)
		}

		if hcl, err := strconv.Unquote(m); err == nil && hcl != unwrap(m) && hcl != meant {
			v.content(hcl)
		}
	}
}

// secret adds a text, as it is written and as the CLI reads it, in all of its forms.
func (v *values) secret(text string) {
	text = strings.TrimSpace(text)
	// The CLI composes the characters of all strings, and reads an escaped template sign of HCL once, also in a heredoc.
	composed := norm.NFC.String(text)

	for _, read := range distinct([]string{text, composed, escapedSign.ReplaceAllString(text, "$1{"), escapedSign.ReplaceAllString(composed, "$1{")}) {
		v.allForms(read)
	}
}

func (v *values) allForms(text string) {
	if len(bare(text)) < MinLength {
		return
	}

	if whole := bare(text); whole != text {
		v.spaced = append(v.spaced, whole)
	}

	v.know(text)

	for _, form := range escaped(text) {
		v.know(form)
	}

	for before := range 3 {
		if before > 0 && len(text) > maxAligned {
			break
		}

		standard := encoded(text, before)
		v.know(standard)

		// Most encodings are the same for URLs.
		if urls := strings.ReplaceAll(strings.ReplaceAll(standard, "+", "-"), "/", "_"); urls != standard {
			v.know(urls)
		}
	}
}

// escaped returns the forms of the text, other than itself, inside a string of HCL and JSON,
// inside a nested one, and in a URL.
func escaped(text string) []string {
	// The same in all of these languages.
	if !strings.ContainsFunc(text, func(r rune) bool { return !isPlain(r) }) {
		return nil
	}

	var forms []string

	for _, quote := range []func(string) string{inHCL, inGo, inJSON(true), inJSON(false)} {
		once := quote(text)
		if once == text {
			continue
		}

		forms = append(forms, once, quote(once))
	}

	for _, escape := range []func(string) string{url.QueryEscape, url.PathEscape} {
		if e := escape(text); e != text {
			forms = append(forms, e)
		}
	}

	return distinct(forms) // Most texts have the same form in several of these languages.
}

// isPlain says whether a character stands for itself in all languages.
func isPlain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._~", r)
}

func inGo(text string) string { return unwrap(strconv.Quote(text)) }

// inHCL returns the text as the CLI quotes it.
func inHCL(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(inGo(text), "${", "$${"), "%{", "%%{")
}

// inJSON returns a function that returns a text in the form of encoding/json, which escapes HTML, or
// of other JSON encoders.
func inJSON(escapeHTML bool) func(text string) string {
	return func(text string) string {
		b := &bytes.Buffer{}
		e := json.NewEncoder(b)
		e.SetEscapeHTML(escapeHTML)
		_ = e.Encode(text) // A string always can be.

		return unwrap(strings.TrimSpace(b.String()))
	}
}

// unwrap takes away the quotation marks around text.
func unwrap(text string) string { return text[1 : len(text)-1] }

// encoded returns the characters that encode the text, independently of the bytes around it, if
// the supplied number of bytes precedes it. Each character stands for six bits.
func encoded(text string, before int) string {
	all := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + text))

	return all[(before*8+5)/6 : (before+len(text))*8/6]
}
