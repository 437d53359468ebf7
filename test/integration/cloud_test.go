// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/workspace"
	"github.com/crossplane-contrib/provider-terraform/test/filesystem"
	"github.com/crossplane-contrib/provider-terraform/test/program"
)

// A cloud is the directory that is the cloud of the provider in hack/provider-cloud, and what a test needs for Workspaces that use it.
type cloud struct {
	*cluster

	dir, namespace, shard string
	config                client.Object
}

// newCloud returns a cloud for Workspaces of the common instance that runs the named CLI.
func newCloud(t *testing.T, cli string) cloud {
	t.Helper()

	mirror := program.Need(t, "PROVIDER_CLOUD")

	c, ns, shard, _ := useCommon(t, cli)
	rc := c.secretKey(t, ns, fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror))
	spec := withBackend(ns, "cloud")
	spec.Credentials = []commonv1beta1.ProviderCredentials{secretCredentials(".terraformrc", rc)}

	return cloud{cluster: c, dir: t.TempDir(), namespace: ns, shard: shard, config: c.createConfig(t, namespacedScope, ns, spec)}
}

// eachCloud runs a test with a cloud for each CLI.
func eachCloud(t *testing.T, test func(*testing.T, cloud)) {
	t.Helper()

	eachCLI(t, func(t *testing.T, cli string) {
		t.Helper()
		test(t, newCloud(t, cli))
	})
}

// module returns a module with the supplied resources.
func (c cloud) module(resources ...string) string {
	return fmt.Sprintf("terraform {\n  required_providers {\n    cloud = { source = \"example/cloud\" }\n  }\n}\n\nprovider \"cloud\" {\n  directory = %q\n}\n%s", c.dir, strings.Join(resources, ""))
}

// object returns a resource with more arguments and blocks.
func object(name, more string) string {
	return fmt.Sprintf("\nresource \"cloud_object\" %q {\n  name = %q\n%s\n}\n", name, name, more)
}

// runs creates a Workspace with these resources.
func (c cloud) runs(t *testing.T, resources ...string) workspace.Workspace {
	t.Helper()

	return c.createWorkspace(t, namespacedScope, c.namespace, inShard(c.shard), withConfig(c.config), withModule(c.module(resources...)))
}

// fault makes calls of the provider fail or warn with the supplied text.
func (c cloud) fault(t *testing.T, name, text string) {
	t.Helper()
	filesystem.Write(t, c.dir, tree{"faults/" + name: text})
}

func (c cloud) mend(t *testing.T, name string) {
	t.Helper()

	if err := os.Remove(filepath.Join(c.dir, "faults", name)); err != nil {
		t.Fatal(err)
	}
}

// change sets an attribute of an object, as a third party does.
func (c cloud) change(t *testing.T, name, attribute, value string) {
	t.Helper()

	o := c.read(t, name)
	o[attribute] = &value

	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}

	filesystem.Write(t, c.dir, tree{"objects/" + name + ".json": string(data)})
}

func (c cloud) read(t *testing.T, name string) map[string]*string {
	t.Helper()

	data, err := os.ReadFile(filepath.Join(c.dir, "objects", name+".json"))
	if err != nil {
		t.Fatal(err)
	}

	var o map[string]*string
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}

	return o
}

// TestFailingProvider has a provider that fails after it has made an object, and has warned why. The error has both.
func TestFailingProvider(t *testing.T) {
	t.Parallel()

	eachCloud(t, func(t *testing.T, c cloud) {
		t.Helper()

		c.fault(t, "late_error.b", "The machine has not answered in time.")
		c.fault(t, "create_warning.b", "The image is damaged.")

		ws := c.runs(t, object("a", ""), object("b", ""))
		expectCondition(t, c.cluster, ws, xpv2.TypeSynced, corev1.ConditionFalse,
			"cloud_object.b: Cloud: late_error: The machine has not answered in time.", "Cloud: create_warning: The image is damaged.")
		expectCondition(t, c.cluster, ws, xpv2.TypeReady, corev1.ConditionFalse)

		c.mend(t, "late_error.b")
		c.mend(t, "create_warning.b")
		expectReady(t, c.cluster, ws)
	})
}

// TestAbsentAfterCreate has a provider that does not find what it has just made.
func TestAbsentAfterCreate(t *testing.T) {
	t.Parallel()

	eachCloud(t, func(t *testing.T, c cloud) {
		t.Helper()

		c.fault(t, "create_absent", "")

		ws := c.runs(t, object("a", ""))
		expectCondition(t, c.cluster, ws, xpv2.TypeSynced, corev1.ConditionFalse, "Missing Resource State After Create", "pause the Workspace, look for it, and import or remove it.")
	})
}

// TestWarningProvider has a provider that warns of each object, when it is created and when it is destroyed.
func TestWarningProvider(t *testing.T) {
	t.Parallel()

	eachCloud(t, func(t *testing.T, c cloud) {
		t.Helper()

		c.fault(t, "create_warning", "It is old.")
		c.fault(t, "plan_warning", "It is old.")
		c.fault(t, "delete_warning.b", "A copy stays.")

		var resources []string
		for _, name := range []string{"a", "b", "c", "d"} {
			resources = append(resources, object(name, ""))
		}

		ws := c.runs(t, resources...)
		expectReady(t, c.cluster, ws)
		// The provider warns of each object in the plan and in the apply.
		eventually(t, func() error {
			c.get(t, ws)

			if have := ws.GetObservation().Warnings; len(have) != 6 || have[5] != "and 3 more" {
				return errors.Errorf("want five warnings and the number of three more, got %q", have)
			}

			return nil
		})

		c.remove(t, ws)
		expectGone(t, c.cluster, ws)
		expectEvent(t, c.cluster, ws, "ReportedWarnings", "Cloud: delete_warning: A copy stays.")
	})
}

// TestProtectedObject has a provider that refuses to delete an object, as those of clouds do while the state has deletion_protection. Nothing
// applies a change of the module any more.
func TestProtectedObject(t *testing.T) {
	t.Parallel()

	eachCloud(t, func(t *testing.T, c cloud) {
		t.Helper()

		c.fault(t, "delete_error", "Cannot destroy it because deletion_protection is set to true. Set it to false to proceed.")

		ws := c.runs(t, object("a", ""))
		expectReady(t, c.cluster, ws)

		c.remove(t, ws)
		expectCondition(t, c.cluster, ws, xpv2.TypeSynced, corev1.ConditionFalse,
			"Set it to false to proceed. A destroy takes such an argument from the last apply, and a change of the module has no effect any more")

		c.mend(t, "delete_error")
		expectGone(t, c.cluster, ws)
	})
}

// TestIgnoredDrift changes an object whose module ignores another change, which a third party has made.
func TestIgnoredDrift(t *testing.T) {
	t.Parallel()

	eachCloud(t, func(t *testing.T, c cloud) {
		t.Helper()

		const ignore = "\n  lifecycle {\n    ignore_changes = [tag]\n  }"

		ws := c.runs(t, object("a", `  size = "1"`+ignore))
		expectReady(t, c.cluster, ws)

		c.change(t, "a", "tag", "theirs")
		c.changeModule(t, ws, c.module(object("a", `  size = "2"`+ignore)))
		expectEvent(t, c.cluster, ws, "DetectedDrift", "Updating what was also changed outside of Terraform")
		expectReadyNow(t, c.cluster, ws)

		if o := c.read(t, "a"); *o["size"] != "2" || *o["tag"] != "theirs" {
			t.Errorf("want size 2 and the tag theirs, got %q and %q", *o["size"], *o["tag"])
		}
	})
}
