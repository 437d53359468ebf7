// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	clusterv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/cluster/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/schedule"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
)

// connectedTo makes a Workspace write its outputs to this Secret.
func connectedTo(namespace, name string) func(ws *clusterv1beta1.Workspace) {
	return func(ws *clusterv1beta1.Workspace) {
		ws.SetWriteConnectionSecretToReference(&xpv2.SecretReference{Namespace: namespace, Name: name})
	}
}

// TestToPublish ensures that outputs which cannot be published do not block the update that corrects
// them: the managed reconciler publishes first.
func TestToPublish(t *testing.T) {
	t.Parallel()

	program := filepath.Base(os.Args[0])
	written := func(manager string, keys ...string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:data": {"f:` + strings.Join(keys, `": {}, "f:`) + `": {}}}`),
		}
	}

	controlledBy := func(uid types.UID) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "connection", OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "Owner", Name: "owner", UID: uid, Controller: new(true),
			}}, ManagedFields: []metav1.ManagedFieldsEntry{written(program, "stays", "vanished", "removed"), written("kubectl", "added")}},
			Data: map[string][]byte{"stays": []byte("old"), "vanished": []byte("old"), "added": []byte("theirs")},
		}
	}
	immutable := controlledBy("a")
	immutable.Immutable = new(true)

	outputs := map[string]terraform.Output{"stays": output(`"new"`)}
	refused := map[string]terraform.Output{"stays": output(`"new"`), "straße": output(`"s"`)}
	large := map[string]terraform.Output{"stays": output(`"` + strings.Repeat("x", corev1.MaxSecretSize+1) + `"`)}
	wanted := connectedTo("ns", "connection")

	cases := map[string]struct {
		reason string
		ws     *clusterv1beta1.Workspace
		secret *corev1.Secret
		seen   schedule.Observation
		want   managed.ConnectionDetails
	}{
		"NotWanted":       {reason: "No Secret was requested.", ws: with(), secret: controlledBy("a"), seen: schedule.Observation{UpToDate: true, Outputs: outputs}, want: managed.ConnectionDetails{"stays": []byte("new")}},
		"Absent":          {reason: "A Secret that does not exist has no keys to remove.", ws: with(wanted), seen: schedule.Observation{UpToDate: true, Outputs: outputs}, want: managed.ConnectionDetails{"stays": []byte("new")}},
		"Own":             {reason: "The key of a removed output is removed, and one that something else added stays.", ws: with(wanted), secret: controlledBy("a"), seen: schedule.Observation{UpToDate: true, Outputs: outputs}, want: managed.ConnectionDetails{"stays": []byte("new"), "vanished": nil}},
		"Foreign":         {reason: "Data of another owner stays.", ws: with(wanted), secret: controlledBy("b"), seen: schedule.Observation{UpToDate: true, Outputs: outputs}, want: managed.ConnectionDetails{"stays": []byte("new")}},
		"Refused":         {reason: "The client of the managed reconciler refuses the other output.", ws: with(wanted), seen: schedule.Observation{UpToDate: true, Outputs: refused}, want: managed.ConnectionDetails{"stays": []byte("new"), "straße": []byte("s")}},
		"RefusedBefore":   {reason: "It would block an update.", ws: with(wanted), secret: controlledBy("a"), seen: schedule.Observation{Outputs: refused}, want: managed.ConnectionDetails{"stays": []byte("new"), "vanished": nil}},
		"RefusedForGood":  {reason: "There is no update without the policy.", ws: with(wanted, policies(xpv2.ManagementActionObserve)), seen: schedule.Observation{Outputs: refused}, want: managed.ConnectionDetails{"stays": []byte("new"), "straße": []byte("s")}},
		"LargeBefore":     {reason: "What is published stays until the update.", ws: with(wanted), secret: controlledBy("a"), seen: schedule.Observation{Outputs: large}, want: managed.ConnectionDetails{}},
		"ImmutableBefore": {reason: "A Secret that cannot change blocks no update, either.", ws: with(wanted), secret: immutable, seen: schedule.Observation{Outputs: outputs}, want: managed.ConnectionDetails{}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var others []client.Object
			if tc.secret != nil {
				others = append(others, tc.secret.DeepCopy())
			}

			all, err := connectionDetails(tc.seen.Outputs)
			if err != nil {
				t.Fatal(err)
			}

			got, err := newAttempt(t, tc.ws, others...).toPublish(t.Context(), tc.ws, all, tc.seen.UpToDate)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ntoPublish(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReportWithoutSecret ensures that the status has what was applied, even if the Secret cannot be read.
func TestReportWithoutSecret(t *testing.T) {
	t.Parallel()

	r := newAttempt(t, with(connectedTo("ns", "connection")))
	r.kube = unreadableSecrets{r.kube}

	_, err := r.reportApplied(t.Context(), r.ws, schedule.Observation{Exists: true, UpToDate: true, Outputs: map[string]terraform.Output{"o": output("1")}})
	if err == nil || !strings.Contains(err.Error(), "cannot get connection Secret") {
		t.Errorf("want the error of the Secret, got %v", err)
	}

	if _, ok := r.ws.GetObservation().Outputs["o"]; !ok {
		t.Error("want the output in the status")
	}
}

type unreadableSecrets struct{ client.Client }

func (c unreadableSecrets) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if _, ok := o.(*corev1.Secret); ok {
		return kerrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, key.Name, nil)
	}

	return c.Client.Get(ctx, key, o, opts...)
}

func TestSecretReference(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("x", 254)

	cases := map[string]struct {
		reason          string
		namespace, name string
		want            string
	}{
		"Valid":         {reason: "A name may have dots.", namespace: "ns", name: "a.b-c"},
		"Underscore":    {reason: "The message names the field and the value.", namespace: "ns", name: "My_Secret", want: `cannot use spec.writeConnectionSecretToRef.name "My_Secret": the name of a Secret has at most 253 lowercase letters`},
		"Slash":         {reason: "A slash would be another path in the API.", namespace: "ns", name: "a/b", want: `cannot use spec.writeConnectionSecretToRef.name "a/b"`},
		"Long":          {reason: "The message is bounded.", namespace: "ns", name: long, want: `cannot use spec.writeConnectionSecretToRef.name "` + long[:100] + `":`},
		"Namespace":     {reason: "A namespace has no dots.", namespace: "a.b", name: "a", want: `cannot use spec.writeConnectionSecretToRef.namespace "a.b": the name of a namespace has at most 63 lowercase letters`},
		"LongNamespace": {reason: "It is shorter than other names.", namespace: long[:64], name: "a", want: `cannot use spec.writeConnectionSecretToRef.namespace "`},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := checkSecretReference(with(connectedTo(tc.namespace, tc.name)))
			if (err == nil) != (tc.want == "") || err != nil && !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("\n%s\ncheckSecretReference(...): want %q, got %v", tc.reason, tc.want, err)
			}
		})
	}

	if err := checkSecretReference(with()); err != nil {
		t.Errorf("want no error without a reference, got %v", err)
	}
}

