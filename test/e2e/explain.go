// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-terraform/test/e2e/crossplane"
)

// nameOf returns the kind and the name of an object for people.
func nameOf(o client.Object) string {
	kind := o.GetObjectKind().GroupVersionKind().Kind
	if kind == "" {
		kind = strings.TrimPrefix(fmt.Sprintf("%T", o), "*")
	}

	if o.GetNamespace() == "" {
		return kind + " " + o.GetName()
	}

	return kind + " " + o.GetNamespace() + "/" + o.GetName()
}

// conditions returns those in the status of any object.
func conditions(o client.Object) ([]metav1.Condition, error) {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}

	var with struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}

	err = runtime.DefaultUnstructuredConverter.FromUnstructured(m, &with)

	return with.Status.Conditions, err
}

// explained adds the conditions and the Events of an object to an error about it.
func (e *env) explained(ctx context.Context, o client.Object, err error) error {
	if err == nil {
		return nil
	}

	var text strings.Builder

	if all, err := conditions(o); err == nil {
		for _, c := range all {
			fmt.Fprintf(&text, "\n  condition %s is %s: %s %s", c.Type, c.Status, c.Reason, c.Message)
		}
	}

	for _, ev := range e.events(context.WithoutCancel(ctx), o.GetNamespace()) {
		if ev.InvolvedObject.Name == o.GetName() {
			fmt.Fprintf(&text, "\n  %s", eventText(ev))
		}
	}

	return errors.Errorf("%w%s", err, text.String())
}

// events returns the Events of a namespace, or of all, in the order of their times.
func (e *env) events(ctx context.Context, namespace string) []corev1.Event {
	list := &corev1.EventList{}

	// They only explain another error.
	_ = e.Client.List(ctx, list, client.InNamespace(namespace))

	slices.SortStableFunc(list.Items, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })

	return list.Items
}

func eventText(ev corev1.Event) string {
	return fmt.Sprintf("event %s of %s %s, %d times: %s", ev.Reason, ev.InvolvedObject.Kind, ev.InvolvedObject.Name, max(ev.Count, 1), ev.Message)
}

// explain prints what may explain a failure: pods that are not ready, warnings, and the ends of logs.
func (e *env) explain(ctx context.Context, out io.Writer) {
	if e.Node == nil {
		return
	}

	if err := e.Running(); err != nil {
		fmt.Fprintln(out, err)
	}

	pods, _ := e.pods(ctx, "", nil)
	for _, p := range pods {
		for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
			if !s.Ready {
				fmt.Fprintf(out, "pod %s: container %s is not ready: %s\n", p.GetName(), s.Name, stateText(s))
			}
		}
	}

	for _, ev := range last(e.events(ctx, ""), 30) {
		if ev.Type == corev1.EventTypeWarning {
			fmt.Fprintln(out, eventText(ev))
		}
	}

	logs, _ := e.Logs()
	for _, l := range logs {
		if l.Namespace == crossplane.Namespace {
			fmt.Fprintf(out, "\nthe last lines of %s:\n%s\n", l.Path, tail(l.Path, 10))
		}
	}
}

// stateText describes the state of a container.
func stateText(s corev1.ContainerStatus) string {
	switch {
	case s.State.Waiting != nil:
		return s.State.Waiting.Reason + " " + s.State.Waiting.Message
	case s.State.Terminated != nil:
		return fmt.Sprintf("%s, exit code %d", s.State.Terminated.Reason, s.State.Terminated.ExitCode)
	default:
		return "running"
	}
}

// tail returns the last lines of a file.
func tail(path string, n int) string {
	data, err := os.ReadFile(path) //nolint:gosec // A log of this run.
	if err != nil {
		return err.Error()
	}

	return strings.Join(last(strings.Split(strings.TrimSpace(string(data)), "\n"), n), "\n")
}

// last returns the last n items.
func last[T any](all []T, n int) []T { return all[max(0, len(all)-n):] }
