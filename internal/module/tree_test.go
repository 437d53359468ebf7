// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestLocate(t *testing.T) {
	t.Parallel()

	links := files{"a/b/main.tf": ""}
	for i := range 50 {
		links[fmt.Sprintf("l%02d", i)] = "-> ."
	}

	many := files{}
	for i := range 9 {
		many[fmt.Sprintf("d%d/main.tf", i)] = ""
	}

	cases := map[string]struct {
		reason string
		files  files
		sub    string
		want   string
		err    string
	}{
		"Name":         {reason: "A name is that of a directory.", files: files{"a/b/main.tf": ""}, sub: "a/b", want: "a/b"},
		"Link":         {reason: "A name may be that of a link.", files: files{"v1/main.tf": "", "v": "-> v1"}, sub: "v", want: "v1"},
		"LinkOut":      {reason: "It may not lead out.", files: files{"v": "-> .."}, sub: "v", err: `there is no directory "v"`},
		"Pattern":      {reason: "A pattern matches a directory, and no file.", files: files{"a/main.tf": "", "main.tf": ""}, sub: "*", want: "a"},
		"Inside":       {reason: "Names may come before and after it.", files: files{"a/b/c/main.tf": "", "a/b/d/main.tf": ""}, sub: "a/?/c", want: "a/b/c"},
		"LinkAfter":    {reason: "A name after it may be that of a link.", files: files{"a/v1/main.tf": "", "a/v": "-> v1"}, sub: "*/v", want: "a/v1"},
		"LinkBefore":   {reason: "So may a name before it.", files: files{"a/v1/main.tf": "", "b": "-> a"}, sub: "b/*", want: "a/v1"},
		"LinkedUp":     {reason: "A link between patterns is not followed: it can multiply the matches.", files: files{"a/up": "-> ..", "a/b/main.tf": ""}, sub: "*/up/*/b", err: `there is no directory "*/up/*/b"`},
		"Links":        {reason: "A pattern matches no link, of which there may be many in circles.", files: links, sub: "*/*", want: "a/b"},
		"Browser":      {reason: "It is the address of a page.", files: files{"a/main.tf": ""}, sub: "tree/main/a", err: `there is no directory "tree/main/a": write the address as HOST/OWNER/REPOSITORY//DIRECTORY?ref=REF`},
		"None":         {reason: "There is no match.", files: files{"a/main.tf": ""}, sub: "b*", err: `there is no directory "b*"`},
		"Malformed":    {reason: "A malformed pattern is reported.", files: files{"a/main.tf": ""}, sub: "[", err: `cannot use directory "["`},
		"Few":          {reason: "The message names the matches.", files: files{"a/main.tf": "", "b/main.tf": ""}, sub: "*", err: `directory "*" is ambiguous: there are a, b`},
		"Many":         {reason: "The message does not name more than five.", files: many, sub: "*", err: `directory "*" is ambiguous: there are d0, d1, d2, d3, d4 and more`},
		"LinkInside":   {reason: "A link that leads out of the directory is allowed if the module is all of the files.", files: files{"a/main.tf": "", "a/infra.tf": "-> ../common/infra.tf", "common/infra.tf": ""}, sub: "a", err: `symbolic link "infra.tf" leads out of the module, to "../common/infra.tf": remove "//a" from spec.forProvider.module, and set spec.forProvider.entrypoint to "a"`},
		"LinkPattern":  {reason: "The entrypoint is no pattern.", files: files{"a/b/infra.tf": "-> ../../infra.tf", "infra.tf": ""}, sub: "a/*", err: `symbolic link "infra.tf" leads out of the module, to "../../infra.tf": remove "//a/*" from spec.forProvider.module, and set spec.forProvider.entrypoint to "a/b"`},
		"LinkMissing":  {reason: "With a missing target, the entrypoint would not help.", files: files{"a/infra.tf": "-> ../infra.tf"}, sub: "a", err: `symbolic link "infra.tf" leads out of the module, to "../infra.tf": replace it`},
		"LinkAbsolute": {reason: "Neither would it with an absolute link.", files: files{"a/infra.tf": "-> /infra.tf", "infra.tf": ""}, sub: "a", err: `symbolic link "infra.tf" leads out of the module, to "/infra.tf": replace it by the file, or by a relative link to a file of the module`},
		"LinkBeyond":   {reason: "Neither would it if another link leads out of all the files.", files: files{"a/infra.tf": "-> ../infra.tf", "infra.tf": "", "z": "-> .."}, sub: "a", err: `symbolic link "infra.tf" leads out of the module, to "../infra.tf": replace it`},
		"ManyPatterns": {reason: "Without links, the size of the tree limits the number of matches.", files: links, sub: "*/*/*/*/*/*", err: `there is no directory`},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			dir := t.TempDir()
			filesystem.Write(t, dir, tc.files)

			want := ""
			if tc.err == "" {
				want = filepath.Join(dir, tc.want)
			}

			got, err := locate(dir, tc.sub)
			if got != want || (err == nil) != (tc.err == "") || err != nil && !strings.HasPrefix(err.Error(), tc.err) {
				t.Errorf("%s\nlocate(%q): want %q and error %q, got %q and %v", tc.reason, tc.sub, want, tc.err, got, err)
			}
		})
	}
}

