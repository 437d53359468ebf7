// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

// Package remedy changes texts of git and of the network for conditions and events: it adds what to do, and removes secrets of
// addresses. The provider fetches the module of a Workspace itself, and the CLI those that it calls: both fail with the same
// texts.
package remedy

import "regexp"

// AddGitFile completes "the repository does not exist, or ...", where git had no credentials.
const AddGitFile = "needs an entry for this host, and for the user in the address, in a file .git-credentials in spec.credentials of the ProviderConfig"

var (
	// noise says nothing about the cause. The address of a download is in front of it, unless it is that of a second one to which the server
	// has referred.
	noise = regexp.MustCompile(`^error downloading '[^']*': |Cloning into '[^']*'\.\.\.\s*|\s*Please make sure you have the correct access rights\s+and the repository exists\.`)

	// prompt, denied, page and key match what git and ssh say when they cannot ask for credentials, and when the server
	// refuses those that they have. Many servers say the same about a repository that does not exist. host matches what they say about
	// a server whose key is not known. owner matches the advice for a directory of another user.
	prompt = regexp.MustCompile(`could not read (?:Username|Password) for ('[^']*'): (?:No such device or address|terminal prompts disabled)`)
	denied = regexp.MustCompile(`Authentication failed for ('https?://[^']*')`)
	page   = regexp.MustCompile(`info/refs not valid: is this a git repository\?|unable to update url base from redirection:`)
	key    = regexp.MustCompile(`Permission denied \(publickey[^)]*\)\.?\s+(fatal: Could not read from remote repository)`)
	host   = regexp.MustCompile(`Host key verification failed\.?\s+(fatal: Could not read from remote repository)`)

	owner = regexp.MustCompile(`\s*To add an exception for this directory, call:\s+git config --global --add safe\.directory (?:'[^']*'|\S+)`)

	// changing has what differs each time: the local end of a connection, the time in the refusal of a certificate, the names
	// of a temporary directory of go-getter and of the script of a remote-exec, the time that libcurl has waited, and what is new in
	// each answer of a cloud. With it, each try would be an Event of its own.
	changing = []struct { //nolint:gochecknoglobals // It is a constant.
		text *regexp.Regexp
		same string
	}{
		{regexp.MustCompile(`\b(dial|read|readfrom|write) (tcp|udp) \S+->`), "$1 $2 "},
		{regexp.MustCompile(`current time \S+ is (after|before) `), "the current time is $1 "},
		{regexp.MustCompile(`/getter\d+\b`), "/getter"},
		{regexp.MustCompile(`/terraform_\d+(\.(?:sh|cmd)")`), "/terraform$1"},
		{regexp.MustCompile(`\b(Failed to connect to .*?|(?:Connection|Resolving|Operation) time(?:d )?out) after \d+ (?:ms|milliseconds)\b`), "$1"},
		{regexp.MustCompile(`(status code: \d+), request id: [^\s,]*(?:, host id: [^\s,]*)?`), "$1"},
		{regexp.MustCompile(`(StatusCode: \d+), RequestID: [^\s,]*(?:, HostID: [^\s,]*)?`), "$1"},
		{regexp.MustCompile(`(Encoded authorization failure message:) [\w-]+`), "$1 ..."},
		{regexp.MustCompile(`(?:\\n|\s)+RequestId:\S*?(?:\\n|\s)+Time:[0-9][0-9T:.-]*Z`), ""},
		{regexp.MustCompile(` Trace ID: \S+ Correlation ID: \S+ Timestamp: [0-9-]+[ T][0-9:.]+Z?`), ""},
	}
)

// Git returns the text without noise, and with the remedy where git was refused. The credentials complete "the repository does not exist, or ...".
func Git(text, credentials string) string {
	text = noise.ReplaceAllString(text, "")
	text = prompt.ReplaceAllString(text, "cannot sign in to $1: the repository does not exist, or "+credentials)
	text = denied.ReplaceAllString(text, "$0: correct the first entry for this host, or for the user in the address, in .git-credentials, in spec.credentials of the ProviderConfig, or the user and token in the address")
	text = page.ReplaceAllString(text, "$0 the server has sent a web page, perhaps because it asks for credentials")
	text = host.ReplaceAllString(text, "Host key verification failed: mount a file known_hosts with the key of this server at /etc/ssh/ssh_known_hosts; $1")
	text = owner.ReplaceAllString(text, ": it belongs to another user, make the user of the provider its owner")

	return key.ReplaceAllString(text, "Permission denied (publickey): the repository does not exist, or needs a key in the parameter sshkey of the address; $1")
}

// Same returns a text that is the same for the same error.
func Same(text string) string {
	for _, c := range changing {
		text = c.text.ReplaceAllString(text, c.same)
	}

	return text
}
