# SPDX-FileCopyrightText: The provider-terraform Authors
#
# SPDX-License-Identifier: Apache-2.0

# Needed: Go, git, gcc and a POSIX shell. Everything else that is run here is built
# from the pinned Go modules under hack/, once, into _output/ (see hack/build.sh). The
# demo runs a CLI that is on PATH, if there is one.

# Where binaries go. The provider's name is part of its interface: the flag --poll is
# also read from CROSSPLANE_TERRAFORM_PROVIDER_POLL.
bin      := _output/bin
provider := $(bin)/crossplane-terraform-provider

# The provider starts it to download a module. It is beside the provider.
fetch := $(bin)/crossplane-terraform-fetch

# The packages and flags of the tests: make test PACKAGES=./internal/shard/...
# TESTFLAGS='-run TestName -v'. The first packages take the longest: the others run beside them.
PACKAGES  ?= ./test/integration ./test/deploy ./test/chaos ./internal/module ./...
TESTFLAGS ?=

# How long to fuzz each target.
FUZZTIME ?= 10s

# For how long to inject faults, and which: make chaos DURATION=1m SEED=42. The seed 0
# stands for a random one. FAULTS=proxy,lease limits them to some classes.
DURATION ?= 3m
SEED     ?= 0
FAULTS   ?= all

# Sizes of the benchmark: make bench N=300 sets the number of Workspaces. QUICK=1 measures
# less and does not write to docs/.
N     ?=
QUICK ?=

# Arguments of the demo and of the benchmark: make demo ARGS=--once
ARGS ?=

# What to release: make release VERSION=v0.1.0 REGISTRY=registry.example.org/crossplane-contrib
# KEY=cosign.key. KEYLESS=1 signs with the identity of a CI job. BASE is another base image.
VERSION  ?=
REGISTRY ?=
KEY      ?=
KEYLESS  ?=
BASE     ?=

# $(call with-tools,NAME...) sets $1, $2 ... of the shell to the directories of the
# named tools, which hack/tools.sh prints one per line.
with-tools = set -eu; tools=$$(hack/tools.sh $(1)); \
	IFS=$$(printf '\n\t'); set -f; set -- $$tools; set +f; unset IFS;

.DEFAULT_GOAL := help
.NOTPARALLEL:

##@ Use

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Watch two shards at work on a real API server; ARGS=--once ends by itself
	@$(call with-tools,controlplane) \
	cli=$$(command -v tofu || command -v terraform) || cli=$$(hack/tools.sh opentofu)/tofu; \
	hack/progress.sh 'the demo' go build -o $(bin)/demo ./hack/demo; \
	KUBEBUILDER_ASSETS="$$1" exec $(bin)/demo -cli="$$cli" $(ARGS)

.PHONY: build
build: ## Build the provider into _output/bin and print its version
	@go build -buildvcs=auto -o $(provider) ./cmd/provider
	@go build -buildvcs=auto -o $(fetch) ./cmd/fetch
	@$(provider) --version

# How the programs of a release are built.
release = -trimpath -buildvcs=auto -ldflags='-s -w'

.PHONY: image-documents
image-documents: ## Write the SBOMs and the license notices of the image to _output/documents
	@$(call with-tools,opentofu terraform) export CGO_ENABLED=0; rm -rf _output/documents; \
	hack/progress.sh 'the provider' go build $(release) -o $(provider) ./cmd/provider; \
	hack/progress.sh 'its program for downloads' go build $(release) -o $(fetch) ./cmd/fetch; \
	hack/progress.sh 'the documents' hack/documents.sh _output/documents $(provider) $(fetch) "$$1/tofu" "$$2/terraform"
	@echo _output/documents

