// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
)

func TestArchives(t *testing.T) {
	t.Parallel()

	module := files{"main.tf": "m", "link.tf": "-> main.tf", "sub/a/main.tf": "a", "sub/a/b.tf": "-> main.tf"}
	s := newFileServer(t)
	targz := gzipped(t, module)
	sum := sha256.Sum256(targz)
	digest := hex.EncodeToString(sum[:])

	s.serve("/m.tar.gz", targz)
	s.serve("/m.tgz", targz)
	s.serve("/download", targz)
	s.serve("/download-zip", zipped(t, module))
	s.serve("/m.tar", tarball(t, module))
	s.serve("/m.zip", zipped(t, module))
	tarxz := compressed(t, module, func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) })
	tarzst := compressed(t, module, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })

	s.serve("/m.tar.xz", tarxz)
	s.serve("/m.txz", tarxz)
	s.serve("/m.tar.zst", tarzst)
	s.serve("/m.tzst", tarzst)
	s.serve("/m.tar.bz2", bzipped(t))
	s.serve("/m.tbz2", bzipped(t))
	s.serve("/plain.gz", targz)
	s.serve("/encoded.tar.gz", targz, "Content-Encoding", "gzip")
	s.serve("/half.tar.gz", targz[:len(targz)/2])
	s.serve("/text.tar.gz", []byte("<html>not found</html>"))
	s.serve("/page.zip", []byte("<html>Sign in</html>"), "Content-Type", "text/html; charset=utf-8")
	s.serve("/out.tar.gz", gzipped(t, files{"main.tf": "m", "../escape": "x"}))
	s.serve("/linkout.tar.gz", gzipped(t, files{"main.tf": "m", "a": "-> ../../../..", "z": "x"}))
	s.serve("/through.tar.gz", gzipped(t, files{"a": "-> ../../..", "a/main.tf": "escaped"}))
	s.serve("/empty.tar.gz", gzipped(t, files{}))
	s.serve("/linkout.zip", zipped(t, files{"main.tf": "m", "a": "-> /etc/passwd"}))

	local := t.TempDir()
	filesystem.Write(t, local, files{"m.tar.gz": string(targz)})

	cases := map[string]struct {
		reason  string
		address string
		want    files
		// err is a part of the message.
		err string
	}{
		"TarGz":         {reason: "Known by its name.", address: s.url + "/m.tar.gz", want: module},
		"Tgz":           {reason: "Known by the short name.", address: s.url + "/m.tgz?x=y", want: module},
		"Tar":           {reason: "Not compressed.", address: s.url + "/m.tar", want: module},
		"Zip":           {reason: "A ZIP archive.", address: s.url + "/m.zip", want: module},
		"TarXz":         {reason: "Compressed by xz.", address: s.url + "/m.tar.xz", want: module},
		"Txz":           {reason: "By xz, with the short name.", address: s.url + "/m.txz", want: module},
		"TarZst":        {reason: "Compressed by zstd.", address: s.url + "/m.tar.zst", want: module},
		"Tzst":          {reason: "By zstd, with the short name.", address: s.url + "/m.tzst", want: module},
		"TarBz2":        {reason: "Compressed by bzip2.", address: s.url + "/m.tar.bz2", want: files{"main.tf": "m", "link.tf": "-> main.tf"}},
		"Tbz2":          {reason: "By bzip2, with the short name.", address: s.url + "/m.tbz2", want: files{"main.tf": "m", "link.tf": "-> main.tf"}},
		"Encoded":       {reason: "A store may call it an encoding of the answer.", address: s.url + "/encoded.tar.gz?checksum=sha256:" + digest, want: module},
		"Named":         {reason: "Named by a parameter.", address: s.url + "/download?archive=tar.gz", want: module},
		"Forced":        {reason: "With the getter in front.", address: "http::" + s.url + "/m.tgz", want: module},
		"Directory":     {reason: "One directory of it.", address: s.url + "/m.tar.gz//sub/a", want: files{"main.tf": "a", "b.tf": "-> main.tf"}},
		"Checksum":      {reason: "With a checksum.", address: s.url + "/m.tar.gz?checksum=sha256:" + digest, want: module},
		"File":          {reason: "From a file.", address: "file://" + local + "/m.tar.gz", want: module},
		"Path":          {reason: "From a path.", address: local + "/m.tar.gz//sub/a", want: files{"main.tf": "a", "b.tf": "-> main.tf"}},
		"WrongChecksum": {reason: "With a wrong checksum.", address: s.url + "/m.tgz?checksum=sha256:" + strings.Repeat("0", 64), err: "Checksums did not match"},
		"NotFound":      {reason: "The archive does not exist.", address: s.url + "/none.tar.gz", err: `cannot fetch module "` + s.url + `/none.tar.gz": bad response code: 404`},
		"UnknownTarGz":  {reason: "Nothing says that it is an archive.", address: s.url + "/download?sha=main", err: "the address does not tell which archive this is: add archive=tar.gz or archive=zip"},
		"UnknownZip":    {reason: "Nor that it is a ZIP archive.", address: s.url + "/download-zip?sha=main", err: "the address does not tell which archive this is: add archive=tar.gz or archive=zip"},
		"NoArchive":     {reason: "A compressed file is no directory.", address: s.url + "/plain.gz", err: "can only unarchive to a single file"},
		"Half":          {reason: "Half of an archive.", address: s.url + "/half.tar.gz", err: "unexpected EOF"},
		"Page":          {reason: "A server may ask for credentials in a page.", address: s.url + "/page.zip", err: "cannot read archive: zip: not a valid zip file: the server has sent a web page, perhaps because it asks for credentials"},
		"Text":          {reason: "The file is not an archive.", address: s.url + "/text.tar.gz", err: "cannot decompress archive: gzip: invalid header"},
		"Out":           {reason: "An entry outside.", address: s.url + "/out.tar.gz", err: `entry "../escape" leads out of the archive`},
		"LinkOut":       {reason: "A link outside.", address: s.url + "/linkout.tar.gz", err: `symbolic link "a" leads out of the module`},
		"ThroughLink":   {reason: "A file behind a link outside.", address: s.url + "/through.tar.gz", err: "path escapes from parent"},
		"LinkOutZip":    {reason: "A link outside in a ZIP archive.", address: s.url + "/linkout.zip", err: `symbolic link "a" leads out of the module, to "/etc/passwd"`},
		"Empty":         {reason: "The archive is empty.", address: s.url + "/empty.tar.gz", err: "cannot use module: it is empty"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t, tc.address)

			if tc.err == "" {
				p.ensure(t)
			} else if got := p.ensureFails(t); !strings.Contains(got, tc.err) {
				t.Errorf("%s\nEnsure(...): want error %q, got %q", tc.reason, tc.err, got)
			}

			if tc.want == nil {
				tc.want = files{}
			}

			p.expect(t, tc.want)

			if outside := content(t, filepath.Dir(filepath.Dir(p.dir.Path()))); len(outside) != len(tc.want) {
				t.Errorf("%s\nthere are files elsewhere: %v", tc.reason, outside)
			}
		})
	}
}

