# Everything that this repository can do. "make" lists it.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

# What is built calls itself this.
VERSION ?= v0.1.0-0.git
# Linux programs of these architectures go into the packages, as in amd64,arm64.
ARCH ?= $(shell go env GOARCH)
# Where "make push" and "make publish" put the packages.
REGISTRY ?=
# A release has the plugin for these platforms, and the packages for those of Linux.
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
# The file with the private key that signs a release, whose password is in COSIGN_PASSWORD, and the transparency log that records the signatures.
KEY ?=
TLOG ?=
# 1 makes the files of a version again, in a checkout of its tag.
REBUILD ?=
# The URI that names the builder in the provenance of a release.
BUILDER ?=
# Names one suite or one test (test-e2e), one test (soak), one figure (bench) or one module (vulncheck); empty means all.
ONLY ?=
# Seeds the random series of evaluators.
SEED ?= 1
# Names one slice of the figures (bench), as in 5/16, or two of them, as in 3/8.
SLICE ?=
# How long each fuzz target runs under soak.
FUZZTIME ?= 1m
# The manager of CAPT, for e2e-capt.
CAPT ?=
# 1 ends the demo when its claim is Succeeded.
ONCE ?=
# The file for what "kubectl intent status --watch" prints during the tour.
WATCH ?=

OUTPUT := _output
PACKAGES := configuration configuration-namespaced configuration-applications function provider
# The demo needs no linter and no generators.
DEMO_TOOLS := ETCD KUBE_APISERVER KUBE_CONTROLLERS KUBECTL CROSSPLANE_CORE CROSSPLANE_CRDS XPKG_IMAGE XPKG
# The tour has GitOps and measurements beside it.
TOUR_TOOLS := $(DEMO_TOOLS) FLUX_SOURCE_CONTROLLER FLUX_SOURCE_CRDS FLUX_KUSTOMIZE_CONTROLLER FLUX_KUSTOMIZE_CRDS PROMETHEUS
# CAPT works with an older core of Cluster API than the newest.
CAPT_TOOLS := ETCD KUBE_APISERVER KUBE_CONTROLLERS KUBECTL CROSSPLANE_CORE CROSSPLANE_CRDS CLUSTERAPI_1_10 CLUSTERAPI_1_10_CRDS TERRAFORM_CRDS
# The smoke tier runs Crossplane, and Flux and Prometheus at a Site.
SMOKE_TOOLS := ETCD KUBE_APISERVER KUBE_CONTROLLERS KUBECTL CROSSPLANE_CORE CROSSPLANE_CRDS CROSSPLANE_WEBHOOKS XPKG_IMAGE XPKG \
	FLUX_SOURCE_CONTROLLER FLUX_SOURCE_CRDS FLUX_KUSTOMIZE_CONTROLLER FLUX_KUSTOMIZE_CRDS GATEWAY_API_CRDS PROMETHEUS GOTESTSUM
PROGRAMS := function provider kubectl-intent
# The modules of tools/ with our code that "make test" checks beside the main module. Releases and evaluators have targets of their own.
TOOL_MODULES := images xpkg controllers vulncheck
# The flags of what tools.sh builds, for all that go does here: what those programs, ours and the tests import alike is compiled once, and nothing again in
# another checkout.
export CGO_ENABLED := 0
COMPILE := -trimpath -gcflags=all=-dwarf=false
export GOFLAGS := $(filter-out $(COMPILE),$(GOFLAGS)) $(COMPILE)
# A compiler lives for seconds: without garbage collection it takes a fifth less processor time. Tests collect theirs.
COMPILER := GOGC=off GOMEMLIMIT=6GiB
GO_TEST := go test -vet=off -toolexec 'env $(COMPILER)'
# A program follows from its files alone, and not from the commit that they are in: an unchanged one has an unchanged image, and so has its package.
BUILD := $(COMPILER) go build -buildvcs=false -ldflags '-s -w -X main.version=$(VERSION)'

