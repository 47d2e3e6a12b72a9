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
# Where "make push" puts the packages.
REGISTRY ?=
# Names one test (soak) or one figure (bench); empty means all.
ONLY ?=
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
# The demo needs no linter and no generators, and four of the controllers of Kubernetes.
DEMO_TOOLS := ETCD KUBE_APISERVER KUBE_CONTROLLERS KUBECTL CROSSPLANE_CORE CROSSPLANE_CRDS XPKG_IMAGE XPKG
# The tour has GitOps and measurements beside it.
TOUR_TOOLS := $(DEMO_TOOLS) FLUX_SOURCE_CONTROLLER FLUX_SOURCE_CRDS FLUX_KUSTOMIZE_CONTROLLER FLUX_KUSTOMIZE_CRDS PROMETHEUS
# CAPT works with an older core of Cluster API than the newest.
CAPT_TOOLS := ETCD KUBE_APISERVER KUBE_CONTROLLER_MANAGER KUBECTL CROSSPLANE_CORE CROSSPLANE_CRDS CLUSTERAPI_1_10 CLUSTERAPI_1_10_CRDS TERRAFORM_CRDS
CLUSTER_TOOLS := $(foreach part,CORE BOOTSTRAP CONTROLPLANE INFRASTRUCTURE,CLUSTERAPI_$(part) CLUSTERAPI_$(part)_CONFIG)
PROGRAMS := function provider kubectl-intent
# The flags of what tools.sh builds, for all that go does here: what those programs, ours and the tests import alike is compiled once, and nothing again in
# another checkout.
export CGO_ENABLED := 0
COMPILE := -trimpath -gcflags=all=-dwarf=false
export GOFLAGS := $(filter-out $(COMPILE),$(GOFLAGS)) $(COMPILE)
BUILD := go build -ldflags '-s -w -X main.version=$(VERSION)'