func TestCheckTree(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		files  files
		// err is a part of the error.
		err string
	}{
		"Inside": {
			reason: "Links inside are allowed, up and down, and through other links.",
			files:  files{"a/b/c.tf": "c", "c.tf": "-> a/b/c.tf", "a/b/up": "-> ../..", "a/via": "-> b/up/c.tf", "self": "-> ."},
		},
		"Dangling": {
			reason: "A link to a missing target is allowed.",
			files:  files{"sub/a": "-> ../nothing/there"},
		},
		"NotUTF8": {
			reason: "Such names are left out later. The CLI loads none of these files.",
			files:  files{"main.tf": "m", "caf\xe9/y.tf": "y", "caf\xe9.txt": "x", "caf\xe9.tf~": "x", "caf\xe9.tfvars": "x"},
		},
		"ConfigurationNotUTF8": {
			reason: "Without the file, the CLI would destroy what it declares.",
			files:  files{"main.tf": "m", "sub/\x81bersicht.tf": "x"},
			err:    `the name of the file "sub/\x81bersicht.tf" is not UTF-8: rename it`,
		},
		"JSONNotUTF8": {
			reason: "Each syntax is loaded.",
			files:  files{"caf\xe9.tofu.json": "x"},
			err:    `the name of the file "caf\xe9.tofu.json" is not UTF-8`,
		},
		"LinkNotUTF8": {
			reason: "A link is loaded like a file.",
			files:  files{"main.txt": "m", "caf\xe9.tf": "-> main.txt"},
			err:    `the name of the file "caf\xe9.tf" is not UTF-8`,
		},
		"ValuesNotUTF8": {
			reason: "Without the file, a variable would have another value.",
			files:  files{"main.tf": "m", "caf\xe9.auto.tfvars.json": "{}"},
			err:    `the name of the file "caf\xe9.auto.tfvars.json" is not UTF-8`,
		},
		"Up": {
			reason: "A link may not lead to the parent.",
			files:  files{"a": "-> .."},
			err:    `symbolic link "a" leads out of the module, to ".."`,
		},
		"UpDeep": {
			reason: "Nor from a deeper directory.",
			files:  files{"sub/a": "-> ../../x"},
			err:    `symbolic link "sub/a" leads out of the module, to "../../x"`,
		},
		"Absolute": {
			reason: "Nor to an absolute path.",
			files:  files{"a": "-> /etc/passwd"},
			err:    `symbolic link "a" leads out of the module, to "/etc/passwd"`,
		},
		"DanglingUp": {
			reason: "The target outside need not exist.",
			files:  files{"a": "-> ../nothing"},
			err:    `symbolic link "a" leads out of the module`,
		},
		"DanglingThenUp": {
			reason: "Nor may it go up from a missing directory.",
			files:  files{"a": "-> nothing/../../x"},
			err:    `symbolic link "a" leads out of the module`,
		},
		"DanglingAbsolute": {
			reason: "The depth does not matter.",
			files:  files{"a": "-> /nothing"},
			err:    `symbolic link "a" leads out of the module`,
		},
		"UpThroughLink": {
			reason: "Two dots go up from the target of a link: the text stays inside, but the target does not.",
			files:  files{"x/a": "a", "k/x": "x", "x/e": "-> ..", "z": "-> x/e/k/../.."},
			err:    `symbolic link "z" leads out of the module`,
		},
		"ToLinkOut": {
			reason: "A link to a link that leads out leads out, too, regardless of the order.",
			files:  files{"a": "-> b", "b": "-> .."},
			err:    "leads out of the module",
		},
		"Circle": {
			reason: "A link in a circle has no target.",
			files:  files{"a": "-> b", "b": "-> a"},
			err:    `symbolic link "a" leads out of the module`,
		},
		"Deep": {
			reason: "This is deeper than all modules of people.",
			files:  files{strings.Repeat("a/", maxDepth-1) + "b/c.tf": "c"},
		},
		"TooDeep": {
			reason: "The walk would take minutes.",
			files:  files{strings.Repeat("a/", maxDepth) + "b/c.tf": "c"},
			err:    `below more than 256 directories, which is the limit: "c.tf"`,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			dir := t.TempDir()
			filesystem.Write(t, dir, tc.files)

			err := checkTree(dir)
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("%s\ncheckTree(...): want error %q, got %v", tc.reason, tc.err, err)
			}
		})
	}

	t.Run("Pipe", func(t *testing.T) {
		t.Parallel()

		dir := t.TempDir()
		if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
			t.Fatal(err)
		}

		if err := checkTree(dir); err == nil || !strings.Contains(err.Error(), `"pipe" is neither a file`) {
			t.Errorf("checkTree(...) with a named pipe: got %v", err)
		}
	})
}

// FuzzCheckTree ensures that an accepted link stays inside when the system follows it.
func FuzzCheckTree(f *testing.F) {
	for _, seed := range [][2]string{
		{"..", "."}, {"b/..", "a/../.."}, {"/tmp", "a/x"}, {"b", "a/.."}, {"./..", "b//.."}, {"second", "a"}, {"b/second/../..", ".."},
	} {
		f.Add(seed[0], seed[1])
	}

	f.Fuzz(func(t *testing.T, first, second string) {
		dir := t.TempDir()
		filesystem.Write(t, dir, files{"b/x": "x"})

		for name, target := range map[string]string{"a": first, "b/second": second} {
			if os.Symlink(target, filepath.Join(dir, name)) != nil {
				return // The target is not a path.
			}
		}

		if checkTree(dir) != nil {
			return
		}

		for _, name := range []string{"a", "b/second"} {
			resolved, err := filepath.EvalSymlinks(filepath.Join(dir, name))
			if err == nil && resolved != dir && !strings.HasPrefix(resolved, dir+"/") {
				t.Errorf("link %q leads out, to %q", name, resolved)
			}
		}
	})
}
