// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
	"github.com/crossplane-contrib/provider-terraform/internal/remedy"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// A Fetcher fetches modules into working directories. It is safe for concurrent
// use, as long as no two requests are for the same directory.
type Fetcher struct {
	live client.Reader

	// store keeps fetched modules for other Workspaces. It is nil if modules are not shared.
	store *store

	options Options
}

// Options of a Fetcher.
type Options struct {
	// Program is the path of the program that downloads modules: see fetch.Program.
	Program string

	// SharedDir keeps fetched modules for other Workspaces that have the same module, from the same
	// source with the same credentials. If it is empty, modules are not shared.
	SharedDir string

	// Observe is called for each fetch of a module that may be shared, with whether an earlier fetch
	// has kept it.
	Observe func(hit bool)

	// SameNamespace refuses a Flux source in another namespace than that of the Workspace. Workspaces
	// without a namespace may refer to any namespace.
	SameNamespace bool
}

// NewFetcher returns a Fetcher that reads Flux sources with live, which must not be a cache: a
// cache would start to watch a kind that may be missing or forbidden, and would block for ever.
func NewFetcher(live client.Reader, o Options) *Fetcher {
	f := &Fetcher{live: live, options: o}
	if o.SharedDir != "" {
		f.store = newStore(o.SharedDir)
	}

	return f
}

// A Request is for the module of one Workspace.
type Request struct {
	// Parameters of the Workspace.
	Parameters commonv1beta1.WorkspaceParameters

	// Namespace of the Workspace. Empty if it is cluster scoped.
	Namespace string

	// Dir is the working directory of the Workspace.
	Dir *workdir.Dir

	// CLI is to run the module.
	CLI *terraform.CLI

	// Env is the environment of the fetch, as KEY=VALUE: that of the provider. The environment of this process is not
	// added.
	Env []string

	// GitCredentials is the content of the .git-credentials file that the Workspace
	// has from its ProviderConfig, if any.
	GitCredentials []byte

	// Redact hides secrets in the errors of a fetch.
	Redact func(text string) string

	// FetchFailed, if not nil, is called with the error if the module cannot be fetched, and that of an earlier fetch is used instead.
	FetchFailed func(err error)
}

// A source is the current source of a module.
type source struct {
	// address is the address for the status.
	address string

	// revision of the module, if it is known before the module is fetched.
	revision string

	// request is the request for the fetch.
	request fetch.Request
}

// Ensure updates the module in the working directory to the one of the request, according to the
// pull policy, and returns its address. It is called before the first run of a reconcile, and before
// inputs are written to the directory. For an inline module it removes the files of an earlier fetch.
//
// A fetch either completes or changes nothing. If the error is not nil, the module of an earlier
// fetch is unchanged.
func (f *Fetcher) Ensure(ctx context.Context, r Request) (string, error) {
	address, err := f.fetch(ctx, r)
	if err != nil {
		if r.FetchFailed == nil || r.Dir.TreeRevision() == "" || ctx.Err() != nil {
			return "", err
		}

		r.FetchFailed(err)
	}

	if r.Parameters.Source == commonv1beta1.ModuleSourceInline {
		return "", nil
	}

	return address, checkEntrypoint(r, r.Parameters.Entrypoint)
}

// fetch does that, and does not look at the files.
func (f *Fetcher) fetch(ctx context.Context, r Request) (string, error) {
	p := r.Parameters
	// A YAML block ends with a new line, but an address does not.
	address := strings.TrimSpace(p.Module)

	var s source

	switch p.Source {
	case commonv1beta1.ModuleSourceInline:
		return "", errors.Wrap(r.Dir.RemoveTree(), "cannot remove fetched module")
	case commonv1beta1.ModuleSourceRemote:
		if address == "" {
			return "", errors.New("spec.forProvider.module is empty: it must be the address of a module")
		}

		// An error about an address would show all of the module.
		if !filepath.IsAbs(address) && (strings.HasPrefix(address, "{") || strings.Contains(address, "\n") || strings.Contains(address, " {")) {
			return "", errors.New("spec.forProvider.module looks like a module, and not like its address: set spec.forProvider.source to Inline")
		}

		s = source{address: address, request: fetch.Request{Address: address}}
	case commonv1beta1.ModuleSourceFlux:
		var err error
		if s, err = f.flux(ctx, address, r.Namespace); err != nil {
			return "", err
		}
	default:
		return "", errors.Errorf("spec.forProvider.source %q is not supported: it must be Inline, Remote or Flux", p.Source)
	}

	if err := f.update(ctx, r, s); err != nil {
		return "", errors.Wrapf(err, "cannot fetch module %q", remedy.Address(s.address))
	}

	return s.address, nil
}

