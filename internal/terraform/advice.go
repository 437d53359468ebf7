// SPDX-FileCopyrightText: The provider-terraform Authors
//
// SPDX-License-Identifier: Apache-2.0

package terraform

import (
	"regexp"
	"strings"

	"github.com/crossplane-contrib/provider-terraform/internal/remedy"
)

// lookForIt is what a person can do about an object that may exist without being in the state.
const lookForIt = "pause the Workspace, look for it, and import or remove it"

// advice has what the CLIs, and git, tell people at a command line, and what does the same here. The texts
// are those of Terraform 1.5 to 1.11 and of OpenTofu 1.12, as one line.
var advice = []struct { //nolint:gochecknoglobals // It is a constant.
	cli  *regexp.Regexp
	here string
}{
	{
		regexp.MustCompile(`variable "([^"]+)" is not set, and has no default value\. Use a -var or -var-file command line argument to provide a value for this variable`),
		`variable "$1" is not set, and has no default value: set $1 in spec.forProvider.vars, varmap or varFiles, or env TF_VAR_$1`,
	},
	{
		// A value of the environment has a text of its own. The columns of a sensitive one would tell its length.
		regexp.MustCompile(`The given value is not suitable for var\.([^\s,]+)(?: declared at \S+|, which is sensitive): (.*?[^.])\.?(?: Invalid value defined at \S+)?$`),
		"The value of $1 is not suitable: $2. Correct $1 in spec.forProvider.vars, varmap or varFiles, or in a file .tfvars of the module or in spec.credentials of the ProviderConfig",
	},
	{ // OpenTofu, for a variable in the source of a module, for example.
		regexp.MustCompile(`^Failed to request input from user for variable var\.(\S+)$`),
		"$0: init needs a value, too: set $1 in spec.forProvider.vars, varmap or varFiles, or env TF_VAR_$1, not in planArgs",
	},
	{regexp.MustCompile(`Unsuitable value for var\.(\S+) set using -var="[^"]*": `), "The value of $1 in an option -var, in spec.forProvider.planArgs, applyArgs or destroyArgs, or in env TF_CLI_ARGS_..., is not suitable: "},
	{regexp.MustCompile(`Unsuitable value for var\.\S+ set using the (TF_VAR_\S+) environment variable: `), "The value of $1, in spec.forProvider.env or the environment of the provider, is not suitable, or ends with a line break: "},
	{regexp.MustCompile(`but has an invalid error message as described in the other accompanying messages`), "and its error_message cannot be shown, for example because it refers to a sensitive value"},
	{regexp.MustCompile(`To proceed, either choose another supported \S+ version or update this version constraint\. Version constraints are normally set .*$`), "Update this version constraint, or choose another version in spec.forProvider.cli"},
	{regexp.MustCompile(`(There is no function named "[^":]*")(?:\.|\. Did you mean "(?:urlencode|base64gzip|sensitive)"\?)$`), "$1: other versions or products may have it, and spec.forProvider.cli chooses one."},
	{regexp.MustCompile(`(can only refer to the variable itself, using var\.[\w-]+)\.`), "$1: newer versions take others, too, and spec.forProvider.cli chooses one."},
	{regexp.MustCompile(`is reserved for use by Terraform in a future version\.`), "is reserved: newer versions or OpenTofu may have it, and spec.forProvider.cli chooses one."},
	{regexp.MustCompile(`malformed GOMEMLIMIT; see .*$`), "malformed GOMEMLIMIT: write it in spec.forProvider.env with a unit such as GiB"},
	{regexp.MustCompile(` To silence these warnings, use TF_VAR_\.\.\. environment variables .*$`), ""},
	{regexp.MustCompile(`, run "` + eitherCLI + ` init" without the ("-lockfile=readonly") flag`), `, remove $1 from spec.forProvider.initArgs or env TF_CLI_ARGS_init`},
	{regexp.MustCompile(`(?:[Rr]un:?|use) "?` + eitherCLI + ` init -upgrade"?`), `add "-upgrade" to spec.forProvider.initArgs`},
	{regexp.MustCompile(`the previously-selected version (\S+) is no longer available`), `version $1, which .terraform.lock.hcl selects, is not available: correct that file of the module, or add "-upgrade" to spec.forProvider.initArgs`},
	{regexp.MustCompile(`(?:Run "|You may be able to install it automatically by running: )` + eitherCLI + ` init"?( to)?`), "The provider runs init with spec.forProvider.initArgs$1"},
	{regexp.MustCompile(`(?:[,:;] (?:please )?run| To make the initial dependency selections that will initialize the dependency lock file, run:) "?` + eitherCLI + ` init(?: to ensure all providers are correctly installed|")?`), ""},
	{
		regexp.MustCompile(`If you wish to attempt automatic migration of the state, use "` + eitherCLI + ` init -migrate-state"\. If you wish to store the current configuration with no changes to the state, use "` + eitherCLI + ` init -reconfigure"`),
		`Restore the old backend, in the ProviderConfig, the module or spec.forProvider.initArgs. Or copy the state to the new one (if only credentials, or the CLI or its version, have changed, there is nothing to copy), and add "-reconfigure" to spec.forProvider.initArgs until the Workspace is Synced`,
	},
	{
		regexp.MustCompile(`You must complete the (?:Terraform|OpenTofu) 0\.13 upgrade process before upgrading to later versions|The legacy provider namespace "-" can be used only with hostname [\w.-]+\w`),
		`The state has an address of Terraform 0.12. Where the module and this backend are, run an init of Terraform, although it fails, and then "terraform state replace-provider -- -/NAME NAMESPACE/NAME"`,
	},
	{ // Init has run before, so that init itself is not the remedy.
		regexp.MustCompile(`(Reason: .*?) The "backend" is the interface that \S+ uses to store state,.*$`),
		"$1: init has used another one. Remove -backend=false from spec.forProvider.initArgs, and set variables in the backend block in spec.forProvider.vars, varmap, varFiles or env TF_VAR_..., not in planArgs",
	},
	{regexp.MustCompile(`Can't ask approval for state migration when interactive input is disabled\.|Error asking for state migration action: input is disabled`), "init does not copy the state to the new backend"},
	{regexp.MustCompile(`^(?:If non-interactive operation is desired, consider adding the "-force-copy" option\. Otherwise, p|P)lease remove the "-input=false" option and try again\.$`), ""},
	{regexp.MustCompile(`Run the following command to generate a token for (\S+): ` + eitherCLI + ` login\S*(?: \S+)?`), "Set a token for $1 in a file .terraformrc in spec.credentials of the ProviderConfig"},
	{regexp.MustCompile(`either (disable (?:lifecycle\.)?prevent_destroy(?: for this resource)?) or (?:reduce the scope of the plan using the -target (?:flag|option)|exclude instances of this resource from this round using: -exclude=.*$)`), "$1"},
	{regexp.MustCompile(`you can add the CLI flag ("-suppress-forget-errors")`), "add $1 to spec.forProvider.destroyArgs"},
	{regexp.MustCompile(` ?Please ensure that your \S+ state exists and that you've configured it properly\. You can use the "-state" flag to point \S+ at another state file\.(?: (Cause:))?`), "$1"},
	{regexp.MustCompile(`use the -target (?:planning )?(?:option|argument)`), "use the option -target in spec.forProvider.planArgs and applyArgs"},
	{
		regexp.MustCompile(`either remove your (-\w+)=\.\.\. options altogether or add the following additional (?:target|exclude) options: (.*?) Note that`),
		"either remove $1 from spec.forProvider.planArgs and applyArgs, or add to both, without the quotes: $2 Note that",
	},
	{regexp.MustCompile(`use the planning option (-exclude=)`), "use in spec.forProvider.planArgs and applyArgs the option $1"},
	// A warning is short, and its advice comes last.
	{regexp.MustCompile(`so some changes requested in the configuration may have been ignored and the output values may not be fully updated`), "so it may leave out changes"},
	{regexp.MustCompile(`Run the following command to verify that no other changes are pending: ` + eitherCLI + ` plan`), "Remove it from spec.forProvider.planArgs and applyArgs when the changes are made."},
	{
		regexp.MustCompile(`(?:Terraform|OpenTofu) tried to adjust resource instance addresses in the prior state .* already at the intended addresses: - (.*) (?:Terraform|OpenTofu) has planned to destroy these objects\. .*$`),
		"The plan destroys what cannot move, because its new address exists: $1. To keep it, correct the moved block, or the state by hand",
	},
	{
		regexp.MustCompile(`It is recommended for each 'removed' block configured to have also the 'lifecycle' block defined\. By not specifying if the resource should be destroyed or not, could lead to unwanted behavior`),
		"The resource is not destroyed, it only leaves the state. If that is intended, add lifecycle { destroy = false }, otherwise true",
	},
	{regexp.MustCompile(`like -var="key=value"`), "like -var=key=value"},
	{regexp.MustCompile(`was assigned on the command line`), "was assigned by an option -var in spec.forProvider.planArgs, applyArgs or destroyArgs"},
	{regexp.MustCompile(` For most commands, you can disable locking with the "-lock=false" flag, but this is not recommended\.`), ""},
	{regexp.MustCompile(`(?:please call the "force-unlock" command to unlock the state manually(?:\. This is a very dangerous operation .* no one else is holding a lock)?|You may have to force-unlock this state in order to use it again)`), "if nothing holds the lock and the provider does not remove it, remove it where the state is stored"},
	{regexp.MustCompile(`Running "` + eitherCLI + ` apply" again at this point will create a forked state, making it harder to recover\. To retry writing this state, use the following command: ` + eitherCLI + ` state push errored\.tfstate`), "The provider saves this file before the next plan"},
	{
		regexp.MustCompile(`As a fallback, the raw state data is printed above as a JSON object\. To retry writing this state, copy the state data \(from the first \{ to the last \} inclusive\) and save it into a local file called errored\.tfstate, then run the following command: ` + eitherCLI + ` state push errored\.tfstate`),
		"The provider has the state in memory, and saves it as soon as there is room. Do not restart it before",
	},
	{
		regexp.MustCompile(`(provider configuration at module\.\S+ is required), but it has been removed\. This occurs when a provider configuration is removed while objects created by that provider still exist in the state\. Re-add the provider configuration to destroy (.+?), after which you can remove the provider configuration again`),
		"$1: that module is not called any more, or has no such provider block any more. Restore it. If $2 is to be destroyed, then remove the resource there and leave the provider block, and remove the call after that",
	},
	{
		regexp.MustCompile(`(provider configuration at \S+ is required), but it has been removed\. This occurs when a provider configuration is removed while objects created by that provider still exist in the state\. Re-add the provider configuration to destroy (.+?), after which`),
		"$1: add a provider block, with the alias that it names, to the module or to spec.configuration of the ProviderConfig. If $2 is to be destroyed, after that",
	},
	{regexp.MustCompile(`You can create a new workspace with the "workspace new" command`), "Set the annotation crossplane.io/external-name to another name"},
	{
		regexp.MustCompile(`(workspace \S+ not found) (?:For security, |The configured "remote" backend ).*please check the (?:permissions of the provided|rights for the used) token`),
		`$1: set the annotation crossplane.io/external-name to the workspace of the block ("default" for a backend "remote" with name, and without the prefix), or check the rights of the token`,
	},
	{regexp.MustCompile(`The workspace defined using the environment variable "TF_WORKSPACE" is not consistent with the workspace "name" in the configuration\..*$`), "Set the annotation crossplane.io/external-name to the workspace that the block names"},
	{
		regexp.MustCompile(`Use the "` + eitherCLI + ` workspace" command to create and select a new workspace\. If the backend already contains existing workspaces, you may need to update the backend configuration`),
		"Create one there, and set the annotation crossplane.io/external-name to its name, without the prefix of the block. If there are some, correct the block",
	},
	{regexp.MustCompile(`(?:Terraform|OpenTofu) failed to find workspace "[^"]*" (?:in organization|with the tags) .*$`), "$0 Set the annotation crossplane.io/external-name to the workspace that the block selects"},
	{regexp.MustCompile(`The -backend-config=\.\.\. command line option is only for state backends, and is not applicable to .*$`), "spec.backendFile of the ProviderConfig, and -backend-config in spec.forProvider.initArgs, are only for a backend block: remove them"},
	{regexp.MustCompile(` To see which modules are currently depending on \S+?(?: and what versions are specified)?, run the following command: ` + eitherCLI + ` providers`), ""},
	{
		regexp.MustCompile(`no available releases match the given constraints [^,]+,.*$`),
		"$0: if they exclude each other, change required_providers of the module and of the modules that it calls",
	},
	{regexp.MustCompile(`All modules should specify their required_providers so that .*$`), "Correct its source in required_providers of each module that uses it. If none does, the state has it: replace it there by hand"},
	{regexp.MustCompile(`(no schema available )for .+? (while reading state); this is a bug in (?:Terraform|OpenTofu) and should be reported`), "$1$2: " + newerProvider},
	{regexp.MustCompile(`was created by a newer provider version than is currently selected\. Upgrade the \S+ provider to work with this state`), "was created by a newer provider version than is selected: " + newerProvider},
	{
		regexp.MustCompile(`does not have a "version" attribute, which is required to identify the format version`),
		"$0: if OpenTofu has encrypted it, only OpenTofu can read it (spec.forProvider.cli), with that encryption",
	},
	{regexp.MustCompile(`missing "=" after "(?:[^"\\]|\\.)*" in connection info string"?`), "a value in the connection string (conn_str, or env PG_CONN_STR) has a space: put it in single quotes"},
	{
		regexp.MustCompile(`(?:\d errors occurred: \* )?state blob is already locked.*blob metadata "terraformlockid" was empty.*$`),
		"the lease of the blob locks the state, and the backend azurerm does not say who holds it. If nothing holds it any more, break the lease",
	},
	{regexp.MustCompile(`[Rr]oot (?:object|resource) was present, but now absent\.`), "$0 It may exist without being in the state, and each retry would create another one: " + lookForIt + "."},
	{regexp.MustCompile(`may result in duplicate resource errors\.`), "$0 It may exist without being in the state: " + lookForIt + "."}, // The plugin framework, where a create returns nothing.
	{
		regexp.MustCompile(`(?:produced an unexpected new value: \..* own issue tracker|still indicated an unknown value for .* own repository)\.`),
		"$0 If the resource is new, it is tainted, and each retry replaces it: write the value as the provider returns it, or pause the Workspace and untaint it.",
	},
	{
		regexp.MustCompile(`needs to be imported into the State\. Please see the resource documentation for "[^"]*" for more information`),
		"$0: write an import block with this ID into the module, or choose another name",
	},
	{
		regexp.MustCompile(`HTTP remote state already locked, failed to unmarshal body.*$`), // What follows is the lock that this run wanted.
		"the state is locked, and the server of the backend http does not say by whom. If nothing holds it any more, remove the lock there",
	},
	{
		regexp.MustCompile(`The state file could not be parsed as JSON: syntax error at byte offset \d+`),
		"What is there is no state: it may be damaged or, with the backend http, address or credentials lead to a web page",
	},
	{regexp.MustCompile(`or use "` + eitherCLI + ` apply" to create a new remote object`), "or remove the import block to create a new remote object"},
	{regexp.MustCompile(` If you wish to automatically generate config for this resource, use the -generate-config-out option within ` + eitherCLI + ` plan\. Otherwise, make sure`), " Make sure"},
	{regexp.MustCompile(`The plugin logs may contain more details`), "It crashed or was killed, for example because the container of the provider has too little memory"},
	{regexp.MustCompile(`ApplyResourceChange call\. It crashed or was killed, [^.]*`), "$0. What it was creating may exist without being in the state, and each retry would create another one: " + lookForIt},
	{regexp.MustCompile(`(argument "[^"]*") given on the command line (is not expected for the selected backend type)`), "$1 in -backend-config in spec.forProvider.initArgs $2"},
	{regexp.MustCompile(`fork/exec \S+/terraform-provider-[^:]*: permission denied`), "$0: the package has the program without the right to execute it, or the volume is mounted with noexec"},
	{
		regexp.MustCompile(`cannot install existing provider directory \S+ to itself`),
		"plugin_cache_dir and a filesystem_mirror in .terraformrc are one directory: remove plugin_cache_dir",
	},
	{regexp.MustCompile(`(source code from "[^"]*": )error downloading '[^']*': `), "$1"},
	{
		// Of a URL, the user and the password are removed before.
		regexp.MustCompile(`(remote module package "ssh://[^"]*")\. If you intended this as a path relative .*$`),
		`$1: it is not a valid URL. What follows "HOST:" is the number of a port: write ssh://git@HOST/PATH, or git@HOST:PATH without ssh://. Write % as %25`,
	},
	{
		regexp.MustCompile(`(remote module package "[^"]*://[^"]*")\. If you intended this as a path relative .*$`),
		`$1: it is not a valid URL. What follows "HOST:" is the number of a port. Write the signs # / ? @ : of a user or a password as %23 %2F %3F %40 %3A, and % as %25`,
	},
	{regexp.MustCompile(`no source URL was returned`), "the server offers no module there: use the address of an archive, or git:: and the address of a repository"},
	{regexp.MustCompile(`(?:pathspec '[^']*//[^']*' did not match .*|invalid ref: "[^"]*//[^"]*")$`), `$0: write //DIRECTORY before the "?"`},
	{regexp.MustCompile(`source code from "[^"]*\.git/[^/"?][^"]*": .*(?:not found|does not appear to be a git repository|cannot sign in to).*$`), "$0. Write //DIRECTORY after .git"},
	{regexp.MustCompile(`subdir "` + remedy.OfBrowser + `" not found`), "$0: " + remedy.WriteDirectory},
	{regexp.MustCompile(`download not supported for scheme 'tfr'`), "$0: for a module of a registry, write NAMESPACE/NAME/PROVIDER, and its version in the argument version"},
	{regexp.MustCompile(`download not supported for scheme 'oci'`), "$0: OpenTofu has it, and spec.forProvider.cli chooses one"},
	{regexp.MustCompile(`download not supported for scheme '[\w-]+(?:\.[\w-]+)+'`), "$0: for git, write git@HOST:PATH"},
	{regexp.MustCompile(`from \S+: error looking up module versions: 40[13] [\w ]+|host \S+ (?:requires|rejected the given) authentication credentials`), "$0: set or correct the token for this host in a file .terraformrc in spec.credentials of the ProviderConfig"},
	{
		regexp.MustCompile(`the string provided in credentials is neither valid json nor a valid file path`),
		"$0: if it is for the backend, set GOOGLE_CREDENTIALS in env, or credentials of the backend to the plain filename of an entry of spec.credentials of the ProviderConfig. The content is the key in JSON, not encoded again",
	},
	// Credentials in an address that a plugin or a backend shows. Those of called modules are removed before.
	{regexp.MustCompile(`://(?:[^/\s"'@]+:[^/\s"'@]+|[^/\s"'@:]{20,})@`), "://"},
	// A plugin chooses another name each time.
	{regexp.MustCompile(`[^\s"']*/tf-[0-9a-f]{32}/[^\s"',:;)]*`), "(temporary file)"},
	{
		regexp.MustCompile(`invalid port ("[^"]*") after host`),
		"invalid port $1 after host: if it is the password, write the signs # / ? @ : in it as %23, %2F, %3F, %40, %3A",
	},
	{
		regexp.MustCompile(`no configuration has been provided, try setting KUBERNETES_MASTER environment variable`),
		"no configuration has been provided: if it is for the kubernetes backend, set in_cluster_config = true there, or config_path with a file in spec.credentials of the ProviderConfig; otherwise configure the provider block",
	},
	{
		regexp.MustCompile(`"https?://localhost/api\S+tfstate\S+": dial tcp \S+: connect: connection refused`),
		"$0: config_path of the kubernetes backend names no file here: set in_cluster_config = true, or give the file in spec.credentials of the ProviderConfig",
	},
	{ // Not after the text above.
		regexp.MustCompile(`"https?://localhost(?::8080)?/(?:apis?|openapi|version)\b\S*": dial tcp \S+: connect: connection refused$`),
		"$0: the provider block has no address of a cluster, or one of a resource that does not exist yet, or any more: set it, and put the cluster into another Workspace",
	},
	{
		regexp.MustCompile(`please ensure you have installed Azure CLI version \S+ or newer\. Error parsing json result from the Azure CLI: `),
		"no credentials are set: " + withoutAzureCLI + ". ",
	},
	{regexp.MustCompile(`No valid azure auth methods found`), "$0: " + withoutAzureCLI},
	{regexp.MustCompile(`Please see above warnings for details about what each auth method needs to properly work\.`), "What each method needs follows."},
	{regexp.MustCompile(` For example: ` + eitherCLI + ` plan -generate-config-out=\S+`), ""},
}

