// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os/exec"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// required returns the Debian packages of the programs that a node runs, and those of the image build.
func required() []struct{ program, pkg string } {
	return []struct{ program, pkg string }{
		{"runc", "runc"},
		{"nft", "nftables"},
		{"ip", "iproute2"},
		{"mount", "mount"},
		{"dpkg-deb", "dpkg"},
		{"apt-get", "apt"},
	}
}

// checkMachine chooses what runs pods, and returns an error if this machine lacks a program for that.
func (o *options) checkMachine(out io.Writer) error {
	if err := o.chooseLevel(out); err != nil || o.level != levelNode {
		return err
	}

	return checkPrograms()
}

// checkPrograms returns an error that says how to install what is missing for a node.
func checkPrograms() error {
	var programs, packages []string

	for _, r := range required() {
		if _, err := exec.LookPath(r.program); err != nil {
			programs, packages = append(programs, r.program), append(packages, r.pkg)
		}
	}

	if len(programs) == 0 {
		return nil
	}

	return errors.Errorf("%s missing: apt-get install --no-install-recommends %s", strings.Join(programs, ", "), strings.Join(packages, " "))
}
