// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/controlplane"
)

const (
	approved = "team-a/approved"

	// The Roles of these groups are in examples/approval.
	authors, approvers = "team-a", "team-a-leads"
)

// approveStory has an author and an approver, with the policy of cluster/deploy/approval.
func (d *demo) approveStory() []expectation {
	return append(d.setup(),
		expectation{title: "two instances are ready, " + shard0 + " and " + shard1, within: 2 * time.Minute, check: d.starts(shard0, shard1)},
		expectation{title: approved + " has approval: Destroy. Its creation destroys nothing, and waits for nobody", within: 3 * time.Minute, check: d.createApproved, table: true},
		expectation{title: "its author has changed the module, so that a resource is replaced: the plan waits", within: 2 * time.Minute, check: d.replace},
		expectation{title: "the author may not approve it", within: time.Minute, check: d.approveAsAuthor},
		expectation{title: "it has moved to " + shard1 + ", where the same plan waits with the same ID", within: 2 * time.Minute, check: d.moveWaiting},
		expectation{title: "the approver has approved it: " + shard1 + " has replaced the resource", within: 2 * time.Minute, check: d.approveReplacement, table: true},
		expectation{title: "its author has deleted it: the deletion waits, too", within: 2 * time.Minute, check: d.deleteApproved},
		expectation{title: "the approver has approved that: it is gone, with its resource", within: 2 * time.Minute, check: d.approveDeletion},
	)
}

func (d *demo) createApproved(ctx context.Context) error {
	if err := apply(ctx, d.plane.Kube,
		filepath.Join("examples", "namespaced", "namespace.yaml"),
		filepath.Join("examples", "namespaced", "rbac.yaml"),
		filepath.Join("examples", "namespaced", "providerconfig.yaml"),
		filepath.Join("examples", "approval", "roles.yaml"),
		filepath.Join("examples", "approval", "workspace.yaml"),
		filepath.Join("cluster", "deploy", "approval", "policy.yaml"),
	); err != nil {
		return err
	}

	if err := d.setShard(ctx, approved, shard0); err != nil {
		return err
	}

	return d.await(ctx, func(seen map[string]sight) error {
		s := seen[approved]
		d.created = map[string]string{approved: s.outputs()}

		return s.served(s.outputs())
	})
}

// as returns a client of a member of a group.
func (d *demo) as(group string) (client.Client, error) {
	config := d.plane.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: "member-of-" + group, Groups: []string{group, "system:authenticated"}}

	return controlplane.NewClient(config)
}

// patchAs patches the Workspace as a member of a group does.
func (d *demo) patchAs(ctx context.Context, group, json string) error {
	kube, err := d.as(group)
	if err != nil {
		return err
	}

	seen, err := d.observe(ctx)
	if err != nil {
		return err
	}

	return kube.Patch(ctx, seen[approved].Workspace, client.RawPatch(types.MergePatchType, []byte(json)))
}

func (d *demo) approveAs(ctx context.Context, group string) error {
	return d.patchAs(ctx, group, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, workspace.ApprovePlanAnnotationKey, d.waits))
}

// expectWaiting waits until a plan or a deletion waits for approval, other than the last one, and says what the condition
// says.
func (d *demo) expectWaiting(ctx context.Context, last string) error {
	text := ""

	if err := d.await(ctx, func(seen map[string]sight) error {
		s, ok := seen[approved]
		if !ok {
			return errors.New("is not there")
		}

		p, c := s.GetObservation().Plan, s.GetCondition(workspace.TypeAwaitingApproval)
		if c.Status != corev1.ConditionTrue || p == nil || p.ID == last {
			return errors.Errorf("AwaitingApproval is %s", c.Status)
		}

		d.waits, text = p.ID, fmt.Sprintf("%s: %s", c.Reason, c.Message)

		return nil
	}); err != nil {
		return err
	}

	d.screen.say("", "  "+text, "")

	return nil
}

func (d *demo) replace(ctx context.Context) error {
	seen, err := d.observe(ctx)
	if err != nil {
		return err
	}

	module := strings.Replace(seen[approved].GetParameters().Module, "triggers_replace = 1", "triggers_replace = 2", 1)
	if err := d.patchAs(ctx, authors, fmt.Sprintf(`{"spec":{"forProvider":{"module":%q}}}`, module)); err != nil {
		return err
	}

	return d.expectWaiting(ctx, "")
}

func (d *demo) approveAsAuthor(ctx context.Context) error {
	err := d.approveAs(ctx, authors)
	if !kerrors.IsForbidden(err) {
		return errors.Errorf("the API server did not refuse it: %v", err)
	}

	d.screen.say("", "  "+err.Error(), "")

	return nil
}

func (d *demo) moveWaiting(ctx context.Context) error {
	if err := d.setShard(ctx, approved, shard1); err != nil {
		return err
	}

	if err := d.await(ctx, func(seen map[string]sight) error {
		if by := seen[approved].servedBy; by != shard1 {
			return errors.Errorf("is served by %s", by)
		}

		return nil
	}); err != nil {
		return err
	}

	before := d.waits
	if err := d.expectWaiting(ctx, ""); err != nil {
		return err
	}

	if d.waits != before {
		return errors.Errorf("the ID is %s, and was %s", d.waits, before)
	}

	return nil
}

func (d *demo) approveReplacement(ctx context.Context) error {
	if err := d.approveAs(ctx, approvers); err != nil {
		return err
	}

	return d.await(ctx, func(seen map[string]sight) error {
		s := seen[approved]
		if c := s.GetCondition(workspace.TypeAwaitingApproval); c.Status == corev1.ConditionTrue {
			return errors.New("the plan still waits")
		}

		if s.outputs() == d.created[approved] {
			return errors.New("the resource is the same as before")
		}

		return s.served(s.outputs())
	})
}

func (d *demo) deleteApproved(ctx context.Context) error {
	kube, err := d.as(authors)
	if err != nil {
		return err
	}

	seen, err := d.observe(ctx)
	if err != nil {
		return err
	}

	if err := kube.Delete(ctx, seen[approved].Workspace); err != nil {
		return err
	}

	return d.expectWaiting(ctx, d.waits)
}

func (d *demo) approveDeletion(ctx context.Context) error {
	if err := d.approveAs(ctx, approvers); err != nil {
		return err
	}

	return d.await(ctx, func(seen map[string]sight) error {
		if _, ok := seen[approved]; ok {
			return errors.New("is still there")
		}

		return nil
	})
}