// newerProvider is what to do about a state of a newer version of a Terraform provider than the selected one.
const newerProvider = "the Terraform provider that has written the state is newer, or another one: allow it in required_providers of the module, with \"-upgrade\" in spec.forProvider.initArgs if a version is locked"

// withoutAzureCLI is how a backend signs in where there is no Azure CLI, as in the image.
const withoutAzureCLI = "set ARM_CLIENT_ID, ARM_TENANT_ID and ARM_CLIENT_SECRET in env, or the fields of a workload identity"

const eitherCLI = `(?:terraform|tofu)`

// partialPlan matches what is said about a plan of a part, after adviseHere. A destroy has no such plans.
var partialPlan = regexp.MustCompile(` (?:Alternatively, you could|To work around this,) use (?:the option -target )?in spec\.forProvider\.planArgs and applyArgs .*$`)

// ofDestroy names the arguments of a destroy in what adviseHere says about those of a plan.
var ofDestroy = strings.NewReplacer("from spec.forProvider.planArgs and applyArgs, or add to both, ", "from spec.forProvider.destroyArgs, or add there, ") //nolint:gochecknoglobals // It is a constant.

// unexpected matches the text about a block or an argument that the CLI does not know in its place.
var unexpected = regexp.MustCompile(`^((?:Blocks of type|An argument named) "(\w+)" (?:is|are) not expected here)\.(?: Did you mean "[^"]*"\?)?$`)

