# Everything that this repository can do. "make" lists it.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

# What is built calls itself this.
VERSION ?= v0.1.0-0.git
# Linux programs of this architecture go into the packages.
ARCH ?= $(shell go env GOARCH)
# Names one test (soak) or one figure (bench); empty means all.
ONLY ?=
# How long each fuzz target runs under soak.
FUZZTIME ?= 1m
# The manager of CAPT, for e2e-capt.
CAPT ?=
# 1 ends the demo when its claim is Succeeded.
ONCE ?=

OUTPUT := _output
PACKAGES := configuration configuration-namespaced function provider
# The demo needs no linter and no generators.
DEMO_TOOLS := ETCD KUBE_APISERVER KUBE_CONTROLLER_MANAGER KUBECTL CROSSPLANE_CORE CROSSPLANE_CRDS CROSSPLANE_CLI XPKG_IMAGE
# CAPT works with an older core of Cluster API than the newest.
CAPT_TOOLS := ETCD KUBE_APISERVER KUBE_CONTROLLER_MANAGER KUBECTL CROSSPLANE_CORE CROSSPLANE_CRDS CLUSTERAPI_1_10 CLUSTERAPI_1_10_CRDS TERRAFORM_CRDS
CLUSTER_TOOLS := $(foreach part,CORE BOOTSTRAP CONTROLPLANE INFRASTRUCTURE,CLUSTERAPI_$(part) CLUSTERAPI_$(part)_CONFIG)
PROGRAMS := function provider kubectl-intent
BUILD := CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)'

# Programs follow from these files, and from their folders, so that one removed counts too.
SOURCES := $(wildcard *.go) go.mod go.sum $(shell find $(wildcard apis cmd function package provider) ! -name '*_test.go' 2>/dev/null)
RECIPES := Makefile tools/images/main.go tools/images/go.sum tools/crossplane-cli/go.mod

# with_tools runs a command with the paths of the tools in its environment.
with_tools = set -a && environment="$$(tools/tools.sh env $(1))" && eval "$$environment" && set +a &&

##@ General

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN { FS = ":.*## "; print "usage: make TARGET [VARIABLE=value]" } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: tools
tools: ## Build, from source, the real components that tests and demo use.
	@tools/tools.sh build

.PHONY: clean
clean: ## Remove what was built here; the tools stay in their cache.
	rm -rf $(OUTPUT)

##@ Use

.PHONY: demo
demo: ## Show a claim become a commit on a real control plane (ONCE=1 ends by itself).
	@tools/tools.sh build $(DEMO_TOOLS)
	@$(MAKE) build xpkg
	@$(call with_tools,$(DEMO_TOOLS)) ONCE=$(ONCE) go run ./cmd/playground

##@ Build

.PHONY: build
build: $(PROGRAMS:%=$(OUTPUT)/bin/%) ## Build the function, the provider and kubectl-intent.

.PHONY: xpkg
xpkg: $(PACKAGES:%=$(OUTPUT)/xpkg/%.xpkg) ## Build the Crossplane packages.

.PHONY: generate
generate: ## Generate deep copies, method sets, CRDs, XRDs and the tables in docs.
	@tools/tools.sh build CONTROLLER_GEN ANGRYJET
	@$(call with_tools,CONTROLLER_GEN ANGRYJET) go generate ./apis/...
	@go run ./docs/generate

##@ Test

.PHONY: test
test: tools lint check-generated test-unit test-e2e test-clusters ## Check everything: lint, generated files, unit tests, end to end.

.PHONY: lint
lint: ## Lint the code.
	@tools/tools.sh build GOLANGCI_LINT
	@# A cache shared with another checkout names files by their paths there, which no exclusion matches.
	@$(call with_tools,GOLANGCI_LINT) GOLANGCI_LINT_CACHE="$(CURDIR)/$(OUTPUT)/lint" "$$GOLANGCI_LINT" run ./...
	@cd tools/images && go vet ./...

.PHONY: check-generated
check-generated: ## Check that generated files are up to date.
	@before="$$(mktemp -d)"; trap 'rm -rf "$$before"' EXIT; \
		cp -R apis docs package "$$before"; $(MAKE) generate; \
		for d in apis docs package; do diff -rN "$$before/$$d" $$d || touch "$$before/stale"; done; \
		[[ ! -e $$before/stale ]] || \
		{ echo 'generated files are not up to date: "make generate" made the difference above, commit it' >&2; exit 1; }

# Packages that enumerate, in which nothing runs at once: the race detector would only make them ten times as slow. The root package calls
# the same code from many goroutines, with it.
PURE := /function$$|/function/phase$$|/function/workloadcluster$$|/cmd/kubectl-intent$$|/test/soak$$

.PHONY: test-unit
test-unit: ## Run the unit tests, with the race detector where something runs at once.
	@tools/tools.sh check race
	go test -race -timeout 25m $$(go list ./... | grep -v /test/e2e | grep -vE '$(PURE)')
	go test -timeout 25m $$(go list ./... | grep -E '$(PURE)')
	cd tools/images && go test -race ./...

.PHONY: test-e2e
test-e2e: tools build xpkg ## Run the end-to-end tests on a real control plane.
	@$(call with_tools) go test -count=1 -timeout 30m $$(go list ./test/e2e/... | grep -v /test/e2e/clusters$$)