# It is checked before the tools are built, which takes minutes.
.PHONY: release
release: private releaseflags = -version='$(VERSION)' -registry='$(REGISTRY)' -key='$(KEY)' -keyless=$(if $(KEYLESS),true,false) -base='$(BASE)' $(ARGS)
release: ## Build, push and sign a release: VERSION=v0.1.0 REGISTRY=... KEY=...; see docs/releasing.md
	@hack/progress.sh 'the program that releases' go build -o $(bin)/release ./hack/release
	@$(bin)/release -check $(releaseflags)
	@$(call with-tools,crossplane-cli cosign cyclonedx-gomod) \
	exec $(bin)/release -crossplane="$$1/crossplane" -cosign="$$2/cosign" -cyclonedx-gomod="$$3/cyclonedx-gomod" $(releaseflags)

##@ Check

.PHONY: verify
verify: test lint check-generated ## Run test, lint and check-generated: do this before a pull request

# The packages whose tests need nothing but Go. Those of internal/module run git and the
# process that fetches, and take longer than all others.
unit = $(filter-out %/internal/module,$(shell go list ./apis/... ./cmd/... ./internal/...))

# The environment of the tests. They start thousands of short processes and are bound by the CPU:
# GOGC gives memory for time. A program with the race detector sleeps for a second when it ends,
# so that its other goroutines can report a race: the tests wait for these themselves.
testenv = CGO_ENABLED=1 GOGC=400 GORACE=atexit_sleep_ms=0

# More packages than CPUs at the same time: some of them mostly wait.
parallel = -p "$$(($$(nproc) + 1))"

.PHONY: unit
unit: ## Run the tests that need no tools, no network and no API server, with the race detector
	@env -u KUBEBUILDER_ASSETS -u TOFU_BIN -u PROVIDER_MIRROR $(testenv) \
	go test -race -short $(parallel) $(TESTFLAGS) $(unit)

.PHONY: test
test: ## Run every test, with the race detector, on a real API server and both CLIs
	@$(call with-tools,controlplane opentofu terraform provider-time provider-cloud cyclonedx-gomod existing-provider) \
	KUBEBUILDER_ASSETS="$$1" TOFU_BIN="$$2/tofu" PATH="$$3:$$PATH" PROVIDER_MIRROR="$$4/mirror" PROVIDER_CLOUD="$$5/mirror" \
	CYCLONEDX_GOMOD="$$6/cyclonedx-gomod" EXISTING_PROVIDER="$$7/provider" \
	$(testenv) exec go test -race -timeout 60m $(parallel) $(TESTFLAGS) $(PACKAGES)

.PHONY: chaos
chaos: ## Inject faults for DURATION, 3m by default; SEED=n repeats those of another time
	@$(call with-tools,controlplane opentofu) mkdir -p _output/chaos; \
	KUBEBUILDER_ASSETS="$$1" TOFU_BIN="$$2/tofu" CGO_ENABLED=1 \
	exec go test -race -count 1 -timeout 0 -v -run '^TestChaos$$' -artifacts -outputdir "$$PWD/_output/chaos" \
	./test/chaos -duration=$(DURATION) -seed=$(SEED) -faults=$(FAULTS)

# The programs run in containers, where there is no C library of this machine.
.PHONY: e2e
e2e: ## Install the provider with the real Crossplane on a real node, as root; ARGS=--smoke takes a minute
	@export CGO_ENABLED=0; \
	hack/progress.sh 'the end-to-end test' go build -trimpath -o _output/e2e/bin/ ./test/e2e ./test/e2e/pause && _output/e2e/bin/e2e -check $(ARGS)
	@$(call with-tools,controlplane opentofu terraform provider-time node containerd cni crossplane crossplane-cli opentofu-older) \
	export CGO_ENABLED=0; \
	hack/progress.sh 'the provider' go build $(release) -o _output/e2e/bin/$(notdir $(provider)) ./cmd/provider; \
	hack/progress.sh 'its program for downloads' go build $(release) -o _output/e2e/bin/$(notdir $(fetch)) ./cmd/fetch; \
	rm -rf _output/e2e/documents; \
	hack/progress.sh 'the documents of the image' hack/documents.sh _output/e2e/documents _output/e2e/bin/$(notdir $(provider)) _output/e2e/bin/$(notdir $(fetch)) "$$2/tofu" "$$3/terraform"; \
	exec _output/e2e/bin/e2e -provider=_output/e2e/bin/$(notdir $(provider)) -fetch=_output/e2e/bin/$(notdir $(fetch)) -documents=_output/e2e/documents -pause=_output/e2e/bin/pause \
	-controlplane="$$1" -tofu="$$2/tofu" -terraform="$$3/terraform" -provider-time="$$4/mirror" -node="$$5" -containerd="$$6" -cni="$$7" \
	-crossplane="$$8" -crossplane-cli="$$9" -older-tofu="$${10}/tofu" $(ARGS)