# Programs follow from these files, and from their folders, so that one removed counts too.
SOURCES := $(wildcard *.go) go.mod go.sum $(shell find $(wildcard apis cmd function package provider) ! -name '*_test.go' 2>/dev/null)
RECIPES := Makefile $(wildcard tools/images/*.go tools/xpkg/*.go) tools/images/go.sum tools/xpkg/go.sum

# with_tools runs a command with the paths of the tools in its environment.
with_tools = set -a && environment="$$(tools/tools.sh env $(1))" && eval "$$environment" && set +a &&

# find_tools runs a command with the paths of programs that need not be built.
find_tools = set -a && environment="$$(tools/tools.sh find $(1))" && eval "$$environment" && set +a &&

# play finds or builds the tools that the playground needs, builds our programs, and runs a command with the paths of all. Our programs compile beside the
# tools, when those leave a processor idle; the second make builds the remaining ones, and reports errors.
play = $(call find_tools,$(1)) \
	{ nice -n 19 $(MAKE) build playground >/dev/null 2>&1 & } && tools/tools.sh build $(1) && { wait || true; } && $(MAKE) build xpkg playground && $(call with_tools,$(1))

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
	@$(call play,$(DEMO_TOOLS)) ONCE=$(ONCE) $(OUTPUT)/bin/playground

.PHONY: tour
tour: ## Release three versions on a real control plane, with Flux and Prometheus; the second one is rolled back (WATCH=file keeps what status --watch prints).
	@$(call play,$(TOUR_TOOLS)) $(OUTPUT)/bin/playground tour $(if $(WATCH),--watch='$(WATCH)')

##@ Build

.PHONY: build
build: $(PROGRAMS:%=$(OUTPUT)/bin/%) ## Build the function, the provider and kubectl-intent.

# With the flags of the other programs, what they import is compiled once.
.PHONY: playground
playground:
	@echo "building $(OUTPUT)/bin/playground"
	@$(BUILD) -o $(OUTPUT)/bin/playground ./cmd/playground

.PHONY: xpkg
xpkg: $(PACKAGES:%=$(OUTPUT)/xpkg/%.xpkg) ## Build the Crossplane packages.

.PHONY: push
push: xpkg ## Push the packages, each for all of ARCH (REGISTRY=registry.example.org/intentplane).
	@[[ -n '$(REGISTRY)' ]] || { echo 'cannot push: name a registry, as in "make push REGISTRY=registry.example.org/intentplane"' >&2; exit 1; }
	@$(call find_tools,CROSSPLANE_CLI) tools/tools.sh build CROSSPLANE_CLI && \
		$(call with_tools,CROSSPLANE_CLI) $(foreach p,$(PACKAGES),$(call push_package,$p) &&) true

# A release needs its version by name, and the flags of the build from here alone.
named_version = $(if $(filter file,$(origin VERSION)),,$(VERSION))
release_flags = --version='$(named_version)' $(if $(REBUILD),--rebuild)

.PHONY: release
release: ## Make the files of a release in _output/dist (VERSION=v0.1.0 KEY=../cosign.key TLOG=https://rekor.sigstore.dev).
	@tools/tools.sh build RELEASE
	@$(call with_tools,RELEASE) "$$RELEASE" check $(release_flags)
	@env -u GOEXPERIMENT GOFLAGS= GOWORK=off GOAMD64=v1 GOARM64=v8.0 GOFIPS140=off $(MAKE) OUTPUT='$(OUTPUT)/release' \
		ARCH='$(subst $() ,$(comma),$(patsubst linux/%,%,$(filter linux/%,$(PLATFORMS))))' xpkg plugins
	@$(call with_tools,RELEASE) "$$RELEASE" make $(release_flags) --built='$(OUTPUT)/release' --output='$(OUTPUT)/dist' \
		--platforms='$(subst $() ,$(comma),$(strip $(PLATFORMS)))' $(if $(KEY),--key='$(KEY)') $(if $(TLOG),--log='$(TLOG)') $(if $(BUILDER),--builder='$(BUILDER)')

.PHONY: plugins
plugins: $(PLATFORMS:%=$(OUTPUT)/plugin/%/kubectl-intent)

.PHONY: publish
publish: ## Push the packages of _output/dist, with their signatures (REGISTRY=ghcr.io/intentplane).
	@[[ -n '$(REGISTRY)' ]] || { echo 'cannot publish: name a registry, as in "make publish REGISTRY=ghcr.io/intentplane"' >&2; exit 1; }
	@tools/tools.sh build RELEASE
	@$(call with_tools,RELEASE) "$$RELEASE" push --dist='$(OUTPUT)/dist' '$(REGISTRY)'

.PHONY: generate
generate: ## Generate deep copies, method sets, CRDs, XRDs, the tables in docs and the page of commands.
	@tools/tools.sh build CONTROLLER_GEN ANGRYJET
	@$(call with_tools,CONTROLLER_GEN ANGRYJET) go generate ./apis/...
	@go run ./docs/generate
	@UPDATE_REFERENCE=1 go test -count=1 -run '^TestReferencePage$$' ./cmd/kubectl-intent

##@ Test

# What "go test" prints says for each package how long it took. The table at the end of "make test" is made from it.
export SECONDS_OF_TESTS := $(CURDIR)/$(OUTPUT)/seconds
# Each suite with a control plane adds a line of its own: the seconds of its start and of its stories, and the processes that the processors worked for.
export SECONDS_OF_SUITES := $(CURDIR)/$(OUTPUT)/seconds-of-suites
keep_seconds = { mkdir -p $(OUTPUT) && tee -a $(SECONDS_OF_TESTS); }

.PHONY: test
test: ## Run what a change must pass: check, unit tests, lint, and the smoke tier of the end-to-end tests. CI runs it.
	@tools/stages.sh check test-unit lint test-smoke

# Counts and speeds, which a busy machine changes, are printed by "make test" and checked by "make test-all", which runs alone, and plays all rounds of random
# stories, of which "make test" plays the first.
.PHONY: test-all
test-all: export INTENTPLANE_FIGURES := 1
test-all: export INTENTPLANE_WHOLE := 1
test-all: ## Run check, unit tests, lint, and every end-to-end test but the long tier.
	@tools/stages.sh check test-unit lint test-race evaluators test-release test-e2e

.PHONY: check
check: ## Check format, vet, words, modules and generated files, in a minute.
	@$(MAKE) -k format vet words tidy check-generated

.PHONY: format
format:
	@tools/tools.sh check
	@unformatted="$$(gofmt -l .)"; [[ -z $$unformatted ]] || { sed 's/$$/: not formatted: run gofmt -w/' <<<"$$unformatted" >&2; exit 1; }
	@tools/tools.sh build GOFUMPT
	@$(call with_tools,GOFUMPT) unformatted="$$("$$GOFUMPT" -l .)"; [[ -z $$unformatted ]] || { sed 's/$$/: not formatted: run gofumpt -w/' <<<"$$unformatted" >&2; exit 1; }

.PHONY: vet
vet:
	@red=0; for module in . $(TOOL_MODULES:%=tools/%); do (cd $$module && $(COMPILER) go vet ./...) || red=1; done; exit $$red

.PHONY: words
words:
	@$(COMPILER) go run ./test/words

# The other modules of tools/ pin programs that others wrote, with the versions that those were tested with.
# A tidy module of evaluators needs the modules of Argo Rollouts, which "make evaluators" downloads. Here only its part of ours is checked.
.PHONY: tidy
tidy:
	@red=0; for module in . $(TOOL_MODULES:%=tools/%); do (cd $$module && go mod tidy -diff) || \
		{ echo "$$module/go.mod is not tidy: \"go mod tidy\" makes the difference above, commit it" >&2; red=1; }; done; \
		cd tools/evaluators && go list -deps ./ours github.com/intentplane/intentplane/cmd/kubectl-intent/analysis >/dev/null || \
		{ echo 'tools/evaluators/go.mod is not tidy: it lacks modules that our packages import, run "go mod tidy" there' >&2; red=1; }; exit $$red

.PHONY: lint
lint: ## Lint the code and the workflows.
	@tools/tools.sh build GOLANGCI_LINT ACTIONLINT
	@$(call with_tools,ACTIONLINT) "$$ACTIONLINT" -shellcheck= -pyflakes= .github/workflows/*.yaml
	@$(call with_tools,GOLANGCI_LINT) GOGC=400 tools/lint.sh

# A file that is generated as it was keeps its time, by which go finds the results of the tests that read it.
.PHONY: check-generated
check-generated: ## Check that generated files are up to date.
	@before="$$(mktemp -d)"; trap 'rm -rf "$$before"' EXIT; \
		cp -pR apis docs package "$$before"; touch "$$before/copied"; $(MAKE) generate; \
		find apis docs package -type f -newer "$$before/copied" | while read -r f; do ! cmp -s "$$before/$$f" "$$f" || touch -r "$$before/$$f" "$$f"; done; \
		for d in apis docs package; do diff -rN "$$before/$$d" $$d || touch "$$before/stale"; done; \
		[[ ! -e $$before/stale ]] || \
		{ echo 'generated files are not up to date: "make generate" made the difference above, commit it' >&2; exit 1; }

# One package more than there are processors is tested side by side: each waits now and then.
SIDE_BY_SIDE = $$(($$(getconf _NPROCESSORS_ONLN) + 1))

# test_with_race tests packages with the race detector, where a C compiler is there. The detector would sleep a second at the end of each program.
test_with_race = race="$$(CGO_ENABLED=1 tools/tools.sh race)"; \
	GORACE=atexit_sleep_ms=0 CGO_ENABLED=$$([[ -n $$race ]] && echo 1 || echo 0) $(GO_TEST) $$race -p $(SIDE_BY_SIDE) -timeout 20m $(1)

.PHONY: test-unit
test-unit: ## Run the unit tests, with the race detector where a package starts goroutines and a C compiler is there.
	@tools/tools.sh check
	@red=0; $(call test_with_race,$$(tools/unit-packages.sh race)) | $(keep_seconds) || red=1; \
		$(call test_with_race,$$(tools/unit-packages.sh crowded)) | $(keep_seconds) || red=1; \
		$(GO_TEST) -p $(SIDE_BY_SIDE) -timeout 20m $$(tools/unit-packages.sh plain) | $(keep_seconds) || red=1; \
		for module in $(TOOL_MODULES); do (cd tools/$$module && $(GO_TEST) ./...) || red=1; done; exit $$red

# The program that makes releases compiles the libraries of signatures, which nothing else needs.
.PHONY: test-release
test-release: ## Vet and test the program that makes releases.
	@cd tools/release && go mod tidy -diff && $(COMPILER) go vet ./... && $(GO_TEST) ./...

# The evaluators are taken out of their modules, and compile without the controllers around them.
.PHONY: evaluators
evaluators: ## Judge random series of measurements by the evaluators of Argo Rollouts and Flagger, and by ours (SEED=1).
	@cd tools/evaluators && go mod tidy -diff && go generate && $(COMPILER) go vet ./... && SEED='$(SEED)' $(GO_TEST) -timeout 20m ./...

# govulncheck scans the sources of each module with Go files; other modules pin programs. The packages of evaluators compile after "go generate".
# The entries come from a Go module, so govulncheck sends no request.
MODULES = $(or $(ONLY),$(patsubst %/,%,$(dir $(wildcard go.mod tools/*/go.mod))))

