// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"

	changelogsv1alpha1 "github.com/crossplane/crossplane-runtime/v2/apis/changelogs/proto/v1alpha1"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
)

// A changeLog takes the entries that instances send. It is safe for concurrent use.
type changeLog struct {
	changelogsv1alpha1.UnimplementedChangeLogServiceServer

	mu      sync.Mutex
	entries []*changelogsv1alpha1.ChangeLogEntry
}

// SendChangeLog records an entry.
func (l *changeLog) SendChangeLog(_ context.Context, r *changelogsv1alpha1.SendChangeLogRequest) (*changelogsv1alpha1.SendChangeLogResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.entries = append(l.entries, r.GetEntry())

	return &changelogsv1alpha1.SendChangeLogResponse{}, nil
}

// of returns the operations on the named Workspace, oldest first.
func (l *changeLog) of(t *testing.T, name string) []string {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()

	operations := []string{}

	for _, e := range l.entries {
		if e.GetName() != name {
			continue
		}

		operation := e.GetOperation().String()
		if e.ErrorMessage != nil {
			operation += " failed"
		}

		operations = append(operations, operation)

		if e.GetKind() != "Workspace" || e.GetExternalName() != name || e.GetSnapshot() == nil || e.GetProvider() == "" {
			t.Errorf("incomplete entry: %v", e)
		}
	}

	return operations
}

// startChangeLog starts a service on a unix socket, and returns the path of that.
func startChangeLog(t *testing.T) (*changeLog, string) {
	t.Helper()

	// The path of a socket must be short: that of a directory of the test is not.
	dir, err := os.MkdirTemp("", "changelog-") //nolint:usetesting // See above.
	if err != nil {
		t.Fatalf("cannot make directory: %v", err)
	}

	t.Cleanup(func() { _ = os.RemoveAll(dir) })

	socket := filepath.Join(dir, "sock")

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatalf("cannot listen: %v", err)
	}

	l := &changeLog{}
	server := grpc.NewServer()
	changelogsv1alpha1.RegisterChangeLogServiceServer(server, l)

	go func() { _ = server.Serve(listener) }()

	t.Cleanup(server.Stop)

	return l, socket
}

// TestChangeLogs has every change of a Workspace recorded.
func TestChangeLogs(t *testing.T) {
	t.Parallel()

	c := shared.sharded.started(t)
	ns, shard := c.namespace(t), unique("shard")
	changes, socket := startChangeLog(t)
	startInstance(t, c, withShard(shard), withTerraform(), withArgs("--enable-changelogs", "--changelogs-socket-path="+socket))

	e := newEvidence(t)
	cfg := c.createConfig(t, clusterScope, ns, withBackend(ns, "changes"))
	ws := c.createWorkspace(t, clusterScope, ns, inShard(shard), withConfig(cfg), withEvidence(t, "evidence.tf", e))
	expectReady(t, c, ws)

	c.changeVars(t, ws, commonv1beta1.Var{Key: "dir", Value: string(e)}, commonv1beta1.Var{Key: "greeting", Value: "bye"})
	expectOutputs(t, c, ws, map[string]string{"greeting": `"bye"`})
	expectReady(t, c, ws)

	c.remove(t, ws)
	expectGone(t, c, ws)

	eventually(t, func() error {
		if diff := cmp.Diff([]string{"OPERATION_TYPE_CREATE", "OPERATION_TYPE_UPDATE", "OPERATION_TYPE_DELETE"}, changes.of(t, ws.GetName())); diff != "" {
			return errors.Errorf("changes: -want, +got:\n%s", diff)
		}

		return nil
	})
}