// adviseUnexpected adds the remedy to the text about a block or an argument that another CLI knows, or that is of the configuration of
// the CLI. The context is the block around it. A resource, or a module, may have ones of the same names.
func adviseUnexpected(text, context string) string {
	m := unexpected.FindStringSubmatch(text)
	if m == nil {
		return text
	}

	around, _, _ := strings.Cut(context, " ")
	where := around + "." + m[2]

	switch {
	case ofOtherCLI.MatchString(where):
		return m[1] + ": other versions or products have it, and spec.forProvider.cli chooses one"
	case ofCLIConfig.MatchString(where):
		return m[1] + ": put it into a file .terraformrc in spec.credentials of the ProviderConfig"
	default:
		return text
	}
}

// ofOtherCLI and ofCLIConfig match the block around a block or an argument, or nothing, and its name. The arguments of a backend are also
// in spec.backendFile, without a block.
var (
	ofOtherCLI = regexp.MustCompile(`^(?:\.(?:removed|ephemeral|action)|import\.for_each|(?:variable|output)\.(?:ephemeral|deprecated)|provider\.for_each|removed\.destroy|terraform\.encryption|` +
		`(?:terraform)?\.(?:use_lockfile|endpoints|use_path_style|skip_requesting_account_id|skip_s3_checksum))$`)
	ofCLIConfig = regexp.MustCompile(`^\.(?:credentials|credentials_helper|provider_installation)$`)
)