.PHONY: vulncheck
vulncheck: ## Scan each module for known vulnerabilities of its dependencies and of Go, by the pinned entries (25 MB to download; ONLY=tools/xpkg).
	@tools/tools.sh build GOVULNCHECK VULNDB VULNCHECK
	@$(if $(filter tools/evaluators,$(MODULES)),cd tools/evaluators && go generate)
	@$(call with_tools,GOVULNCHECK VULNDB VULNCHECK) \
		"$$VULNCHECK" -govulncheck="$$GOVULNCHECK" -entries="$$VULNDB" -accepted=tools/vulncheck/accepted.txt $(MODULES)

.PHONY: test-race
test-race:
	@$(call test_with_race,$$(tools/unit-packages.sh calm)) | $(keep_seconds)

# The suites that take longest begin first: none of them is left over when all others have ended. The pages of docs, the tour and the release have one story after
# another, and leave a processor to the suite beside them. The others follow in the order of their names.
LONG_SUITES := sites canary docs clusters disruption applications ledger tour claims bundles causes release tenants alerts
SUITES := $(LONG_SUITES) $(filter-out $(LONG_SUITES),$(patsubst test/e2e/%/,%,$(sort $(dir $(wildcard test/e2e/*/*_test.go)))))

# stories_of is a pattern of the stories of a tier. Suites share a few names: such a story runs in each selected suite that has one.
stories_of = ^($(shell awk '$$1 == "$(1)" { print $$3 }' test/e2e/suites.txt | sort -u | paste -sd '|'))$$
SMOKE_SUITES := $(filter $(shell awk '$$1 == "smoke" { print $$2 }' test/e2e/suites.txt),$(SUITES))
# ONLY names a suite, or a test of some suites.
ONLY_SUITES := $(if $(ONLY),$(if $(wildcard test/e2e/$(ONLY)/*.go),$(ONLY),$(patsubst test/e2e/%/,%,$(sort $(dir $(shell grep -lE '^func $(ONLY)\b.*testing.T\b' test/e2e/*/*_test.go))))))
# tools_of are the tools of suites.
tools_of = $(sort $(SMOKE_TOOLS) $(shell awk '$$1 == "needs" && index(" $(1) ", " " $$2 " ") { $$1 = $$2 = ""; print }' test/e2e/suites.txt))

