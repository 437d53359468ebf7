// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import "errors"

// IsStateTooLarge reports whether err is the refusal of a backend to store a state of this size.
func IsStateTooLarge(err error) bool {
	return saidOfState(err,
		"Request entity too large", "Request Entity Too Large", // An API server; a proxy in front of one.
		"Too long: may not be more than", "Too long: must have at most", // The validation of a Secret.
		"request is too large", "trying to send message larger than max", // etcd, and its client in the API server.
		"EntityTooLarge", "PayloadTooLarge", "RequestBodyTooLarge", // s3, gcs, azurerm.
		"HTTP error: 413", "Request body too large", // http, consul.
	)
}

// LacksNamespace reports whether a backend of type kubernetes can make nothing in its namespace, which is
// being deleted or does not exist.
func LacksNamespace(err error) bool {
	return saidOfState(err, "because it is being terminated") || saidOfState(err, `namespaces "`) && saidOfState(err, `" not found`)
}

// LacksState reports whether there is no state, and LacksNamespace(err). A command that does not lock the
// state is refused only then: it would make one. Init makes the state of DefaultWorkspace.
func LacksState(err error) bool {
	return !isOf(err, opInit) && LacksNamespace(err)
}

// IsStateRefused reports whether a backend has refused to store a state, and would refuse it again: it is too
// large, or the credentials lack a right, for example. Outages, conflicts and rate limits pass.
func IsStateRefused(err error) bool {
	return IsStateTooLarge(err) || LacksNamespace(err) ||
		saidOfState(err, "is forbidden:", "HTTP error: 401", "HTTP error: 403", "AccessDenied", "ExpiredToken", "StatusCode: 403",
			// A read and a lock of the backend http say so, where a write has the status.
			"HTTP remote state endpoint requires auth", "HTTP remote state endpoint invalid auth")
}

// LacksRight reports whether a backend of type kubernetes lacks a right in the namespace of its states.
func LacksRight(err error) bool { return saidOfState(err, "is forbidden: User ") }

// saidOfState reports whether a run has failed with one of the texts, and not because of an object of the
// module.
func saidOfState(err error, texts ...string) bool {
	if e, ok := errors.AsType[*Error](err); ok && len(e.Diagnostics) == 0 {
		return wrote(err, texts...)
	}

	return anyError(err, func(d Diagnostic) bool { return d.rank() == rankNothing && d.says(texts...) })
}
