// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"cmp"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
)

// NeedsInit reports whether err is the refusal to use a directory that was not initialized for its
// configuration. The remedy is Init, with the option State if NeedsStateInit.
func NeedsInit(err error) bool {
	return NeedsStateInit(err) || !isOf(err, opInit) && says(err,
		"nitialization required", // "Backend initialization required", or "Initialization required".
		"Module not installed",
		"Module source has changed",
		"Module version requirements have changed",
		"Inconsistent dependency lock file",
		"Required plugins are not installed",
		"does not match any of the checksums recorded in the dependency lock file",
	)
}

// NeedsStateInit reports whether a provider is missing that only the state needs, for resources that are
// no longer in the configuration.
func NeedsStateInit(err error) bool {
	return !isOf(err, opInit) && says(err, "This state requires provider", "unavailable provider")
}

// HasBrokenProvider reports whether the program of an installed provider is none for this machine, or not executable: its source may have sent a
// web page, for example. The checksums of the package are right, so that another Init alone changes nothing.
func HasBrokenProvider(err error) bool {
	return !isOf(err, opInit) && anyError(err, func(d Diagnostic) bool {
		return d.says("failed to instantiate provider") && d.says("fork/exec") && d.says("exec format error", "permission denied")
	})
}

// HasOtherChecksums reports whether an init has found another package of a provider than the dependency lock file has checksums of.
func HasOtherChecksums(err error) bool {
	return isOf(err, opInit) && says(err, "checksums previously recorded in the dependency lock file")
}

// MayNeedVariables reports whether a run of OpenTofu that evaluates only a part of the module may have failed because
// variables had no values or their defaults: in the sources of modules and for_each of providers, for example. All such
// errors have a place in the module.
func MayNeedVariables(err error) bool {
	return anyError(err, func(d Diagnostic) bool {
		return d.File != "" || d.says("Unable to compute static value", "Failed to request input from user for variable")
	})
}

// LacksBackendFields reports whether err is that of an init whose only backend has no value for a field.
func LacksBackendFields(err error) bool {
	return isOf(err, opInit) && says(err, ": required field is not set") && !says(err, "Duplicate backend configuration")
}

// IsBackendChange reports whether err is the refusal to initialize a directory that has another backend, or none
// yet, because the state there would be left behind.
func IsBackendChange(err error) bool {
	return IsNewBackend(err) || isOf(err, opInit) && says(err, "Backend configuration changed")
}

// IsNewBackend reports whether err is the refusal to initialize a directory that has no backend yet, but a state.
// Init would ask whether to copy the state to the backend.
func IsNewBackend(err error) bool {
	return isOf(err, opInit) && says(err, "Can't ask approval for state migration", "Error asking for state migration action")
}

// IsStalePlan reports whether err is the refusal to apply a plan because the state has changed since.
func IsStalePlan(err error) bool {
	return anyError(err, func(d Diagnostic) bool {
		return d.rank() == rankNothing && d.says("Saved plan is stale", "Saved plan does not match the given state")
	})
}

// Began reports whether err is that of a run with JSON output that had started to process resources. So the
// configuration and the inputs were valid.
func Began(err error) bool {
	e, ok := errors.AsType[*Error](err)

	return ok && e.began
}

// LacksWorkspaces reports whether err says that the backend has only DefaultWorkspace.
func LacksWorkspaces(err error) bool { return says(err, "workspaces not supported") }

// CannotLoadState reports whether the state could not be loaded. The credentials may be wrong, for example.
func CannotLoadState(err error) bool {
	return saidOfState(err, "error loading state: ", "Error loading the state", "Failed to refresh state")
}

// CannotReadStateInInit reports whether err is that of an Init that could not read a state: without
// InitOptions.State, that of DefaultWorkspace.
func CannotReadStateInInit(err error) bool {
	return isOf(err, opInit) && wrote(err, "Error loading state", "Error refreshing state")
}

// HasInvalidHeader reports whether a value of the configuration cannot be part of a request: it has a line break, for example.
func HasInvalidHeader(err error) bool {
	e, ok := errors.AsType[*Error](err)

	return ok && strings.Contains(e.Error(), "invalid header field value")
}

// IsRefused reports whether a server has refused credentials.
func IsRefused(err error) bool {
	return says(err, "requires auth", "401", "Unauthorized", "unauthorized", "uthentication failed")
}

// missesParent matches the texts of the CLIs about a missing directory or file in the parent directory.
var missesParent = regexp.MustCompile(`(?:lstat|open) \.\./[^:]*: no such file or directory|no file exists at "?(?:\./)?\.\./`)

// MissesParent reports whether err says that a module or a file in the parent directory of the module is missing. In a module that was
// downloaded, such a path leads elsewhere: see MissesPathModule.
func MissesParent(err error) bool {
	return anyError(err, func(d Diagnostic) bool {
		return missesParent.MatchString(oneLine(d.Detail)) && !strings.Contains(d.File, DataDir+"/modules/")
	})
}

// MissesModule reports whether a directory that the module calls, and not one that it has downloaded, is missing.
func MissesModule(err error) bool {
	return anyError(err, func(d Diagnostic) bool {
		return d.says("Unreadable module directory") && !strings.Contains(oneLine(d.Detail), DataDir+"/modules/")
	})
}

// missesFile matches the texts of the CLIs about a missing file whose name is relative.
var missesFile = regexp.MustCompile(`no file exists at "?[^"/~]|Call to function "\w+" failed: open [^/][^:]*: no such file or directory`)

// MissesFile reports whether a file beside the root module, which reads it, is missing.
func MissesFile(err error) bool {
	return anyError(err, func(d Diagnostic) bool {
		return missesFile.MatchString(oneLine(d.Detail)) && !d.ofCalled() && !strings.Contains(oneLine(d.Detail), DataDir+"/modules/")
	})
}