.PHONY: model
model: ## Explore the models of Leases and claims with more faults than make test does
	@MODEL_BOUNDS=full exec go test -count 1 -timeout 0 -v -run '^TestModel' ./internal/shard/session ./internal/shard/claim

.PHONY: check-monitoring
check-monitoring: ## Check the alerts with promtool, and the dashboard with the metrics of running shards
	@$(call with-tools,controlplane opentofu terraform provider-time promtool) \
	export KUBEBUILDER_ASSETS="$$1" TOFU_BIN="$$2/tofu" PATH="$$3:$$PATH" PROVIDER_MIRROR="$$4/mirror" PROMTOOL="$$5/promtool" CGO_ENABLED=1; \
	go test -race $(TESTFLAGS) ./test/monitoring; \
	exec go test -race -timeout 20m $(TESTFLAGS) -run '^TestMonitoring$$' ./test/integration

.PHONY: check-release
check-release: ## Build small releases, push them to a registry of the test, and verify their signatures
	@$(call with-tools,crossplane-cli cosign) \
	CROSSPLANE_CLI="$$1/crossplane" COSIGN="$$2/cosign" $(testenv) exec go test -race $(TESTFLAGS) ./hack/release

.PHONY: bench
bench: ## Measure costs beside the bare CLI, and draw them in docs; QUICK=1 measures less and draws nothing
	@$(call with-tools,controlplane opentofu provider-time existing-provider) \
	hack/progress.sh 'the benchmark' go build -o $(bin)/bench ./test/bench; \
	KUBEBUILDER_ASSETS="$$1" TOFU_BIN="$$2/tofu" PROVIDER_MIRROR="$$3/mirror" EXISTING_PROVIDER="$$4/provider" \
	exec $(bin)/bench $(if $(QUICK),-quick,-out docs) $(if $(N),-n $(N)) $(ARGS)

.PHONY: lint
lint: ## Run the linters of the Go code and of the workflows in .github
	@$(call with-tools,lint actionlint) "$$1/golangci-lint" run; exec "$$2/actionlint" -shellcheck= -pyflakes=

.PHONY: check-generated
check-generated: ## Fail if a generated file differs from the output of its generator
	@hack/generate.sh --check

.PHONY: fuzz
fuzz: ## Fuzz every fuzz target for FUZZTIME, 10s by default
	@git grep --untracked -E '^func Fuzz[A-Z]' -- '*_test.go' | \
	sed -E 's|^(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*).*|./\1 \2|' | \
	while read -r dir target; do \
		echo "$$dir $$target"; \
		go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "$$dir" || exit; \
	done

##@ Change

.PHONY: generate
generate: ## Generate the methods and CRDs of the types in apis/
	@hack/generate.sh

# Where the project is: make address PACKAGE=ghcr.io/acme/provider-terraform SOURCE=https://github.com/acme/provider-terraform
PACKAGE ?=
SOURCE  ?=

.PHONY: address
address: ## Write where the package and the source are, PACKAGE= and SOURCE=, everywhere
	@hack/address.sh $(PACKAGE) $(SOURCE)

.PHONY: format
format: ## Format the Go code as the linters want it
	@lint=$$(hack/tools.sh lint) && exec "$$lint/golangci-lint" fmt

.PHONY: clean
clean: ## Remove build outputs, but not the tools of hack/
	rm -rf $(bin) _output/documents _output/demo _output/chaos _output/e2e _output/log

.PHONY: distclean
distclean: ## Remove _output, tools included: they take minutes to build again
	rm -rf _output
