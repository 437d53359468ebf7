// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
)

// TestRefusals has the texts of backends, as the CLIs print them.
func TestRefusals(t *testing.T) {
	t.Parallel()

	save := func(text string) error {
		return fmt.Errorf("wrapped: %w", &Error{Op: opApply, ExitCode: 1, Diagnostics: []Diagnostic{{Summary: "Failed to save state", Detail: "Error saving state: " + text}}})
	}
	stderr := func(op, text string) error { return &Error{Op: op, ExitCode: 1, Stderr: text} }

	const terminating = `leases.coordination.k8s.io "l" is forbidden: unable to create new content in namespace n because it is being terminated`

	type answers struct{ refused, tooLarge, lacksNamespace, lacksState bool }

	large, refused, gone := answers{refused: true, tooLarge: true}, answers{refused: true}, answers{refused: true, lacksNamespace: true, lacksState: true}

	cases := map[string]struct {
		err  error
		want answers
	}{
		"Request":        {err: save("Request entity too large: limit is 3145728"), want: large},
		"Push":           {err: stderr("state push", "Failed to persist state: Request entity too large:\nlimit is 3145728"), want: large},
		"Secret":         {err: save(`Secret "tfstate-w-s" is invalid: data: Too long: may not be more than 1048576 bytes`), want: large},
		"Etcd":           {err: save("etcdserver: request is too large"), want: large},
		"EtcdClient":     {err: save("rpc error: code = ResourceExhausted desc = trying to send message larger than max (2147484 vs. 2097152)"), want: large},
		"S3":             {err: save("failed to upload state: api error EntityTooLarge: Your proposed upload exceeds the maximum allowed size"), want: large},
		"HTTP":           {err: save("HTTP error: 413"), want: large},
		"Right":          {err: save(`secrets "tfstate-w-s" is forbidden: User "u" cannot update resource "secrets" in API group "" in the namespace "n"`), want: refused},
		"Quota":          {err: save(`secrets "tfstate-w-s" is forbidden: exceeded quota: q, requested: count/secrets=1`), want: refused},
		"S3Right":        {err: save("operation error S3: PutObject, https response error StatusCode: 403, api error AccessDenied: Access Denied"), want: refused},
		"S3Token":        {err: save("operation error S3: PutObject, https response error StatusCode: 400, api error ExpiredToken: The provided token has expired."), want: refused},
		"HTTPRead":       {err: save("failed checking for existing remote state: HTTP remote state endpoint requires auth"), want: refused},
		"HTTPLock":       {err: stderr("state push", "Error acquiring the state lock: Error message: HTTP remote state endpoint invalid auth"), want: refused},
		"Terminating":    {err: stderr("state pull", "Error loading the state: "+terminating), want: gone},
		"NoNamespace":    {err: save(`namespaces "n" not found`), want: gone},
		"Init":           {err: stderr(opInit, "Error: Error loading state: "+terminating), want: answers{refused: true, lacksNamespace: true}},
		"Outage":         {err: save("Put \"https://10.0.0.1/api\": dial tcp 10.0.0.1:443: connect: connection refused")},
		"Timeout":        {err: save("etcdserver: request timed out")},
		"Conflict":       {err: save(`Operation cannot be fulfilled on secrets "tfstate-w-s": the object has been modified`)},
		"TooMany":        {err: save("HTTP error: 429")},
		"OfResource":     {err: &Error{Op: opApply, ExitCode: 1, Diagnostics: []Diagnostic{{Summary: terminating, Address: "kubernetes_secret.x"}}}},
		"OtherNamespace": {err: save(`secrets "x" not found`)},
		"NotACLI":        {err: fmt.Errorf("%s", terminating)},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := answers{refused: IsStateRefused(tc.err), tooLarge: IsStateTooLarge(tc.err), lacksNamespace: LacksNamespace(tc.err), lacksState: LacksState(tc.err)}
			if got != tc.want {
				t.Errorf("%v: want %+v, got %+v", tc.err, tc.want, got)
			}
		})
	}
}

// TestRefusedState ensures that a refusal is recognized after an apply and after a push.
func TestRefusedState(t *testing.T) {
	forEachCLI(t, func(t *testing.T, c *CLI) {
		for code, large := range map[int]bool{http.StatusRequestEntityTooLarge: true, http.StatusForbidden: false} {
			s := startLockServer(t)
			ws := newWorkspace(t, map[string]string{"main.tf": s.backend() + `resource "terraform_data" "x" {}`})
			ws.Name = DefaultWorkspace

			if err := c.Init(t.Context(), ws, InitOptions{}); err != nil {
				t.Fatalf("init: %v", err)
			}

			s.refuse(code)

			_, err := c.Apply(t.Context(), ws, ApplyOptions{})
			if !IsStateUnsaved(err) || !IsStateRefused(err) || IsStateTooLarge(err) != large {
				t.Errorf("apply with the answer %d: want the refusal of its state, too large: %t, got %v", code, large, err)
			}

			err = c.PushState(t.Context(), ws, filepath.Join(ws.Dir, ErroredStateFile))
			if !IsStateRefused(err) || IsStateTooLarge(err) != large {
				t.Errorf("push with the answer %d: want a refusal, too large: %t, got %v", code, large, err)
			}
		}
	})
}