// MissesPathModule reports whether a module that another one calls reads a missing file by a path that does not begin with its own
// directory.
func MissesPathModule(err error) bool {
	return anyError(err, func(d Diagnostic) bool {
		return missesFile.MatchString(oneLine(d.Detail)) && d.ofCalled() && !strings.Contains(oneLine(d.Detail), path.Dir(d.File)+"/")
	})
}

// testFile matches the name of a file with tests. Those of the root module and its directory "tests" are read by init.
var testFile = regexp.MustCompile(`[^\s"]+\.(?:tftest|tofutest)\.(?:hcl|json)`)

// TestFile returns the file with tests that is wrong or calls a module that is missing, or "".
func TestFile(err error) string {
	name := ""

	anyError(err, func(d Diagnostic) bool {
		name = testFile.FindString(cmp.Or(d.File, oneLine(d.Detail)))

		return name != ""
	})

	return name
}

// MissesLineBreak reports whether the file has two things on a line that have to be on two.
func MissesLineBreak(err error, file string) bool {
	return anyError(err, func(d Diagnostic) bool {
		return d.File == file && d.says("Invalid single-argument block definition", "Missing newline after argument", "Missing newline after block definition", "Argument definition required")
	})
}

// CannotRefresh reports whether a destroy failed before it changed anything, because something that is in the state or
// that the module reads could not be read, or the module could not be evaluated with it. Terraform validates values also without
// a refresh, and needs a Terraform provider that can read the state. What reads the state of another module has no place.
func CannotRefresh(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Op != opDestroy || e.interrupted != nil || !e.began || e.applies || IsPrevented(err) {
		return false
	}

	return anyError(err, func(d Diagnostic) bool {
		placed := d.rank() != rankNothing || !d.says("state lock") && !IsStateUnsaved(err)

		return placed && !d.says(invalidValue, "no schema available for", "created by a newer provider version")
	})
}

// HasOtherEncryption reports whether a state could not be read because it is encrypted in another way, or
// because only one of the state and the configuration has an encryption.
func HasOtherEncryption(err error) bool {
	return says(err, "is encrypted and can not be read", "encountered unencrypted payload", "decryption failed for all provided methods")
}

// protected is in the refusals of both CLIs to destroy a resource with lifecycle.prevent_destroy.
const protected = "prevent_destroy set, but the plan calls for"

// IsProtected reports whether a plan, and no deletion, would destroy a resource with lifecycle.prevent_destroy.
func IsProtected(err error) bool { return !isOf(err, opDestroy) && says(err, protected) }

// IsPrevented reports whether the module does not let a resource be destroyed: it has lifecycle.prevent_destroy, or
// the configuration of its provider was removed, for example with the module that it was in.
func IsPrevented(err error) bool {
	return says(err, protected, "Provider configuration not present", "Provider instance not present")
}

// MissesValue reports whether a destroy failed because the module refers to a value that is gone, such as an
// output in the state of another module. A destroy evaluates the module only to refresh the state, but for provisioners, when it has begun.
func MissesValue(err error) bool {
	e, ok := errors.AsType[*Error](err)

	return ok && e.Op == opDestroy && !e.applies && says(err, "Unsupported attribute", "Invalid index", "Unable to find remote state", "Attempt to get attribute from null value")
}

// LacksVariable reports whether a destroy has no value for a variable of the module.
func LacksVariable(err error) bool { return isOf(err, opDestroy) && says(err, noValue) }

// IsOfDeletion reports whether err is that of an init or a destroy.
func IsOfDeletion(err error) bool { return isOf(err, opInit, opDestroy) }

// keptByState matches the names of arguments that keep a resource, or what is in it, and that a provider reads from the state when it destroys
// the resource, as those for AWS, Azure and Google Cloud do.
var keptByState = regexp.MustCompile(`(?i)(?:deletion|delete|termination)[_ ]?protection|force_(?:destroy|delete)|skip_final_snapshot|final_snapshot_identifier`)

// IsKeptByState reports whether a destroy failed because of such an argument. Only an apply changes it.
func IsKeptByState(err error) bool {
	return isOf(err, opDestroy) && anyError(err, func(d Diagnostic) bool { return keptByState.MatchString(d.text()) })
}

// IsStateUnsaved reports whether an apply or destroy could not save the state.
func IsStateUnsaved(err error) bool {
	e, ok := errors.AsType[*Error](err)

	return ok && e.State != nil || says(err, "Failed to save state")
}

// isOf reports whether err is that of a run of one of the subcommands.
func isOf(err error, ops ...string) bool {
	e, ok := errors.AsType[*Error](err)

	return ok && slices.Contains(ops, e.Op)
}

// wrote reports whether err is that of a run that has written one of the texts to stderr. Commands about states and workspaces, and the
// init of Terraform 1.5, print no diagnostics.
func wrote(err error, texts ...string) bool {
	e, ok := errors.AsType[*Error](err)

	return ok && (Diagnostic{Detail: e.Stderr}).says(texts...)
}

// says reports whether err is an *Error with a diagnostic that has one of the texts.
func says(err error, texts ...string) bool {
	return anyError(err, func(d Diagnostic) bool { return d.says(texts...) })
}

// anyError reports whether err is an *Error with a diagnostic that match accepts.
func anyError(err error, match func(Diagnostic) bool) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}

	for _, d := range errorsOf(e.Diagnostics) {
		// A provisioner may run one of the CLIs, whose texts are not about this run.
		if !ofProvisioner(d.Detail) && match(d) {
			return true
		}
	}

	return false
}