# run_suites runs the end-to-end tests of suites with tools, each suite within a limit of at least four times its usual minutes, with flags of "go test": two suites
# side by side on two processors, since one that starts a control plane needs more than one of them. A failed test runs once more, alone.
run_suites = tools/tools.sh build $(2) && $(call with_tools,$(2)) \
	INTENTPLANE_SECONDS='$(SECONDS_OF_SUITES)' SUITES='$(addprefix ./test/e2e/,$(1))' LIMIT=$(3) \
	test/e2e/run.sh -vet=off -toolexec 'env $(COMPILER)' $(4) | $(keep_seconds)

.PHONY: test-smoke
test-smoke: build xpkg ## Run the smoke tier of the end-to-end tests: each kind, and each way in which a deployment ends.
	@$(call run_suites,$(SMOKE_SUITES),$(SMOKE_TOOLS),15m,-run '$(call stories_of,smoke)')

# An unknown name is refused before anything is built.
.PHONY: known-suite
known-suite:
	@[[ -z '$(ONLY)' || -n '$(ONLY_SUITES)' ]] || { echo 'cannot find a suite or an end-to-end test named $(ONLY)' >&2; exit 1; }

.PHONY: test-e2e
test-e2e: known-suite build xpkg ## Run the end-to-end tests on a real control plane, but the long tier (ONLY=a suite, such as canary, or any test).
	@$(call run_suites,$(or $(ONLY_SUITES),$(SUITES)),$(call tools_of,$(or $(ONLY_SUITES),$(SUITES))),40m,$(if $(filter Test%,$(ONLY)),-run '^$(ONLY)$$',-skip '$(call stories_of,long)'))