// encrypted ends what OpenTofu says of an encrypted state that it has no key for.
const encrypted = "is encrypted and can not be read without an encryption configuration"

// adviseRemoteState adds the remedy to the text about the state of another module: the encryption of the own state is none.
func adviseRemoteState(text, address string) string {
	if !remoteState.MatchString(address) || !strings.HasSuffix(text, encrypted) {
		return text
	}

	return text + ": give its encryption in a block remote_state_data_sources, in the block encryption of the module or of spec.configuration"
}

// ofDownload matches texts about the source of a module. Other texts may have links, for people to follow.
var ofDownload = regexp.MustCompile(`Could not download module|error downloading|Failed to (?:download|retrieve)|has invalid source address|Module source has changed|intended installation method`)

// adviseHere replaces advice to people at a command line with what does the same here, in one line of text.
func adviseHere(text string) string {
	text = remedy.Same(text)

	// A called module may have a key in its address, and a registry signs addresses.
	if ofDownload.MatchString(text) {
		text = remedy.Addresses(text)
	}

	// A provisioner may run git, or one of the CLIs, with other credentials and in another directory.
	if ofProvisioner(text) {
		return text
	}

	text = remedy.Git(text, remedy.AddGitFile)

	for _, a := range advice {
		text = a.cli.ReplaceAllString(text, a.here)
	}

	return text
}
