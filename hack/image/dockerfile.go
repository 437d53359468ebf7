// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// An instruction of a Dockerfile.
type instruction struct {
	name, args string
}

// A stage of a Dockerfile: a FROM and the instructions after it.
type stage []instruction

// stages returns the stages of the supplied Dockerfile: the first one builds, and the second one
// is shipped.
func stages(path string) (build, shipped stage, err error) {
	text, err := os.ReadFile(path) //nolint:gosec // The caller chooses the Dockerfile.
	if err != nil {
		return nil, nil, err
	}

	s := parse(string(text))
	if len(s) != 2 {
		return nil, nil, fmt.Errorf("%s has %d stages, want one that builds and one that is shipped", path, len(s))
	}

	return s[0], s[1], nil
}

func parse(text string) []stage {
	var stages []stage

	joined := strings.ReplaceAll(regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(text, ""), "\\\n", " ")

	for line := range strings.Lines(joined) {
		name, args, _ := strings.Cut(strings.TrimSpace(line), " ")

		switch {
		case name == "":
			continue
		case name == "FROM":
			stages = append(stages, nil)
		case len(stages) == 0:
			// An ARG that FROM may use.
			continue
		}

		last := len(stages) - 1
		stages[last] = append(stages[last], instruction{name: name, args: strings.Join(strings.Fields(args), " ")})
	}

	return stages
}

func (s stage) all(name string) []string {
	var all []string

	for _, i := range s {
		if i.name == name {
			all = append(all, i.args)
		}
	}

	return all
}

func (s stage) run() string { return strings.Join(s.all("RUN"), "\n") }

func (s stage) packages() ([]string, error) {
	const install = "apt-get install"

	found := regexp.MustCompile(install+` --yes --no-install-recommends ([a-z0-9. -]+?) &&`).FindAllStringSubmatch(s.run(), -1)
	if len(found) != 1 || strings.Count(s.run(), install) != 1 {
		return nil, fmt.Errorf("want packages to be installed once, got %q", s.run())
	}

	return strings.Fields(found[0][1]), nil
}

// A user is an entry of /etc/passwd, and the group of the same name and number.
type user struct {
	name, home string
	id         int
}

func (s stage) users() ([]user, error) {
	loop := regexp.MustCompile(`for user in ([a-z0-9: ]+); do`).FindStringSubmatch(s.run())
	home := regexp.MustCompile(`--home-dir (\S+)`).FindStringSubmatch(s.run())

	if loop == nil || home == nil {
		return nil, fmt.Errorf("want a loop that adds users, got %q", s.run())
	}

	var users []user

	for word := range strings.FieldsSeq(loop[1]) {
		name, id, _ := strings.Cut(word, ":")

		n, err := strconv.Atoi(id)
		if err != nil {
			return nil, fmt.Errorf("user %q: %w", word, err)
		}

		users = append(users, user{name: name, home: home[1], id: n})
	}

	return users, nil
}

func (s stage) directories() (paths []string, mode int64, err error) {
	found := regexp.MustCompile(`install --directory --mode=([0-7]+) ([a-z/ -]+)`).FindStringSubmatch(s.run())
	if found == nil {
		return nil, 0, fmt.Errorf("want directories to be created, got %q", s.run())
	}

	mode, err = strconv.ParseInt(found[1], 8, 64)

	return strings.Fields(found[2]), mode, err
}

// links returns the symbolic links, with what they link to.
func (s stage) links() map[string]string {
	links := map[string]string{}

	for _, found := range regexp.MustCompile(`ln -sf (\S+) (\S+)`).FindAllStringSubmatch(s.run(), -1) {
		links[found[2]] = found[1]
	}

	return links
}

// config returns the settings of the image. Those of FROM are the supplied ones.
func (s stage) config(from v1.Config) (v1.Config, error) {
	c := v1.Config{Env: slices.Clone(from.Env), Labels: map[string]string{}, ExposedPorts: map[string]struct{}{}}
	maps.Copy(c.Labels, from.Labels)

	for _, i := range s {
		switch i.name {
		case "ENV":
			c.Env = append(c.Env, strings.Fields(i.args)...)
		case "USER":
			c.User = i.args
		case "EXPOSE":
			for port := range strings.FieldsSeq(i.args) {
				c.ExposedPorts[port+"/tcp"] = struct{}{}
			}
		case "LABEL":
			for _, label := range regexp.MustCompile(`([a-z.]+)="([^"]*)"`).FindAllStringSubmatch(i.args, -1) {
				c.Labels[label[1]] = label[2]
			}
		case "ENTRYPOINT":
			if err := json.Unmarshal([]byte(i.args), &c.Entrypoint); err != nil {
				return c, fmt.Errorf("ENTRYPOINT %s starts a shell, which hands on no signals: %w", i.args, err)
			}
		case "FROM", "RUN", "COPY":
			// They make the files.
		default:
			return c, fmt.Errorf("the Dockerfile has a new instruction: %s %s", i.name, i.args)
		}
	}

	return c, nil
}