.PHONY: test-e2e-tour
test-e2e-tour: build xpkg ## Run the tour as a test (UPDATE_TRANSCRIPT=1 writes into docs/start/see-it-roll-back.md what status --watch prints).
	@$(call run_suites,tour,$(call tools_of,tour),30m)

.PHONY: test-long
test-long: build xpkg ## Run the long tier of the end-to-end tests, before a release (an hour and more on two processors).
	@$(call run_suites,$(SUITES),$(call tools_of,$(SUITES)),150m,-run '$(call stories_of,long)')

.PHONY: e2e-capt
e2e-capt: build ## Tell the life of a CAPT cluster with CAPT's real controllers (CAPT=path of its manager).
	@[[ -x '$(CAPT)' ]] || { echo 'cannot run CAPT: name its manager, as in "make e2e-capt CAPT=/path/to/manager"' >&2; exit 1; }
	@tools/tools.sh build $(CAPT_TOOLS)
	@$(call with_tools,$(CAPT_TOOLS)) CAPT='$(abspath $(CAPT))' go test -count=1 -v -timeout 30m -run 'TestLife|TestFlaps' ./test/e2e/capt

.PHONY: soak
soak: tools build xpkg ## Run tests in their long form, and fuzz (ONLY=a test's name or pattern, FUZZTIME=1m).
	@$(if $(ONLY),,tools/tools.sh build $(call tools_of,$(SUITES)))
	@$(call with_tools) INTENTPLANE_SOAK=1 go test -count=1 -v -timeout 0 $(if $(ONLY),-run '$(ONLY)') ./... | \
		awk '/^ *soak |soak .* rounds=|^(---|ok|FAIL|panic)|^ +--- FAIL/'
	@test/soak/fuzz.sh '$(ONLY)' '$(FUZZTIME)'