func TestArchivePolicy(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		// headers of the first version, then of the second.
		headers [2][]string
		// ignore makes the server ignore conditions.
		ignore bool
		// redirect makes the server redirect to the archive.
		redirect bool
		policy   commonv1beta1.RemotePullPolicy
		// wantAgain is the number of requests and of downloads when nothing has changed, and
		// wantNew when something has.
		wantAgain, wantNew [2]int
		want               string
	}{
		"ETag": {
			reason:    "A conditional request with the tag is sent to a server that supports tags.",
			headers:   [2][]string{{"ETag", `"one"`}, {"ETag", `"two"`}},
			wantAgain: [2]int{1, 0}, wantNew: [2]int{1, 1},
			want: "2",
		},
		"WeakETag": {
			reason:    "A weak tag is enough.",
			headers:   [2][]string{{"ETag", `W/"one"`, "Last-Modified", "x"}, {"ETag", `W/"two"`, "Last-Modified", "x"}},
			wantAgain: [2]int{1, 0}, wantNew: [2]int{1, 1},
			want: "2",
		},
		"LastModified": {
			reason:    "Without tags, the time is used.",
			headers:   [2][]string{{"Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT"}, {"Last-Modified", "Tue, 03 Jan 2006 15:04:05 GMT"}},
			wantAgain: [2]int{1, 1}, wantNew: [2]int{1, 1},
			want: "2",
		},
		"OlderVersion": {
			reason:    "An older file was put back.",
			headers:   [2][]string{{"Last-Modified", "Tue, 03 Jan 2006 15:04:05 GMT"}, {"Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT"}},
			wantAgain: [2]int{1, 1}, wantNew: [2]int{1, 1},
			want: "2",
		},
		"Unconditional": {
			reason:    "A server that ignores conditions sends everything, and the module stays.",
			headers:   [2][]string{{"ETag", `"one"`}, {"ETag", `"two"`}},
			ignore:    true,
			wantAgain: [2]int{1, 1}, wantNew: [2]int{1, 1},
			want: "2",
		},
		"Neither": {
			reason:    "A server that supports neither sends everything.",
			wantAgain: [2]int{1, 1}, wantNew: [2]int{1, 1},
			want: "2",
		},
		"Redirect": {
			reason:    "The tag is that of the archive, after redirects.",
			headers:   [2][]string{{"ETag", `"one"`}, {"ETag", `"two"`}},
			redirect:  true,
			wantAgain: [2]int{2, 0}, wantNew: [2]int{2, 1},
			want: "2",
		},
		"IfNotPresent": {
			reason:  "The server is not asked.",
			headers: [2][]string{{"ETag", `"one"`}, {"ETag", `"two"`}},
			policy:  commonv1beta1.RemotePullPolicyIfNotPresent,
			want:    "1",
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newFileServer(t)
			s.intercept(func(w http.ResponseWriter, r *http.Request) bool {
				if tc.ignore {
					r.Header.Del("If-None-Match")
				}

				if !tc.redirect || r.URL.Path != "/m.zip" {
					return false
				}

				w.Header().Del("ETag")
				http.Redirect(w, r, "/elsewhere", http.StatusFound)

				return true
			})

			serve := func(version int) {
				for _, path := range []string{"/m.zip", "/elsewhere"} {
					s.serve(path, zipped(t, files{"main.tf": strconv.Itoa(version), fmt.Sprintf("%d.tf", version): "x"}), tc.headers[version-1]...)
				}
			}

			expect := func(what string, want [2]int) {
				t.Helper()

				if requests, downloads := s.counts(); requests != want[0] || downloads != want[1] {
					t.Errorf("%s\n%s: want requests and downloads %v, got %d and %d", tc.reason, what, want, requests, downloads)
				}
			}

			p := newPlace(t, s.url+"/m.zip")
			p.request.Parameters.RemotePullPolicy = tc.policy

			serve(1)
			p.ensure(t)
			s.counts()

			before := p.identity(t, "main.tf")
			p.ensure(t)
			expect("nothing new", tc.wantAgain)
			p.expect(t, files{"main.tf": "1", "1.tf": "x"})

			if known := tc.headers[0] != nil; known != os.SameFile(before, p.identity(t, "main.tf")) {
				t.Errorf("%s\nwant the module to stay: %t", tc.reason, known)
			}

			serve(2)
			p.ensure(t)
			expect("something new", tc.wantNew)
			p.expect(t, files{"main.tf": tc.want, tc.want + ".tf": "x"})
		})
	}
}

