// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

// TestReuseOfInit ensures when init runs for a Workspace after another run, by the same Workspace or
// by another one.
func TestReuseOfInit(t *testing.T) {
	t.Parallel()

	const uninitialized = "Inconsistent dependency lock file"

	other := configuration("# other")

	// A turn is a read of the state by a new Runner.
	type turn struct {
		uid     string
		change  func(s *subject)
		answers map[string][]string
		failed  bool
		ran     []string
	}

	cases := map[string]struct {
		reason string
		turns  []turn
	}{
		"SameDirectory": {
			reason: "The directory is initialized.",
			turns:  []turn{{uid: firstUID, ran: []string{initRun, pullRun}}, {uid: firstUID, ran: []string{pullRun}}},
		},
		"OtherDirectory": {
			reason: "The result is the same.",
			turns:  []turn{{uid: firstUID, ran: []string{initRun, pullRun}}, {uid: secondUID, ran: []string{pullRun}}, {uid: secondUID, ran: []string{pullRun}}},
		},
		"Changed": {
			reason: "The result is another one.",
			turns:  []turn{{uid: firstUID, ran: []string{initRun, pullRun}}, {uid: firstUID, change: other, ran: []string{initRun, pullRun}}, {uid: firstUID, change: other, ran: []string{pullRun}}},
		},
		"Failed": {
			reason: "A partly initialized directory is not initialized. Its init has other results than a first one.",
			turns: []turn{
				{uid: firstUID, ran: []string{initRun, pullRun}},
				{uid: firstUID, change: other, answers: map[string][]string{"init": {fails("boom")}}, failed: true, ran: []string{initRun}},
				{uid: firstUID, ran: []string{initRun, pullRun}},
				{uid: secondUID, change: other, ran: []string{initRun, pullRun}},
			},
		},
		"Unfit": {
			reason: "A result that does not fit is removed from both places, and the next init replaces it.",
			turns: []turn{
				{uid: firstUID, ran: []string{initRun, pullRun}},
				{uid: secondUID, answers: map[string][]string{"state": {fails(uninitialized)}, "init": {"[ ! -e .terraform/copied ] || exit 1"}}, ran: []string{pullRun, initRun, pullRun}},
				{uid: secondUID, ran: []string{pullRun}},
				{uid: thirdUID, ran: []string{initRun, pullRun}},
			},
		},
		"UnfitHere": {
			reason: "Init completes a directory in which it ran itself. Only the result of the first one is kept.",
			turns: []turn{
				{uid: firstUID, answers: map[string][]string{"state": {fails(uninitialized)}, "init": {"mkdir .terraform/mine", "mkdir .terraform/mine/again"}}, ran: []string{initRun, pullRun, initRun, pullRun}},
				{uid: secondUID, answers: map[string][]string{"state": {"[ ! -e .terraform/mine/again ]; exit $?"}}, ran: []string{pullRun}},
			},
		},
		"StateInitAfterInit": {
			reason: "The configuration is asked for first, and then the state.",
			turns: []turn{
				{uid: firstUID, answers: map[string][]string{"state": {fails(uninitialized), fails("unavailable provider")}}, ran: []string{initRun, pullRun, initRun, pullRun, initRun, pullRun}},
			},
		},
		"StateInitOnce": {
			reason: "An init for the state is not repeated.",
			turns: []turn{
				{uid: firstUID, answers: map[string][]string{"state": {fails("unavailable provider"), fails("unavailable provider")}}, failed: true, ran: []string{initRun, pullRun, initRun, pullRun}},
			},
		},
		"StateInit": {
			reason: "A result with the providers of one state is not kept.",
			turns: []turn{
				{uid: firstUID, answers: map[string][]string{"state": {fails("unavailable provider")}, "init": {"mkdir .terraform/mine", "mkdir .terraform/mine/again"}}, ran: []string{initRun, pullRun, initRun, pullRun}},
				{uid: secondUID, answers: map[string][]string{"state": {"[ ! -e .terraform/mine/again ]; exit $?"}}, ran: []string{pullRun}},
			},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t)
			before := 0

			for n, turn := range tc.turns {
				if turn.answers["init"] == nil && n == 0 {
					p.answer(t, "init", "mkdir -p .terraform/copied")
				}

				for command, answers := range turn.answers {
					p.answer(t, command, answers...)
				}

				var change []func(*subject)
				if turn.change != nil {
					change = append(change, turn.change)
				}

				r := p.stubbed(t, turn.uid, change...)
				if err := callState(t.Context(), r); (err != nil) != turn.failed {
					t.Fatalf("\n%s\nState(...) in turn %d: want an error: %t, got %v", tc.reason, n, turn.failed, err)
				}

				ran := p.ran(t, r)
				if diff := cmp.Diff(turn.ran, ran[before:]); diff != "" {
					t.Errorf("\n%s\nruns in turn %d: -want, +got:\n%s", tc.reason, n, diff)
				}

				before = len(ran)

				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestPluginCacheOfInit ensures that init gets a plugin cache of its own, from which the default
// registry of its product is known.
func TestPluginCacheOfInit(t *testing.T) {
	t.Parallel()

	p := newPlace(t)
	r := p.stubbed(t, firstUID, entrypoint("a"))
	r.Environ = append(r.Environ, "TF_PLUGIN_CACHE_DIR="+t.TempDir())

	if err := callState(t.Context(), r); err != nil {
		t.Fatal(err)
	}

	if got, want := p.environs(t)[0]["TF_PLUGIN_CACHE_DIR"], pathIn(r, privatePlugins); got != want {
		t.Errorf("plugin cache of init: want %s, got %s", want, got)
	}

	expectFiles(t, "after init", r, filesystem.Files{"a/main.tf": "# module"})

	for version, want := range map[string]string{"OpenTofu v1.2.3": "registry.opentofu.org", "Terraform v1.2.3": "registry.terraform.io"} {
		r.CLI = p.cli(t, "tofu", version)

		got := r.pluginCacheRun()
		if got.Registry != want || got.Root != r.Dir.Path() || got.Dir != pathIn(r, "a") {
			t.Errorf("pluginCacheRun() with %s: want %s, the directory and its entrypoint, got %+v", version, want, got)
		}
	}
}
