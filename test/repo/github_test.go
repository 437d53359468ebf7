// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package repo

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// A workflow of .github, as far as the tests read it.
type workflow struct {
	Permissions map[string]string `json:"permissions"`
	Concurrency map[string]any    `json:"concurrency"`
	Jobs        map[string]struct {
		Permissions map[string]string `json:"permissions"`
		Timeout     int               `json:"timeout-minutes"`
	} `json:"jobs"`
}

// pinned is an action by its commit, with the version in a comment, which the update bot needs.
var pinned = regexp.MustCompile(`uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

// TestWorkflows checks what actionlint does not check: no action is named by a tag, which can be
// moved, and no job has a right that it does not name.
func TestWorkflows(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no workflows: %v", err)
	}

	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); strings.Contains(line, "uses:") && !pinned.MatchString(line) {
				t.Errorf("%s: want a commit and the version in a comment: %s", file, line)
			}
		}

		w := &workflow{}
		if err := yaml.Unmarshal(data, w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}

		if w.Permissions == nil || len(w.Permissions) > 0 {
			t.Errorf("%s: want no permissions for all jobs, got %v", file, w.Permissions)
		}

		if w.Concurrency["group"] == nil {
			t.Errorf("%s: two runs may be in progress", file)
		}

		for name, job := range w.Jobs {
			if job.Permissions == nil || job.Timeout == 0 {
				t.Errorf("%s: job %s has no permissions or no timeout of its own", file, name)
			}
		}
	}
}

// TestUpdates checks that the update bot knows all modules.
func TestUpdates(t *testing.T) {
	t.Parallel()

	data, err := os.ReadFile(filepath.Join(root, ".github", "dependabot.yml"))
	if err != nil {
		t.Fatal(err)
	}

	bot := &struct {
		Updates []struct {
			Ecosystem   string   `json:"package-ecosystem"`
			Directories []string `json:"directories"`
		} `json:"updates"`
	}{}
	if err := yaml.Unmarshal(data, bot); err != nil {
		t.Fatal(err)
	}

	files, err := filepath.Glob(filepath.Join(root, "hack", "*", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}

	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))

		// The bot would tidy its go.mod: see hack/promtool/build.sh.
		if want := "/hack/" + name; name != "promtool" && !slices.Contains(bot.Updates[0].Directories, want) {
			t.Errorf(".github/dependabot.yml: the directories of %s lack %s", bot.Updates[0].Ecosystem, want)
		}
	}
}