// TestBrokenDownload ensures that a module does not change until another one is complete.
func TestBrokenDownload(t *testing.T) {
	t.Parallel()

	s := newFileServer(t)

	var mode atomic.Value

	mode.Store("")
	s.intercept(func(w http.ResponseWriter, _ *http.Request) bool {
		body := gzipped(t, files{"main.tf": strings.Repeat("2", 1<<20)})

		switch mode.Load() {
		case "cut":
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			_, _ = w.Write(body[:len(body)/2])
			_ = http.NewResponseController(w).Flush()
		case "cut without length":
			_, _ = w.Write(body[:len(body)/2])
			_ = http.NewResponseController(w).Flush()
		case "error":
			w.WriteHeader(http.StatusInternalServerError)

			return true
		default:
			return false
		}

		panic(http.ErrAbortHandler)
	})
	s.serve("/m.tar.gz", gzipped(t, files{"main.tf": "1", "old.tf": "1"}), "ETag", `"one"`)

	p := newPlace(t, s.url+"/m.tar.gz")
	p.ensure(t)
	s.serve("/m.tar.gz", gzipped(t, files{"main.tf": "2"}), "ETag", `"two"`)

	for m, want := range map[string]string{"cut": "unexpected EOF", "cut without length": "unexpected EOF", "error": "bad response code: 500"} {
		mode.Store(m)

		if got := p.ensureFails(t); !strings.Contains(got, want) {
			t.Errorf("%s: want error %q, got %q", m, want, got)
		}

		p.expect(t, files{"main.tf": "1", "old.tf": "1"})
	}

	mode.Store("")
	p.ensure(t)
	p.expect(t, files{"main.tf": "2"})
}