.PHONY: test-clusters
test-clusters: tools build xpkg ## Build clusters with Cluster API's own controllers (their first build takes minutes).
	@tools/tools.sh build $(CLUSTER_TOOLS)
	@$(call with_tools) go test -count=1 -timeout 30m ./test/e2e/clusters

.PHONY: e2e-capt
e2e-capt: build ## Tell the life of a CAPT cluster with CAPT's real controllers (CAPT=path of its manager).
	@[[ -x '$(CAPT)' ]] || { echo 'cannot run CAPT: name its manager, as in "make e2e-capt CAPT=/path/to/manager"' >&2; exit 1; }
	@tools/tools.sh build $(CAPT_TOOLS)
	@$(call with_tools,$(CAPT_TOOLS)) CAPT='$(abspath $(CAPT))' go test -count=1 -v -timeout 30m -run 'TestLife|TestFlaps' ./test/e2e/capt

.PHONY: soak
soak: tools build xpkg ## Run tests in their long form, and fuzz (ONLY=a test's name or pattern, FUZZTIME=1m).
	@$(if $(ONLY),,tools/tools.sh build $(CLUSTER_TOOLS))
	@$(call with_tools) INTENTPLANE_SOAK=1 go test -count=1 -v -timeout 0 $(if $(ONLY),-run '$(ONLY)') ./... | \
		awk '/^ *soak |soak .* rounds=|^(---|ok|FAIL|panic)|^ +--- FAIL/'
	@test/soak/fuzz.sh '$(ONLY)' '$(FUZZTIME)'

.PHONY: walk
walk: ## Tell 10,000 stories of faults to the function (WALK=1-10000, or the number of one).
	@INTENTPLANE_WALK=$(or $(WALK),1-10000) go test -count=1 -v -timeout 0 -run '^TestWalk$$' ./function | \
		awk '/^ *walk_story|^ {8}|^(---|ok|FAIL|panic)/'

.PHONY: bench
bench: tools build xpkg ## Measure every figure that the project claims (ONLY=a figure's name or pattern).
	@$(call with_tools) go run ./test/bench '$(ONLY)'

# Programs that run here. A file of settings changes when they do, so that a new
# VERSION builds anew and an unchanged one builds nothing.

SETTINGS := $(OUTPUT)/settings
ifneq ($(shell cat $(SETTINGS) 2>/dev/null),$(VERSION) $(ARCH))
.PHONY: $(SETTINGS)
endif
$(SETTINGS):
	@mkdir -p $(@D) && echo '$(VERSION) $(ARCH)' > $@

package_of_function := .
package_of_provider := ./provider
package_of_kubectl-intent := ./cmd/kubectl-intent

$(OUTPUT)/bin/%: $(SOURCES) $(SETTINGS)
	@echo "building $@"
	@$(BUILD) -o $@ $(package_of_$*)

# Runtime images: one static Linux program each, non-root.

$(OUTPUT)/linux/%: $(SOURCES) $(SETTINGS)
	@echo "building $@ ($(ARCH))"
	@GOOS=linux GOARCH=$(ARCH) $(BUILD) -o $@ $(package_of_$*)

$(OUTPUT)/image/%.tar: $(OUTPUT)/linux/% $(RECIPES)
	@mkdir -p $(@D)
	@tools/tools.sh build XPKG_IMAGE
	@$(call with_tools,XPKG_IMAGE) "$$XPKG_IMAGE" -binary $< -platform linux/$(ARCH) \
		-tag ghcr.io/intentplane/$*-intentplane:$(VERSION) -output $@

# Packages. "xpkg build" takes every YAML below its root and wants exactly one
# meta object, so each package is staged into a folder of its own first.

files_of_configuration := crossplane.yaml $(wildcard apis/composition/claims/*.yaml) package/activation/claims.yaml
files_of_configuration-namespaced := package/namespaced/crossplane.yaml $(wildcard apis/composition/namespaced/*.yaml) package/activation/namespaced.yaml
files_of_function := package/function/crossplane.yaml
files_of_provider := package/provider/crossplane.yaml $(wildcard package/provider/crds/*.yaml)

folder_of_configuration := $(wildcard apis/composition/claims)
folder_of_configuration-namespaced := $(wildcard apis/composition/namespaced)
folder_of_provider := $(wildcard package/provider/crds)

image_of_function := $(OUTPUT)/image/function.tar
image_of_provider := $(OUTPUT)/image/provider.tar

.SECONDEXPANSION:
.PRECIOUS: $(OUTPUT)/linux/% $(OUTPUT)/image/%.tar

$(OUTPUT)/xpkg/%.xpkg: $$(files_of_$$*) $$(folder_of_$$*) $$(image_of_$$*) $(SETTINGS) $(RECIPES)
	@echo "building $@"
	@rm -rf $(OUTPUT)/stage/$* && mkdir -p $(OUTPUT)/stage/$* $(@D)
	@cp $(files_of_$*) $(OUTPUT)/stage/$*
	@tools/tools.sh build CROSSPLANE_CLI
	@$(call with_tools,CROSSPLANE_CLI) "$$CROSSPLANE_CLI" xpkg build --package-root=$(OUTPUT)/stage/$* --examples-root=$(OUTPUT)/stage/$*/examples \
		--package-file=$@ $(if $(image_of_$*),--embed-runtime-image-tarball=$(image_of_$*)) >/dev/null