// update fetches the module from the source unless the module in the directory is up to date.
func (f *Fetcher) update(ctx context.Context, r Request, s source) error {
	// The record in the directory must not contain secrets, which the address may have.
	key := fmt.Sprintf("%x", sha256.Sum256([]byte(string(r.Parameters.Source)+" "+s.address)))

	known, present := strings.CutPrefix(r.Dir.TreeRevision(), key+" ")

	switch {
	case !present:
		known = ""
	case s.isCurrent(r.Parameters.RemotePullPolicy, known):
		return nil
	}

	dir, err := r.Dir.TempDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // The next TempDir removes the rest.

	s.request.Known = known
	s.request.GitCredentials = r.GitCredentials
	s.request.Redact = r.Redact
	s.request.Dir = dir
	s.request.Private = filepath.Dir(r.Dir.Path())

	res, err := f.get(ctx, r, s, func(revisionOnly bool) (fetch.Result, error) {
		s.request.RevisionOnly = revisionOnly

		return fetch.Run(ctx, f.options.Program, r.Env, s.request)
	})
	if err != nil || res.Dir == "" {
		return err
	}

	found, err := locate(res.Dir, res.Sub)
	if err != nil {
		return err
	}

	tree := filepath.Join(dir, "tree")
	if err := os.Rename(found, tree); err != nil {
		return err
	}

	revision := cmp.Or(s.revision, res.Revision)
	if revision == "" {
		if revision, err = workdir.TreeDigest(tree); err != nil {
			return errors.Wrap(err, "cannot read module")
		}
	}

	return r.Dir.ReplaceTree(tree, key+" "+revision)
}

// get returns the files of the source from the store. Otherwise it calls run, which fetches them
// or only the revision. If the known revision is up to date, the result has no directory.
func (f *Fetcher) get(ctx context.Context, r Request, s source, run func(revisionOnly bool) (fetch.Result, error)) (fetch.Result, error) {
	if f.store == nil {
		return run(false)
	}

	var res fetch.Result

	if a := s.request.Artifact; a != nil {
		res = fetch.Result{Source: a.URL, Revision: a.Digest}
	} else {
		var err error
		if res, err = run(true); err != nil || res.Dir != "" || res.Revision == s.request.Known {
			return res, err
		}
	}

	key, dst := storeKey(r, res), filepath.Join(s.request.Dir, "stored")

	ok, err := f.store.Get(key, res.Sub, dst)
	if !ok && err == nil {
		defer f.store.Lock(ctx, key)()

		ok, err = f.store.Get(key, res.Sub, dst)
	}

	if err == nil {
		f.options.Observe(ok)
	}

	if ok || err != nil {
		return fetch.Result{Dir: dst, Revision: res.Revision}, err
	}

	res, err = run(false)
	if err == nil && res.Dir != "" && res.Revision != "" {
		f.store.Put(storeKey(r, res), res.Dir)
	}

	return res, err
}

// isCurrent says whether the known revision, whose module is complete, can be used without asking
// the source.
func (s source) isCurrent(policy commonv1beta1.RemotePullPolicy, known string) bool {
	switch {
	case policy == commonv1beta1.RemotePullPolicyIfNotPresent:
		return true
	case s.revision != "":
		return known == s.revision
	default:
		return fetch.Immutable(s.address, known)
	}
}

// checkEntrypoint fails if the module has no configuration for the CLI in the entrypoint. The CLI alone would
// not detect that: the provider writes files there beside the module. With these files alone, the
// CLI finds a module without resources, and destroys all existing ones.
func checkEntrypoint(r Request, entrypoint string) error {
	var have []string

	for _, name := range r.Dir.TreeFiles() {
		if r.CLI.Reads(path.Base(name)) {
			have = append(have, path.Dir(name))
		}
	}

	slices.Sort(have)
	have = slices.Compact(have)

	rel, err := r.Dir.ResolveEntrypoint(entrypoint)

	switch {
	case err == nil && slices.Contains(have, rel):
		return nil
	case err == nil:
		err = errors.Errorf("cannot use spec.forProvider.entrypoint %q: the module has no configuration there, no file *.tf", entrypoint)
	}

	if len(have) == 0 {
		return err
	}

	return errors.Errorf("%w; the directories with a configuration: %s", err, strings.Join(have[:min(len(have), maxEntrypoints)], ", "))
}

// maxEntrypoints is the largest number of directories that an error names.
const maxEntrypoints = 5