# Programs follow from these files, and from their folders, so that one removed counts too.
SOURCES := $(wildcard *.go) go.mod go.sum $(shell find $(wildcard apis cmd function package provider) ! -name '*_test.go' 2>/dev/null)
RECIPES := Makefile $(wildcard tools/images/*.go tools/xpkg/*.go) tools/images/go.sum tools/xpkg/go.sum

# with_tools runs a command with the paths of the tools in its environment.
with_tools = set -a && environment="$$(tools/tools.sh env $(1))" && eval "$$environment" && set +a &&

# find_tools runs a command with the paths of programs that need not be built.
find_tools = set -a && environment="$$(tools/tools.sh find $(1))" && eval "$$environment" && set +a &&

# play finds or builds the tools that the playground needs, builds what is ours, and runs a command with the paths of all. Of the controllers of Kubernetes
# a few are enough. A kube-controller-manager that is installed is taken instead: both take the same arguments. Our programs compile beside the tools, when
# those leave a processor idle; the second make builds what is left, and says what failed.
play = $(call find_tools,$(1) KUBE_CONTROLLER_MANAGER) export KUBE_CONTROLLERS="$${KUBE_CONTROLLERS:-$${KUBE_CONTROLLER_MANAGER:-}}" && \
	{ nice -n 19 $(MAKE) build playground >/dev/null 2>&1 & } && tools/tools.sh build $(1) && { wait || true; } && $(MAKE) build xpkg playground && $(call with_tools,$(1)) KUBE_CONTROLLER_MANAGER="$$KUBE_CONTROLLERS"

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

.PHONY: generate
generate: ## Generate deep copies, method sets, CRDs, XRDs, the tables in docs and the page of commands.
	@tools/tools.sh build CONTROLLER_GEN ANGRYJET
	@$(call with_tools,CONTROLLER_GEN ANGRYJET) go generate ./apis/...
	@go run ./docs/generate
	@UPDATE_REFERENCE=1 go test -count=1 -run '^TestReferencePage$$' ./cmd/kubectl-intent

##@ Test

# What "go test" prints says for each package how long it took. The table at the end of "make test" is made from it.
SECONDS_OF_TESTS := $(OUTPUT)/seconds
# Each suite with a control plane adds a line of its own: how long that took to start, how long the stories, and whom the processors worked for.
SECONDS_OF_SUITES := $(OUTPUT)/seconds-of-suites
keep_seconds = { mkdir -p $(OUTPUT) && tee -a $(SECONDS_OF_TESTS); }

.PHONY: test
test: ## Check everything: lint, generated files, unit tests, end to end. A table at the end says what took how long.
	@mkdir -p $(OUTPUT) && rm -f $(SECONDS_OF_TESTS) $(SECONDS_OF_SUITES)
	@for stage in tools lint check-generated test-unit test-all-e2e; do started=$$SECONDS; $(MAKE) $$stage; \
		echo "$$((SECONDS - started)) make $$stage" >>$(SECONDS_OF_TESTS); done
	@echo 'seconds of each step, and of the packages and suites that took longest:'
	@awk '$$2 == "make"' $(SECONDS_OF_TESTS)
	@awk '$$1 == "ok" && $$3 ~ /s$$/ { printf "%d %s\n", $$3, $$2 }' $(SECONDS_OF_TESTS) | sort -rn | awk 'NR <= 25'
	@echo 'seconds of the suites with a control plane, and of processors:'
	@cat $(SECONDS_OF_SUITES)

.PHONY: lint
lint: ## Lint the code, check its words, and check that go.mod is tidy.
	@tools/tools.sh build GOLANGCI_LINT
	@$(call with_tools,GOLANGCI_LINT) tools/lint.sh
	@cd tools/images && go vet ./...
	@for module in xpkg controllers; do (cd tools/$$module && go vet ./...); done
	@go run ./test/words
	@# The other modules of tools/ pin programs that others wrote, with the versions that those were tested with.
	@for module in . tools/images tools/xpkg tools/controllers; do (cd $$module && go mod tidy -diff) || \
		{ echo "$$module/go.mod is not tidy: \"go mod tidy\" makes the difference above, commit it" >&2; exit 1; }; done

.PHONY: check-generated
check-generated: ## Check that generated files are up to date.
	@before="$$(mktemp -d)"; trap 'rm -rf "$$before"' EXIT; \
		cp -R apis docs package "$$before"; $(MAKE) generate; \
		for d in apis docs package; do diff -rN "$$before/$$d" $$d || touch "$$before/stale"; done; \
		[[ ! -e $$before/stale ]] || \
		{ echo 'generated files are not up to date: "make generate" made the difference above, commit it' >&2; exit 1; }

# Packages that enumerate, in which nothing runs at once: the race detector would only make them ten times as slow. The root package calls
# the same code from many goroutines, with it.
PURE := /apis/ledger$$|/bundles/state$$|/function/step$$|/function/deployment$$|/function/phase$$|/function/workloadcluster$$|/cmd/kubectl-intent$$|/test/soak$$

# A package whose TestWalk enumerates too, and whose other tests do not: it is tested in both ways, with the detector but for its walks.
WALKING := /provider/controller/bundlestate$$

# One package more than there are processors is tested side by side: each waits now and then.
SIDE_BY_SIDE = $$(($$(getconf _NPROCESSORS_ONLN) + 1))

# The packages whose tests take longest begin first.
LONG_PACKAGES := ./provider/controller/gitdelivery . ./function/render ./apis/composition ./provider/state ./function/application ./provider/controller/gate

.PHONY: test-unit
test-unit: ## Run the unit tests, with the race detector where something runs at once and a C compiler is there.
	@tools/tools.sh check
	@race="$$(CGO_ENABLED=1 tools/tools.sh race)" && set -x && \
		$${race:+env CGO_ENABLED=1} go test $$race -skip '^TestWalk' -p $(SIDE_BY_SIDE) -timeout 40m $(LONG_PACKAGES) $$(go list ./... | grep -v /test/e2e | grep -vE '$(PURE)') | $(keep_seconds) && \
		go test -p $(SIDE_BY_SIDE) -timeout 40m $$(go list ./... | grep -E '$(PURE)|$(WALKING)') | $(keep_seconds) && \
		(cd tools/images && $${race:+env CGO_ENABLED=1} go test $$race ./...) && \
		for module in xpkg controllers; do (cd tools/$$module && go test ./...); done

# The suites that take longest begin first: none of them is left over when all others have ended. The others follow in the order of their names.
LONG_SUITES := $(addprefix ./test/e2e/,sites canary clusters disruption applications ledger claims bundles causes tenants alerts)

# Stories that vary what another story of their suite tells, or that take long: "make test-long" tells them, and "make test" all others.
LONG_STORIES := ^($(shell paste -sd '|' test/e2e/long-stories.txt))$$

# run_suites runs end-to-end tests, as many suites side by side as there are processors: one that starts a control plane needs more than one of them.
run_suites = INTENTPLANE_SECONDS='$(CURDIR)/$(SECONDS_OF_SUITES)' go test -count=1 -timeout 60m \
	-p $$(getconf _NPROCESSORS_ONLN) -exec='$(CURDIR)/test/e2e/own-network.sh'

.PHONY: test-e2e
test-e2e: tools build xpkg ## Run the end-to-end tests on a real control plane.
	@$(call with_tools) $(run_suites) -skip '$(LONG_STORIES)' $(filter-out %/clusters,$(LONG_SUITES)) $$(go list ./test/e2e/... | grep -v /test/e2e/clusters$$) | $(keep_seconds)

.PHONY: test-e2e-tour
test-e2e-tour: build xpkg ## Run the tour as a test (UPDATE_TRANSCRIPT=1 writes into README.md what status --watch prints).
	@tools/tools.sh build $(TOUR_TOOLS)
	@$(call with_tools,$(TOUR_TOOLS)) $(run_suites) ./test/e2e/tour

.PHONY: test-clusters
test-clusters: tools build xpkg ## Build clusters with Cluster API's own controllers (their first build takes minutes).
	@tools/tools.sh build $(CLUSTER_TOOLS)
	@$(call with_tools) $(run_suites) ./test/e2e/clusters | $(keep_seconds)

.PHONY: test-all-e2e
test-all-e2e: tools build xpkg
	@tools/tools.sh build $(CLUSTER_TOOLS)
	@$(call with_tools) $(run_suites) -skip '$(LONG_STORIES)' $(LONG_SUITES) ./test/e2e/... | $(keep_seconds)

.PHONY: test-long
test-long: tools build xpkg ## Tell the stories that "make test" leaves out, before a release (an hour and more on two processors).
	@tools/tools.sh build $(CLUSTER_TOOLS)
	@$(call with_tools) $(run_suites) -run '$(LONG_STORIES)' -timeout 150m ./test/e2e/...

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
walk: ## Tell 30,000 stories of faults to the function, 20,000 of them new in every run, and 10,000 new ones of canaries (WALK=1-10000, or the number of one).
	@first=$$(date +%s)00000; stories='$(WALK)'; INTENTPLANE_WALK=$${stories:-1-10000,$$first-$$((first + 19999))} \
		go test -count=1 -v -timeout 0 -run '^TestWalk$$' ./function/deployment | awk '/^ *walk_tell|^ {8}|^(---|ok|FAIL|panic)/'
	@INTENTPLANE_SOAK=1 go test -count=1 -v -timeout 0 -run '^TestCanaryStories$$' ./function/step
	@INTENTPLANE_SOAK=1 go test -count=1 -v -timeout 0 -run '^TestCanaryWalk$$' ./function/deployment

.PHONY: mutants
mutants: ## Break each rule of canaries in the code, one at a time, and check that a test fails (minutes).
	@INTENTPLANE_SOAK=1 go test -count=1 -v -timeout 0 -run '^TestCanaryMutants$$' ./test/soak

# What is built is what the figures need: "packages" stands for ours, and "all" for every program.
.PHONY: bench
bench: ## Measure every figure that the project claims (ONLY=a figure's name or pattern).
	@needs="$$(go run ./test/bench -needs '$(ONLY)')"; programs="$${needs#packages }"; names="$${programs#all}"; \
		if [[ -n $$programs ]]; then tools/tools.sh build $$names; environment="$$(tools/tools.sh env $$names)"; set -a; eval "$$environment"; set +a; fi; \
		if [[ $$needs != "$$programs" ]]; then $(MAKE) build xpkg; fi; \
		go run -exec=test/e2e/own-network.sh ./test/bench '$(ONLY)'

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
check_version = $(if $(and $(filter v%,$(VERSION)),$(word 3,$(release))),,$(error cannot build packages of version "$(VERSION)": want a semantic version, such as v0.1.0))

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