.PHONY: walk
walk: ## Tell 30,000 stories of faults to the function, 20,000 of them new in every run, and 10,000 new ones of canaries (WALK=1-10000, or the number of one).
	@first=$$(date +%s)00000; stories='$(WALK)'; INTENTPLANE_WALK=$${stories:-1-10000,$$first-$$((first + 19999))} \
		go test -count=1 -v -timeout 0 -run '^TestWalk$$' ./function/deployment | awk '/^ *walk_tell|^ {8}|^(---|ok|FAIL|panic)/'
	@INTENTPLANE_SOAK=1 go test -count=1 -v -timeout 0 -run '^TestCanaryStories$$' ./apis/step
	@INTENTPLANE_SOAK=1 go test -count=1 -v -timeout 0 -run '^TestCanaryWalk$$' ./function/deployment

.PHONY: mutants
mutants: ## Break each rule of canaries in the code, one at a time, and check that a test fails (minutes).
	@INTENTPLANE_SOAK=1 go test -count=1 -v -timeout 0 -run '^Test(Canary|Mandate)Mutants$$' ./test/soak

# What is built is what the figures need: "packages" stands for ours, and "all" for every program.
.PHONY: bench
bench: ## Measure the figures that the project claims, and keep them in docs/figures.json (SLICE=5/16, or ONLY=a figure's name or pattern).
	@needs="$$(go run ./test/bench -needs -slice '$(SLICE)' '$(ONLY)')"; programs="$${needs#packages }"; names="$${programs#all}"; \
		if [[ -n $$programs ]]; then tools/tools.sh build $$names; environment="$$(tools/tools.sh env $$names)"; set -a; eval "$$environment"; set +a; fi; \
		if [[ $$needs != "$$programs" ]]; then $(MAKE) build xpkg; fi; \
		status=0; go run -exec=test/e2e/own-network.sh ./test/bench -slice '$(SLICE)' '$(ONLY)' || status=1; go run ./docs/generate; exit $$status

.PHONY: figures-stale
figures-stale: ## List the figures whose code changed since they were measured.
	@go run ./test/bench -stale

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

# The plugin of a release, for each platform.

$(OUTPUT)/plugin/%/kubectl-intent: $(SOURCES) $(SETTINGS)
	@echo "building $@"
	@GOOS=$(firstword $(subst /, ,$*)) GOARCH=$(lastword $(subst /, ,$*)) $(BUILD) -o $@ $(package_of_kubectl-intent)

# Runtime images: one static Linux program each, non-root, for each architecture.

comma := ,
ARCHITECTURES := $(subst $(comma), ,$(ARCH))

$(OUTPUT)/linux/%: $(SOURCES) $(SETTINGS)
	@echo "building $@"
	@GOOS=linux GOARCH=$(*D) $(BUILD) -o $@ $(package_of_$(*F))

$(OUTPUT)/image/%.tar: $(OUTPUT)/linux/% $(RECIPES)
	@mkdir -p $(@D)
	@tools/tools.sh build XPKG_IMAGE
	@$(call with_tools,XPKG_IMAGE) "$$XPKG_IMAGE" -binary $< -platform linux/$(*D) \
		-modcache "$$(go env GOMODCACHE)" -goroot "$$(go env GOROOT)" \
		-tag ghcr.io/intentplane/$(*F)-intentplane:$(VERSION) -output $@

# Packages. The library takes every YAML below its root and wants exactly one
# meta object, so each package is staged into a folder of its own first.

