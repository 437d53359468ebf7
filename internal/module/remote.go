// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package module

import (
	commonv1beta1 "github.com/crossplane-contrib/provider-terraform/apis/common/v1beta1"
	"github.com/crossplane-contrib/provider-terraform/internal/module/fetch"
)

// remote returns the source behind an address.
func remote(address string) source {
	return source{
		address: address,
		key:     newKey(commonv1beta1.ModuleSourceRemote, address),
		request: fetch.Request{Address: address},
	}
}