// TestSecretSize publishes with the applicator of the managed reconciler.
func TestSecretSize(t *testing.T) {
	t.Parallel()

	const limit = corev1.MaxSecretSize

	cases := map[string]struct {
		reason string
		// there is the data of the Secret before the write. It is nil if the Secret does not exist.
		there, data map[string][]byte
		immutable   bool
		want        []string
		// published are the keys that the last write had.
		published []string
		err       string
	}{
		"New": {
			reason: "A Secret may have all that the API server accepts.",
			data:   map[string][]byte{"a": make([]byte, limit)},
			want:   []string{"create"},
		},
		"TooLarge": {
			reason: "The error names the keys that are too large.",
			data:   map[string][]byte{"a": make([]byte, limit), "b": make([]byte, 10)},
			err:    `cannot create object: the outputs have 1.0 MiB, a Secret can hold 1.0 MiB: "a" (1.0 MiB), "b" (10 bytes); make them smaller, or remove spec.writeConnectionSecretToRef`,
		},
		"Refused": {
			reason:    "The other outputs are published. The error says which are not, and why.",
			data:      map[string][]byte{"good": []byte("g"), "straße": []byte("s"), "large": []byte("l"), strings.Repeat("x", 254): []byte("x")},
			want:      []string{"create"},
			published: []string{"good", "large"},
			err:       `cannot create object: a Secret cannot have keys with the names of these outputs: "straße", "` + strings.Repeat("x", 100) + `"; rename them (at most 253 of the letters a to z and A to Z, digits, "-", "_" and "."), or remove spec.writeConnectionSecretToRef`,
		},
		"RefusedLater": {
			reason:    "So are they in a Secret that exists. Its other keys are removed.",
			there:     map[string][]byte{"good": []byte("old"), "vanished": []byte("v")},
			data:      map[string][]byte{"good": []byte("g"), "vanished": nil, "straße": []byte("s")},
			want:      []string{"patch"},
			published: []string{"good", "vanished"},
			err:       `cannot patch object: a Secret cannot have keys with the names of these outputs: "straße"; rename them (at most 253 of the letters a to z and A to Z, digits, "-", "_" and "."), or remove spec.writeConnectionSecretToRef`,
		},
		"RefusedAndLarge": {
			reason: "A Secret that would be too large does not change, whatever else is wrong.",
			there:  map[string][]byte{"a": []byte("1")},
			data:   map[string][]byte{"a": make([]byte, 2*limit), "straße": []byte("s")},
			err:    `cannot patch object: the outputs have 2.0 MiB, a Secret can hold 1.0 MiB: "a" (2.0 MiB); make them smaller, or remove spec.writeConnectionSecretToRef`,
		},
		"Immutable": {
			reason:    "The remedy is not that of the API server.",
			there:     map[string][]byte{"a": []byte("1")},
			data:      map[string][]byte{"a": []byte("2")},
			immutable: true,
			err:       "cannot patch object: the connection Secret is immutable: delete it, so that the provider makes another one, or remove spec.writeConnectionSecretToRef",
		},
		"Changed": {
			reason: "Replaced and removed values do not count.",
			there:  map[string][]byte{"a": make([]byte, limit/2), "b": make([]byte, limit/2)},
			data:   map[string][]byte{"a": nil, "b": make([]byte, limit)},
			want:   []string{"patch"},
		},
		"Larger": {
			reason: "A Secret that would become too large does not change.",
			there:  map[string][]byte{"a": []byte("1")},
			data:   map[string][]byte{"a": make([]byte, 2*limit)},
			err:    `cannot patch object: the outputs have 2.0 MiB, a Secret can hold 1.0 MiB: "a" (2.0 MiB); make them smaller, or remove spec.writeConnectionSecretToRef`,
		},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			kube := &secretStub{data: tc.there, immutable: tc.immutable}
			said := ""

			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "outputs"}, Data: tc.data}
			if err := resource.NewAPIPatchingApplicator(managedClient{Client: kube}).Apply(t.Context(), s); err != nil {
				said = err.Error()
			}

			if diff := cmp.Diff(tc.err, said); diff != "" {
				t.Errorf("\n%s\nApply(...): -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.want, kube.writes); diff != "" {
				t.Errorf("\n%s\nwrites: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.published, kube.published); tc.published != nil && diff != "" {
				t.Errorf("\n%s\nkeys: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A secretStub is an API server with one Secret, or none without data. It records writes:
// the fake client takes 20 seconds for a Secret of this size.
type secretStub struct {
	client.Client

	data      map[string][]byte
	immutable bool

	writes, published []string
}

func (s *secretStub) publish(write string, secret *corev1.Secret) {
	s.writes = append(s.writes, write)
	s.published = slices.Sorted(maps.Keys(secret.Data))
}

func (s *secretStub) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	secret, ok := o.(*corev1.Secret)
	if !ok || s.data == nil {
		return kerrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
	}

	secret.Data, secret.Immutable = s.data, &s.immutable

	return nil
}

func (s *secretStub) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	if secret, ok := o.(*corev1.Secret); ok {
		s.publish("create", secret)
	}

	return nil
}

func (s *secretStub) Patch(_ context.Context, o client.Object, p client.Patch, _ ...client.PatchOption) error {
	patch, err := p.Data(o)
	if err != nil {
		return err
	}

	secret := &corev1.Secret{}
	err = json.Unmarshal(patch, secret)
	s.publish("patch", secret)

	return err
}