files_of_configuration := crossplane.yaml $(wildcard apis/composition/claims/*.yaml) package/activation/claims.yaml
files_of_configuration-namespaced := package/namespaced/crossplane.yaml $(wildcard apis/composition/namespaced/*.yaml) package/activation/namespaced.yaml
files_of_configuration-applications := package/applications/crossplane.yaml $(wildcard apis/composition/applications/*.yaml)
files_of_function := package/function/crossplane.yaml
files_of_provider := package/provider/crossplane.yaml $(wildcard package/provider/crds/*.yaml)

examples_of_configuration := $(wildcard examples/quickstart/*.yaml)
examples_of_configuration-namespaced := $(filter-out %/40-claim.yaml,$(wildcard examples/quickstart/*.yaml)) examples/namespaced/deployment.yaml
examples_of_configuration-applications := $(wildcard examples/applications/*.yaml examples/bundles/*.yaml)
examples_of_provider := $(wildcard examples/quickstart/[1-3]0-*.yaml)

folder_of_configuration := $(wildcard apis/composition/claims)
folder_of_configuration-namespaced := $(wildcard apis/composition/namespaced)
folder_of_configuration-applications := $(wildcard apis/composition/applications)
folder_of_provider := $(wildcard package/provider/crds)

# A package with a program is one file for each architecture, which "xpkg push" puts together. The first one has the package's own name too.
RUN := function provider
define package_for
files_of_$(1)-$(2) := $$(files_of_$(1))
folder_of_$(1)-$(2) := $$(folder_of_$(1))
examples_of_$(1)-$(2) := $$(examples_of_$(1))
image_of_$(1)-$(2) := $$(OUTPUT)/image/$(2)/$(1).tar
endef
$(foreach p,$(RUN),$(foreach a,$(ARCHITECTURES),$(eval $(call package_for,$p,$a))))

parts = $(if $(filter $1,$(RUN)),$(ARCHITECTURES:%=$(OUTPUT)/xpkg/$1-%.xpkg),$(OUTPUT)/xpkg/$1.xpkg)
name_of_configuration-namespaced := configuration-intentplane-namespaced
name_of_configuration-applications := configuration-intentplane-applications
push_package = "$$CROSSPLANE_CLI" xpkg push --package-files=$(subst $() ,$(comma),$(strip $(call parts,$1))) $(REGISTRY)/$(or $(name_of_$1),$1-intentplane):$(VERSION)

# A Configuration takes the function and the provider of its own minor version. A VERSION that is a pre-release admits those of that
# minor version: a constraint without one skips them. The -0 is the lowest of all pre-releases, so that none of the next minor version fits.
release := $(subst ., ,$(firstword $(subst -, ,$(VERSION:v%=%))))
next_minor = $(shell echo $$(($(word 2,$(release)) + 1)))
DEPENDENCIES = >=$(VERSION), <v$(word 1,$(release)).$(next_minor).0$(if $(findstring -,$(VERSION)),-0)
# Build metadata is refused: the tag of an image cannot have a plus sign.
semantic_version := ^v(0|[1-9][0-9]*)([.](0|[1-9][0-9]*)){2}(-[0-9A-Za-z.-]+)?$$
check_version = $(if $(shell [[ '$(VERSION)' =~ $(semantic_version) ]] && echo ok),,$(error cannot build packages of version "$(VERSION)": want a semantic version, such as v0.1.0))

.SECONDEXPANSION:
.PRECIOUS: $(OUTPUT)/linux/% $(OUTPUT)/image/%.tar

$(RUN:%=$(OUTPUT)/xpkg/%.xpkg): $$(call parts,$$(basename $$(@F)))
	@ln -f $< $@

$(OUTPUT)/xpkg/%.xpkg: $$(files_of_$$*) $$(folder_of_$$*) $$(examples_of_$$*) $$(image_of_$$*) $(SETTINGS) $(RECIPES)
	@echo "building $@"
	$(check_version)
	@rm -rf $(OUTPUT)/stage/$* && mkdir -p $(OUTPUT)/stage/$*/examples $(@D)
	@cp $(files_of_$*) $(OUTPUT)/stage/$*
	@$(if $(examples_of_$*),cp $(examples_of_$*) $(OUTPUT)/stage/$*/examples)
	@sed -e '/package: ghcr.io.intentplane/{n;s/version: .*/version: "$(DEPENDENCIES)"/;}' $(firstword $(files_of_$*)) >$(OUTPUT)/stage/$*/crossplane.yaml
	@tools/tools.sh build XPKG
	@$(call with_tools,XPKG) "$$XPKG" -root $(OUTPUT)/stage/$* -examples $(OUTPUT)/stage/$*/examples -output $@ $(if $(image_of_$*),-runtime $(image_of_$*))
