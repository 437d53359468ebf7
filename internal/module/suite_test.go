// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch/child"
	"github.com/crossplane-contrib/provider-terraform/internal/terraform"
	"github.com/crossplane-contrib/provider-terraform/internal/workdir"
)

// Variables that make the test binary a process that only fetches one module.
const (
	parentAddress = "MODULE_TEST_ADDRESS"
	parentRoot    = "MODULE_TEST_ROOT"
)

func TestMain(m *testing.M) {
	ctx := context.Background()
	if handled, code := child.Main(ctx, os.Args, os.Stdin, os.Stdout); handled {
		syscall.Exit(code) // os.Exit would wait a second for data races.
	}

	if address := os.Getenv(parentAddress); address != "" {
		fmt.Println(fetchAlone(ctx, address, os.Getenv(parentRoot)))
		syscall.Exit(1)
	}

	code := m.Run()

	if err := flux.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "cannot stop control plane:", err)

		code = 1
	}

	os.Exit(code)
}

func fetchAlone(ctx context.Context, address, path string) error {
	root, err := workdir.Open(path, time.Hour)
	if err != nil {
		return err
	}

	dir, err := root.Dir(testUID)
	if err != nil {
		return err
	}

	r := Request{Dir: dir, CLI: &terraform.CLI{}, Env: os.Environ()}
	r.Parameters.Source = commonv1beta1.ModuleSourceRemote
	r.Parameters.Module = address
	_, err = NewFetcher(nil, Options{Program: os.Args[0]}).Ensure(ctx, r)

	return err
}