// TestReferences fetches from servers that refer to another address.
func TestReferences(t *testing.T) {
	t.Parallel()

	g := newGitServer(t)
	g.repo(t, "repo", files{"main.tf": "1", "sub/main.tf": "s1"})
	g.users["repo"] = "me:s3cr3t-p4ss"

	local := t.TempDir()
	filesystem.Write(t, local, files{"main.tf": "local"})

	s := newFileServer(t)
	authorized := "git::http://me:s3cr3t-p4ss@" + g.host() + "/repo"
	s.serve("/header", nil, "X-Terraform-Get", authorized)
	s.serve("/sub", nil, "X-Terraform-Get", authorized+"//sub")
	s.serve("/meta", []byte(`<html><head><meta name="terraform-get" content="`+s.url+`/m.zip"></head></html>`))
	s.serve("/m.zip", zipped(t, files{"main.tf": "z"}), "ETag", `"one"`)
	s.serve("/l.zip", zipped(t, files{"sub/main.tf": "m", "sub/x.tf": "-> /etc/hostname"}))
	s.serve("/link", nil, "X-Terraform-Get", s.url+"/l.zip//sub")
	s.serve("/file", nil, "X-Terraform-Get", "file://"+local)
	s.serve("/path", nil, "X-Terraform-Get", local)
	s.serve("/archive", nil, "X-Terraform-Get", "file://"+local+"/m.zip")
	s.serve("/git", nil, "X-Terraform-Get", "git::file://"+local)
	s.serve("/git-path", nil, "X-Terraform-Get", "git::"+local)
	s.serve("/hg", nil, "X-Terraform-Get", "hg::file://"+local)
	s.serve("/circle", nil, "X-Terraform-Get", s.url+"/circle")
	s.serve("/nothing", []byte("<html></html>"))

	cases := map[string]struct {
		reason, path string
		want         files
		// err is a part of the message.
		err string
	}{
		"Header":  {reason: "The server refers to a repository.", path: "/header", want: files{"main.tf": "1", "sub/main.tf": "s1"}},
		"Sub":     {reason: "The server refers to a directory of a repository.", path: "/sub", want: files{"main.tf": "s1"}},
		"SubSub":  {reason: "The server refers to a repository, and the address to a directory in it.", path: "/header//sub", want: files{"main.tf": "s1"}},
		"Meta":    {reason: "A page refers to an archive.", path: "/meta", want: files{"main.tf": "z"}},
		"Link":    {reason: "No link is followed on the way.", path: "/link", err: "copying of symlinks has been disabled"},
		"File":    {reason: "A server must not select files of this machine.", path: "/file", err: "the server refers to a file of this machine"},
		"Path":    {reason: "The form of the address does not matter.", path: "/path", err: "the server refers to a file of this machine"},
		"Archive": {reason: "An archive is a file as well.", path: "/archive", err: "the server refers to a file of this machine"},
		"Git":     {reason: "So is a repository.", path: "/git", err: "the server refers to a file of this machine"},
		"GitPath": {reason: "So is a repository without a scheme.", path: "/git-path", err: "the server refers to a file of this machine"},
		"Hg":      {reason: "So is a Mercurial repository.", path: "/hg", err: "the server refers to a file of this machine"},
		"Circle":  {reason: "The references form a circle.", path: "/circle", err: "too many X-Terraform-Get redirects"},
		"Nothing": {reason: "The server refers to no address.", path: "/nothing", err: "use the address of an archive, or git:: and the address of a repository"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			trace := filepath.Join(t.TempDir(), "trace")
			p := newPlace(t, s.url+tc.path)
			p.request.Env = environment(t, "GIT_TRACE="+trace)

			if tc.err != "" {
				if got := p.ensureFails(t); !strings.Contains(got, tc.err) {
					t.Errorf("%s\nEnsure(...): want error %q, got %q", tc.reason, tc.err, got)
				}

				return
			}

			p.ensure(t)
			p.expect(t, tc.want)
			expectNoSecret(t, p.dir.Path())

			if strings.Contains(s.headers[tc.path].Get("X-Terraform-Get"), "git::") {
				expectNoSecret(t, trace)
			}
		})
	}

	// A server may refer to another address the next time, with the same revision.
	t.Run("AnotherTime", func(t *testing.T) {
		s := newFileServer(t)
		s.serve("/module", nil, "X-Terraform-Get", "git::"+g.url+"/free//sub")
		g.repo(t, "free", files{"main.tf": "1", "sub/main.tf": "s1"})

		p := newPlace(t, s.url+"/module")
		p.ensure(t)
		p.expect(t, files{"main.tf": "s1"})

		s.serve("/module", nil, "X-Terraform-Get", "git::"+g.url+"/free")
		p.ensure(t)
		p.expect(t, files{"main.tf": "1", "sub/main.tf": "s1"})
	})
}

