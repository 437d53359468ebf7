// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"regexp"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// environment returns the variables of a container. Values that are paths are those that path returns.
func environment(p *corev1.Pod, c corev1.Container, path func(string) string) ([]string, error) {
	env := make([]string, 0, len(c.Env))

	for _, e := range c.Env {
		value := e.Value

		if from := e.ValueFrom; from != nil {
			var err error

			switch {
			case from.FieldRef != nil:
				value, err = field(p, from.FieldRef.FieldPath)
			case from.ResourceFieldRef != nil:
				value, err = limit(c, from.ResourceFieldRef.Resource)
			default:
				err = errors.New("neither a field nor a resource")
			}

			if err != nil {
				return nil, errors.Wrapf(err, "cannot set %s", e.Name)
			}
		}

		env = append(env, e.Name+"="+path(value))
	}

	return env, nil
}

// field returns the value of a field of the pod.
func field(p *corev1.Pod, path string) (string, error) {
	if label := regexp.MustCompile(`^metadata\.labels\['(.+)'\]$`).FindStringSubmatch(path); label != nil {
		return p.GetLabels()[label[1]], nil
	}

	switch path {
	case "metadata.name":
		return p.GetName(), nil
	case "metadata.namespace":
		return p.GetNamespace(), nil
	case "metadata.uid":
		return string(p.GetUID()), nil
	case "spec.serviceAccountName":
		return p.Spec.ServiceAccountName, nil
	default:
		return "", errors.Errorf("field %s is not known here", path)
	}
}

// limit returns a limit of the container, as a whole number.
func limit(c corev1.Container, name string) (string, error) {
	switch name {
	case "limits.cpu":
		return strconv.FormatInt(c.Resources.Limits.Cpu().Value(), 10), nil
	case "limits.memory":
		return strconv.FormatInt(c.Resources.Limits.Memory().Value(), 10), nil
	default:
		return "", errors.Errorf("resource %s is not known here", name)
	}
}
