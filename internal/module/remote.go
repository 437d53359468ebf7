// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	"context"

	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
)

// remote returns the source behind an address.
func (*Fetcher) remote(_ context.Context, address, _ string) (source, error) {
	return source{
		address: address,
		key:     newKey(commonv1beta1.ModuleSourceRemote, address),
		request: fetch.Request{Address: address},
	}, nil
}
