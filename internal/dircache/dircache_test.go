// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package dircache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

var errBoom = errors.New("boom")

func TestUse(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		key    string
		age    time.Duration
		// during is called while the entry is used.
		during func(c *Cache) error
		err    error
		want   string
	}{
		"There":   {reason: "An entry has its content.", key: "key", want: "text"},
		"Missing": {reason: "An entry may be missing.", key: "other", err: fs.ErrNotExist},
		"NotOld":  {reason: "An entry is used until its maximum age.", key: "key", age: time.Hour - time.Minute, want: "text"},
		"Old":     {reason: "An older entry is not used.", key: "key", age: time.Hour + time.Second, err: fs.ErrNotExist},
		"Ahead":   {reason: "A clock may be a bit ahead.", key: "key", age: -time.Minute, want: "text"},
		"Future":  {reason: "A clock that was ahead makes no entry young for long.", key: "key", age: -2 * time.Hour, err: fs.ErrNotExist},
		"Fails":   {reason: "An error is returned.", key: "key", during: func(*Cache) error { return errBoom }, err: errBoom, want: "text"},
		"Removed": {
			reason: "The removal of a used entry is reported.",
			key:    "key",
			during: func(c *Cache) error { return c.Remove("key") },
			err:    errGone,
			want:   "text",
		},
		"Replaced": {
			reason: "So is the replacement of a used entry, even if it is the reason of a failure.",
			key:    "key",
			during: func(c *Cache) error {
				return errors.Join(c.Remove("key"), c.Add("key", fill("other")), errBoom)
			},
			err:  errGone,
			want: "text",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCache(t)
			add(t, c, "key", tc.age)

			got := ""

			err := c.Use(tc.key, func(dir string) error {
				data, err := os.ReadFile(filepath.Join(dir, "file"))
				if err != nil {
					return err
				}

				got = string(data)

				if tc.during == nil {
					return nil
				}

				return tc.during(c)
			})
			if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nUse(...): -want error, +got error:\n%s", tc.reason, diff)
			}

			if got != tc.want {
				t.Errorf("%s\nUse(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestAdd(t *testing.T) {
	t.Parallel()

	c := newCache(t)
	add(t, c, "key", 0)

	if err := c.Add("key", fill("second")); err != nil {
		t.Error(err)
	}

	if err := c.Add("broken", func(dir string) error { return errors.Join(fill("half")(dir), errBoom) }); !errors.Is(err, errBoom) {
		t.Errorf("Add(...) of what fails: want %v, got %v", errBoom, err)
	}

	if diff := cmp.Diff([]string{"key"}, filesystem.Names(t, c.Dir)); diff != "" {
		t.Errorf("entries: -want, +got:\n%s", diff)
	}

	if data, err := os.ReadFile(filepath.Join(c.Path("key"), "file")); err != nil || string(data) != "text" {
		t.Errorf("content of an entry that was there: want that of the first, got %q and error %v", data, err)
	}
}

// TestAddReplaced ensures that a directory can become an entry.
func TestAddReplaced(t *testing.T) {
	t.Parallel()

	c := newCache(t)
	ready := filepath.Join(t.TempDir(), "ready")

	err := c.Add("key", func(dir string) error {
		return errors.Join(os.Mkdir(ready, 0o700), fill("text")(ready), os.Remove(dir), os.Rename(ready, dir))
	})
	if err != nil {
		t.Error(err)
	}

	if data, err := os.ReadFile(filepath.Join(c.Path("key"), "file")); err != nil || string(data) != "text" {
		t.Errorf("content: want that of the directory, got %q and error %v", data, err)
	}
}

// TestAddRemoved ensures that an entry is complete, or not there, if its directory is removed while it is
// filled.
func TestAddRemoved(t *testing.T) {
	t.Parallel()

	c := newCache(t)

	err := c.Add("key", func(dir string) error {
		temp := filepath.Dir(dir)

		return errors.Join(fill("text")(dir), os.RemoveAll(temp), os.MkdirAll(filepath.Join(dir, "rest"), 0o700))
	})
	if !errors.Is(err, errGone) {
		t.Errorf("Add(...): want %v, got %v", errGone, err)
	}

	if diff := cmp.Diff([]string{}, filesystem.Names(t, c.Dir)); diff != "" {
		t.Errorf("entries: -want, +got:\n%s", diff)
	}
}

// TestAddOld ensures that a new entry replaces one that is not used any more.
func TestAddOld(t *testing.T) {
	t.Parallel()

	c := newCache(t)
	add(t, c, "key", 2*c.MaxAge)

	if err := c.Add("key", fill("second")); err != nil {
		t.Error(err)
	}

	if diff := cmp.Diff([]string{"key"}, filesystem.Names(t, c.Dir)); diff != "" {
		t.Errorf("entries: -want, +got:\n%s", diff)
	}

	if data, err := os.ReadFile(filepath.Join(c.Path("key"), "file")); err != nil || string(data) != "second" {
		t.Errorf("content of an entry in place of an old one: want that of the second, got %q and error %v", data, err)
	}
}

// limitToAll limits the size of a cache to that of all entries.
func limitToAll(c *Cache) { c.MaxBytes = 3 * int64(len("text")) }

func TestEvict(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(c *Cache)
		// age of the youngest entry. The others are a minute and two minutes older.
		age time.Duration
		// filesystem is the size of the file system. Zero stands for an unknown one.
		filesystem int64
		want       []string
	}{
		"Fine":    {reason: "Entries within the limits stay.", change: func(*Cache) {}, want: []string{"a", "b", "c"}},
		"Age":     {reason: "An entry that is too old is removed.", change: func(*Cache) {}, age: 58*time.Minute + 30*time.Second, want: []string{"b", "c"}},
		"All":     {reason: "The remains of a killed process are removed, too.", change: func(c *Cache) { leaveTemp(c, 2*time.Hour) }, age: 2 * time.Hour, want: []string{}},
		"Temp":    {reason: "The temporary directory may be in use.", change: func(c *Cache) { leaveTemp(c, 0) }, want: []string{tempPrefix + "x", "a", "b", "c"}},
		"OldTemp": {reason: "Also if it is the oldest of too many.", change: func(c *Cache) { leaveTemp(c, 30*time.Minute); c.MaxEntries = 2 }, want: []string{tempPrefix + "x", "b", "c"}},
		"Future":  {reason: "A clock that was ahead does not keep entries.", change: func(*Cache) {}, age: -2 * time.Hour, want: []string{}},
		"Entries": {reason: "The oldest entries beyond the limit are removed.", change: func(c *Cache) { c.MaxEntries = 2 }, want: []string{"b", "c"}},
		"Bytes":   {reason: "The entries may be too large.", change: func(c *Cache) { c.MaxBytes = 2 * int64(len("text")) }, want: []string{"b", "c"}},
		"Enough":  {reason: "Entries of exactly the maximum size stay.", change: limitToAll, want: []string{"a", "b", "c"}},
		"Small":   {reason: "On a small file system, a cache has a quarter of it.", change: limitToAll, filesystem: 2 * 4 * int64(len("text")), want: []string{"b", "c"}},
		"Large":   {reason: "On a large one, its own limit counts.", change: limitToAll, filesystem: 1 << 40, want: []string{"a", "b", "c"}},
		"Unknown": {reason: "So it does if the size is unknown.", change: limitToAll, want: []string{"a", "b", "c"}},
		"MinAge":  {reason: "Young entries stay, regardless of their number.", change: func(c *Cache) { c.MaxEntries, c.MinAge = 1, 90*time.Second }, want: []string{"b", "c"}},
		"Touched": {
			reason: "A touched entry is new.",
			change: func(c *Cache) {
				c.MaxEntries = 1
				_ = c.Touch("a")
			},
			want: []string{"a"},
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newCache(t)
			for n, key := range []string{"c", "b", "a"} {
				add(t, c, key, tc.age+time.Duration(n)*time.Minute)
			}

			tc.change(c)

			if err := c.evict(tc.filesystem); err != nil {
				t.Fatalf("%s\nevict(...): %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.want, filesystem.Names(t, c.Dir)); diff != "" {
				t.Errorf("%s\nentries: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEvictFull ensures that entries are evicted from a full disk.
func TestEvictFull(t *testing.T) {
	t.Parallel()

	c := newCache(t)
	add(t, c, "old", 2*c.MaxAge)

	if err := c.Add("new", func(string) error { return errBoom }); !errors.Is(err, errBoom) {
		t.Errorf("Add(...): want %v, got %v", errBoom, err)
	}

	if diff := cmp.Diff([]string{}, filesystem.Names(t, c.Dir)); diff != "" {
		t.Errorf("entries: -want, +got:\n%s", diff)
	}
}

func leaveTemp(c *Cache, age time.Duration) {
	_ = errors.Join(os.Mkdir(c.Path(tempPrefix+"x"), 0o700), setAge(c, tempPrefix+"x", age))
}

func newCache(t *testing.T) *Cache {
	t.Helper()

	return &Cache{Dir: filepath.Join(t.TempDir(), "cache"), MaxAge: time.Hour}
}

func setAge(c *Cache, key string, age time.Duration) error {
	then := time.Now().Add(-age)

	return os.Chtimes(c.Path(key), then, then)
}

// fill a directory with a file.
func fill(text string) func(dir string) error {
	return func(dir string) error { return os.WriteFile(filepath.Join(dir, "file"), []byte(text), 0o600) }
}

// add an entry of this age.
func add(t *testing.T, c *Cache, key string, age time.Duration) {
	t.Helper()

	if err := errors.Join(c.Put(key, fill("text")), setAge(c, key, age)); err != nil {
		t.Fatal(err)
	}
}