func TestHTTPCredentials(t *testing.T) {
	t.Parallel()

	s := newFileServer(t)
	s.intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if user, password, _ := r.BasicAuth(); user == "me" && password == "s3cr3t-p4ss" {
			return false
		}

		w.WriteHeader(http.StatusUnauthorized)

		return true
	})
	s.serve("/m.zip", zipped(t, files{"main.tf": "m"}))

	host := strings.TrimPrefix(s.url, "http://")
	home := t.TempDir()
	filesystem.Write(t, home, files{".netrc": "machine " + host + " login me password s3cr3t-p4ss\n"})

	cases := map[string]struct {
		reason  string
		address string
		env     []string
		// want is the message. It is empty for success.
		want string
	}{
		"Address": {
			reason:  "Credentials may be in the address.",
			address: "http://me:s3cr3t-p4ss@" + host + "/m.zip",
		},
		"Home": {
			reason:  "Or in the home directory that the caller passes.",
			address: s.url + "/m.zip",
			env:     []string{"HOME=" + home},
		},
		"None": {
			reason:  "Another home directory is not used.",
			address: s.url + "/m.zip",
			env:     []string{"PATH=" + os.Getenv("PATH")},
			want:    "bad response code: 401: correct the address, or give credentials for it: user and password in the address, or a file .netrc in HOME of the provider",
		},
		"NoArchive": {
			reason:  "The server may refer to the archive.",
			address: s.url + "/m",
			env:     []string{"PATH=" + os.Getenv("PATH")},
			want:    "bad response code: 401: correct the address, or give credentials for it: user and password in the address, or a file .netrc in HOME of the provider. For a repository, use git:: and its address",
		},
		"Wrong": {
			reason:  "Wrong credentials are not shown.",
			address: "http://us3r-s3cr3t:wr0ng-s3cr3t@" + host + "/m.zip",
			want:    `cannot fetch module "` + s.url + `/m.zip": bad response code: 401`,
		},
		"Unreachable": {
			reason:  "Nor are credentials for a server that does not exist.",
			address: "http://us3r-s3cr3t:wr0ng-s3cr3t@127.0.0.1:1/m.zip?token=wr0ng-s3cr3t",
			want:    `cannot fetch module "http://127.0.0.1:1/m.zip?token=redacted": Get "http://127.0.0.1:1/m.zip?token=redacted": dial tcp 127.0.0.1:1: connect: connection refused`,
		},
		"NoURL": {
			reason:  "Nor are credentials in an invalid address.",
			address: "http://us3r-s3cr3t:wr0ng/s3cr3t%zz@127.0.0.1:1/m.zip",
			want:    `cannot fetch module "http://127.0.0.1:1/m.zip": it is not a valid URL. `,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := newPlace(t, tc.address)
			if tc.env != nil {
				p.request.Env = tc.env
			}

			if tc.want == "" {
				p.ensure(t)
			} else if got := p.ensureFails(t); !strings.Contains(got, tc.want) || strings.Contains(got, "s3cr3t") {
				t.Errorf("%s\nEnsure(...): want error %q, got %q", tc.reason, tc.want, got)
			}

			expectNoSecret(t, p.dir.Path())
		})
	}
}

// TestNoInheritedHome ensures that a fetch does not use the home directory of this process. It
// changes the process and so cannot run in parallel.
func TestNoInheritedHome(t *testing.T) {
	s := newFileServer(t)
	s.serve("/m.zip", zipped(t, files{"main.tf": "m"}))

	home := t.TempDir()
	filesystem.Write(t, home, files{".netrc": "machine " + strings.TrimPrefix(s.url, "http://") + " login me password p\n"})
	t.Setenv("HOME", home)
	t.Setenv("NETRC", filepath.Join(home, ".netrc"))
	t.Setenv("AWS_SECRET_ACCESS_KEY", "of the provider")

	p := newPlace(t, s.url+"/m.zip")
	p.request.Env = []string{"PATH=" + os.Getenv("PATH")}
	p.ensure(t)

	for _, r := range s.requests {
		if user, _, ok := r.BasicAuth(); ok {
			t.Errorf("the fetch used the credentials of %q", user)
		}
	}
}
