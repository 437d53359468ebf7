// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// selects says whether the supplied selector selects a pod with these labels. An empty
// selector would select all pods of the namespace.
func selects(t *testing.T, selector *metav1.LabelSelector, podLabels map[string]string) bool {
	t.Helper()

	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatalf("bad selector: %v", err)
	}

	return !s.Empty() && s.Matches(labels.Set(podLabels))
}

// selectors returns the selectors of the installation that have to select the pods of all its
// workloads.
func selectors(t *testing.T, i installation) map[string]*metav1.LabelSelector {
	t.Helper()

	all := map[string]*metav1.LabelSelector{}

	for _, b := range each[policyv1.PodDisruptionBudget](t, i, "PodDisruptionBudget") {
		all["PodDisruptionBudget "+b.GetName()] = b.Spec.Selector
	}

	for _, p := range each[networkingv1.NetworkPolicy](t, i, "NetworkPolicy") {
		all["NetworkPolicy "+p.GetName()] = &p.Spec.PodSelector
	}

	for _, s := range each[corev1.Service](t, i, "Service") {
		all["Service "+s.GetName()] = &metav1.LabelSelector{MatchLabels: s.Spec.Selector}
	}

	for _, w := range workloads(t, i) {
		for _, c := range w.template.Spec.TopologySpreadConstraints {
			all["the constraint of "+w.name+" on "+c.TopologyKey] = c.LabelSelector
		}
	}

	return all
}

// openPorts returns the names of the ports that the NetworkPolicies of the installation open.
func openPorts(t *testing.T, i installation) []string {
	t.Helper()

	var ports []string

	for _, p := range each[networkingv1.NetworkPolicy](t, i, "NetworkPolicy") {
		for _, rule := range p.Spec.Ingress {
			for _, port := range rule.Ports {
				ports = append(ports, port.Port.String())
			}
		}
	}

	return ports
}
