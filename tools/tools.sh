#!/usr/bin/env bash
# Builds the programs of tests, demo and generators from source, at pinned
# versions. Run it without arguments to print its usage.
set -euo pipefail

usage() {
	cat <<-'TEXT'
		usage: tools/tools.sh build [NAME...]   build what is missing
		       tools/tools.sh env [NAME...]     print NAME=PATH lines for a shell to source
		       tools/tools.sh find [NAME...]    print NAME=PATH lines of programs that need not be built: those that
		                                        are installed, in PATH or $KUBEBUILDER_ASSETS, and official ones
		       tools/tools.sh check             check what must be installed
		       tools/tools.sh race              print -race, or say why there is no race detector here
		NAME is a variable or a program, for example KUBECTL or kubectl; none means all but those of Cluster API,
		which take long and few tests need, and of "make vulncheck", which no test needs.

		What is built goes to $INTENTPLANE_CACHE (default: your user's cache folder).
		A variable that is set already names a program of your own, which is used as it is.
		"find" takes programs of the pinned minor version. It downloads from $INTENTPLANE_DOWNLOADS, a mirror of the releases
		of kubernetes-sigs/controller-tools, what has the pinned digest; "none" downloads nothing.
	TEXT
	tools | awk '{ printf "  %-24s %s\n", $1, $3 }'
}

# tools lists: variable, folder below tools/, name of the program, package,
# and the variable of the program with its version. A package with prefix dir:
# is a folder of a module, which is copied.
tools() {
	cat <<-'TABLE'
		ETCD                     etcd           etcd                     go.etcd.io/etcd/server/v3                          -
		KUBE_APISERVER           kubernetes     kube-apiserver           k8s.io/kubernetes/cmd/kube-apiserver               k8s.io/component-base/version.gitVersion
		KUBE_CONTROLLERS         controllers    kube-controllers         .                                                  -
		KUBECTL                  kubernetes     kubectl                  k8s.io/kubernetes/cmd/kubectl                      k8s.io/component-base/version.gitVersion
		CROSSPLANE_CORE          crossplane     crossplane-core          github.com/crossplane/crossplane/v2/cmd/crossplane github.com/crossplane/crossplane-runtime/v2/pkg/version.version
		CROSSPLANE_CRDS          crossplane     crds                     dir:github.com/crossplane/crossplane/v2/cluster/crds -
		CROSSPLANE_WEBHOOKS      crossplane     webhookconfigurations    dir:github.com/crossplane/crossplane/v2/cluster/webhookconfigurations -
		CROSSPLANE_CLI           crossplane-cli crossplane               github.com/crossplane/crossplane/v2/cmd/crank      github.com/crossplane/crossplane/v2/internal/version.version
		FLUX_SOURCE_CONTROLLER   flux           source-controller        github.com/fluxcd/source-controller                 -
		FLUX_SOURCE_CRDS         flux           source-crds              dir:github.com/fluxcd/source-controller/config/crd/bases -
		FLUX_KUSTOMIZE_CONTROLLER flux          kustomize-controller     github.com/fluxcd/kustomize-controller              -
		FLUX_KUSTOMIZE_CRDS      flux           kustomize-crds           dir:github.com/fluxcd/kustomize-controller/config/crd/bases -
		PROMETHEUS               prometheus     prometheus               github.com/prometheus/prometheus/cmd/prometheus    github.com/prometheus/common/version.Version
		PROMTOOL                 prometheus     promtool                 github.com/prometheus/prometheus/cmd/promtool      github.com/prometheus/common/version.Version
		KUBE_STATE_METRICS       kube-state-metrics kube-state-metrics    k8s.io/kube-state-metrics/v2                         -
		TRAEFIK                  traefik        traefik                  github.com/traefik/traefik/v3/cmd/traefik           github.com/traefik/traefik/v3/pkg/version.Version
		GATEWAY_API_CRDS         traefik        gateway-api-crds         dir:sigs.k8s.io/gateway-api/config/crd/standard     -
		KPACK_CONTROLLER         kpack          kpack-controller         github.com/pivotal/kpack/cmd/controller             -
		KPACK_WEBHOOK            kpack          kpack-webhook            github.com/pivotal/kpack/cmd/webhook                -
		KPACK_CONFIG             kpack          kpack-config             dir:github.com/pivotal/kpack/config                 -
		CLUSTERAPI_CORE          clusterapi     clusterapi-core          sigs.k8s.io/cluster-api/core                        -
		CLUSTERAPI_CORE_CONFIG   clusterapi     clusterapi-core-config   dir:sigs.k8s.io/cluster-api/core/config             -
		CLUSTERAPI_BOOTSTRAP     clusterapi     clusterapi-bootstrap     sigs.k8s.io/cluster-api/bootstrap/kubeadm           -
		CLUSTERAPI_BOOTSTRAP_CONFIG clusterapi  clusterapi-bootstrap-config dir:sigs.k8s.io/cluster-api/bootstrap/kubeadm/config -
		CLUSTERAPI_CONTROLPLANE  clusterapi     clusterapi-controlplane  sigs.k8s.io/cluster-api/controlplane/kubeadm        -
		CLUSTERAPI_CONTROLPLANE_CONFIG clusterapi clusterapi-controlplane-config dir:sigs.k8s.io/cluster-api/controlplane/kubeadm/config -
		CLUSTERAPI_INFRASTRUCTURE clusterapi    clusterapi-infrastructure sigs.k8s.io/cluster-api/test/infrastructure/docker -
		CLUSTERAPI_INFRASTRUCTURE_CONFIG clusterapi clusterapi-infrastructure-config dir:sigs.k8s.io/cluster-api/test/infrastructure/docker/config -
		ARGOCD_CRDS              argocd         argocd-crds              dir:github.com/argoproj/argo-cd/v3/manifests/crds   -
		CLUSTERAPI_1_10          clusterapi110  clusterapi-1.10-core     sigs.k8s.io/cluster-api                             -
		CLUSTERAPI_1_10_CRDS     capt           clusterapi-1.10-crds       dir:sigs.k8s.io/cluster-api/config/crd/bases        -
		TERRAFORM_CRDS           capt           terraform-crds           dir:github.com/upbound/provider-terraform/package/crds -
		KUSTOMIZE                kustomize      kustomize                sigs.k8s.io/kustomize/kustomize/v5                 sigs.k8s.io/kustomize/api/provenance.version
		CONTROLLER_GEN           codegen        controller-gen           sigs.k8s.io/controller-tools/cmd/controller-gen    -
		ANGRYJET                 codegen        angryjet                 github.com/crossplane/crossplane-tools/cmd/angryjet -
		GOLANGCI_LINT            golangci-lint  golangci-lint            github.com/golangci/golangci-lint/v2/cmd/golangci-lint main.version
		GOFUMPT                  gofumpt        gofumpt                  mvdan.cc/gofumpt                                    -
		GOTESTSUM                gotestsum      gotestsum                gotest.tools/gotestsum                              -
		XPKG_IMAGE               images         xpkg-image               .                                                  -
		XPKG                     xpkg           xpkg                     .                                                  -
		RELEASE                  release        release                  .                                                  -
		PLAYED_SIGSTORE          release        played-sigstore          ./sigstore/serve                                   -
		ACTIONLINT               actionlint     actionlint               github.com/rhysd/actionlint/cmd/actionlint         -
		GOVULNCHECK              govulncheck    govulncheck              golang.org/x/vuln/cmd/govulncheck                  -
		VULNDB                   vulndb         vulndb                   dir:golang.org/x/vulndb/data/osv                   -
		VULNCHECK                vulncheck      vulncheck                .                                                  -
	TABLE
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${INTENTPLANE_CACHE:-${XDG_CACHE_HOME:-${HOME:?is not set; set INTENTPLANE_CACHE}/.cache}/intentplane}/tools
recipe='CGO_ENABLED=0 go build -mod=readonly -trimpath -buildvcs=false -gcflags=all=-dwarf=false -ldflags=-s,-w'
read_only="cannot write $cache: name a folder that can be written, as in INTENTPLANE_CACHE=\$HOME/intentplane"
scratch=
ticker=

fail() {
	echo "tools: $*" >&2
	exit 1
}

cleanup() {
	[[ -z $ticker ]] || kill "$ticker" 2>/dev/null || true
	[[ -z $scratch ]] || rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# check prints missing requirements, and how to install them.
check() {
	command -v git >/dev/null || fail 'cannot find git: install it (Debian: apt-get install git)'
	command -v go >/dev/null || fail 'cannot find go: install Go 1.26 or newer (https://go.dev/dl)'
	local version minor
	version=$(go env GOVERSION)
	minor=${version#go1.}
	minor=${minor%%[!0-9]*}
	[[ ${minor:-0} -ge 26 ]] || fail "cannot build with $version: install Go 1.26 or newer (https://go.dev/dl)"
}

# race prints the flag of "go test" that enables the race detector, which
# needs cgo and a C compiler. Without them it prints a message to stderr, and no flag.
race() {
	local compiler
	read -r compiler _ <<<"$(go env CC)"
	if [[ $(go env CGO_ENABLED) == 1 ]] && command -v "$compiler" >/dev/null; then
		echo -race
		return
	fi
	echo 'tools: tests run WITHOUT the race detector: it needs cgo and a C compiler (Debian: apt-get install gcc libc6-dev)' >&2
}

digest() {
	if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -c1-16
}

# key prints a digest of all inputs of a module's programs. It includes the
# lines of the table, which have the recipes of the programs.
key() {
	{
		cat "$here/$1"/go.mod "$here/$1"/go.sum
		[[ ! -e $here/$1/tags ]] || cat "$here/$1/tags"
		find "$here/$1" -name '*.go' ! -name '*_test.go' -exec cat {} +
		tools | awk -v m="$1" '$2 == m { print }'
		echo "$recipe" "$platform"
	} | digest
}

# locate sets the path of each wanted tool, in the order of the table.
locate() {
	platform=$(go env GOVERSION GOOS GOARCH)
	local name folder made package stamp last='' k=''
	while read -r name folder made package stamp; do
		wanted "$name" "$made" "$folder" "$@" || continue
		if [[ -n ${!name:-} ]]; then
			[[ -x ${!name} ]] || fail "cannot use $name=${!name}: no such program or folder"
			echo "$name ${!name} own - - -"
			continue
		fi
		[[ $folder == "$last" ]] || k=$(key "$folder")
		last=$folder
		echo "$name $cache/$folder/$k/$made $folder $made $package $stamp"
	done < <(tools)
}

# wanted reports whether a tool is among the names. Without names it is true, except for tools with a long build that few tests need, and tools of vulncheck.
wanted() {
	local name=$1 made=$2 folder=$3 n
	shift 3
	[[ $# -gt 0 ]] || { [[ $folder != clusterapi* && $folder != *vuln* ]] && return 0 || return 1; }
	for n in "$@"; do
		[[ $n != "$name" && $n != "$made" ]] || return 0
	done
	return 1
}

# known fails for the first unknown name.
known() {
	local n
	for n in "$@"; do
		tools | awk -v n="$n" '$1 == n || $3 == n { found = 1 } END { exit !found }' || fail "cannot find a tool named $n"
	done
}

# module prints the module that provides a package, and its version. One module may lie in another's path.
module() {
	awk -v p="${2#dir:}" '{ sub(/^require /, "") }
		index(p "/", $1 "/") == 1 && $2 ~ /^v/ && length($1) > length(m) { m = $1; v = $2 }
		END { if (m) print m, v }' "$here/$1/go.mod"
}

# compile makes one program in a scratch folder. A file called tags holds the
# build tags that exclude unused parts. Without debug information the programs
# compile in five sixths of the time.
# A compiler lives for seconds: without garbage collection it takes a fifth less processor time.
compile() {
	local folder=$1 made=$2 package=$3 stamp=$4 version=$5 flags='-s -w' tags=''
	[[ ! -e $here/$folder/tags ]] || tags=$(<"$here/$folder/tags")
	[[ $stamp == - ]] || flags+=" -X $stamp=$version"
	(cd "$here/$folder" && GOWORK=off GOFLAGS='' CGO_ENABLED=0 GOGC=off GOMEMLIMIT=6GiB \
		go build -mod=readonly -trimpath -buildvcs=false -gcflags=all=-dwarf=false -tags "$tags" -ldflags "$flags" -o "$scratch/$made" "$package")
}

# copy takes a folder out of a module.
copy() {
	local folder=$1 made=$2 package=${3#dir:} mod=$4 root
	root=$(cd "$here/$folder" && GOWORK=off GOFLAGS='' go mod download "$mod" && GOWORK=off GOFLAGS='' go list -mod=readonly -m -f '{{.Dir}}' "$mod")
	cp -R "$root/${package#"$mod"/}" "$scratch/$made"
	chmod -R u+w "$scratch/$made"
}

# tick shows the progress of a long build on a terminal.
tick() {
	local seconds=0
	while sleep 5 >/dev/null 2>&1; do
		seconds=$((seconds + 5))
		printf '\r%s %d s' "$1" "$seconds"
	done
}

# seconds_of prints how many seconds each of some tools took to build: the last time on this machine, else when they were last measured. A tool that
# was never measured is left out.
seconds_of() {
	cat "$here/seconds" "$cache/seconds" 2>/dev/null | awk -v names="$*" 'BEGIN { split(names, n); for (i in n) wanted[n[i]] = 1 }
		$1 in wanted && $2 ~ /^[0-9]+$/ { seconds[$1] = $2 } END { for (made in seconds) print made, seconds[made] }' || true
}

# keep_seconds records the duration of a build, for the estimate of the next build. It ignores a failed write.
keep_seconds() {
	{ grep -v "^$1 " "$cache/seconds" || true; echo "$1 $2"; } >"$scratch/seconds" 2>/dev/null && mv "$scratch/seconds" "$cache/seconds" || true
}

# add prints the sum of the second column.
add() {
	awk '{ sum += $2 } END { print sum + 0 }'
}

# announce prints the tools to build, and the duration of the last build.
announce() {
	local total
	total=$(seconds_of "$@" | add)
	echo "tools: builds$(printf ' %s' "$@")"
	[[ $total -eq 0 ]] || echo "tools: that took $total s the last time$([[ -e $cache/seconds ]] || echo ', on two processors of another machine')"
}

# expect prints the last duration of the first of some tools, and of the others, or nothing if it was never measured.
expect() {
	local one
	one=$(seconds_of "$1" | add)
	[[ $one -ne 0 ]] || return 0
	echo -n ": $one s the last time"
	[[ $# -eq 1 ]] || echo -n ", $(seconds_of "${@:2}" | add) s for the $(($# - 1)) after it"
}

# make_scratch makes a build folder beside the programs.
make_scratch() {
	mktemp -d "$cache/.build.XXXXXX" 2>/dev/null || fail "$read_only"
}

# make_one builds one tool beside its place and moves it there in one step, so
# that an interrupted build leaves nothing, and two builds do not disturb each other.
make_one() {
	local line=$1 path=$2 folder=$3 made=$4 package=$5 stamp=$6 mod version started=$SECONDS
	read -r mod version < <(module "$folder" "$package") || true
	line+=" building $made (${mod:-tools/$folder}${version:+ $version})${7:-} ..."
	printf '%s' "$line"
	scratch=$(make_scratch)
	[[ ! -t 1 ]] || { tick "$line" & ticker=$!; }

	local verb=compile output
	[[ $package != dir:* ]] || verb=copy
	if ! output=$("$verb" "$folder" "$made" "$package" "$([[ $verb == compile ]] && echo "$stamp" || echo "$mod")" "$version" 2>&1); then
		printf ' failed\n'
		printf '%s\n' "$output" | tail -n 40 >&2 # A full disk would not take it.
		fail "cannot build $made"
	fi

	mkdir -p "$(dirname "$path")"
	mv "$scratch/$made" "$(dirname "$path")/" 2>/dev/null || [[ -e $path ]] || fail "cannot write $path"
	[[ -z $ticker ]] || { kill "$ticker" && wait "$ticker"; } 2>/dev/null || true
	ticker=
	keep_seconds "$made" $((SECONDS - started))
	rm -rf "$scratch"
	[[ ! -t 1 ]] || printf '\r%s' "$line"
	printf ' %d s\n' $((SECONDS - started))
}

build() {
	check
	known "$@"
	local all missing total n=0 name path folder made package stamp names
	all=$(locate "$@")
	missing=$(while read -r name path folder made package stamp; do
		[[ -e $path ]] || echo "$name $path $folder $made $package $stamp"
	done <<<"$all")
	total=$(grep -c . <<<"$missing" || true)
	if [[ $total -eq 0 ]]; then
		[[ $# -gt 0 ]] || echo "tools: all there, in $cache"
		return
	fi
	# Remains of a killed build are removed once no build can still use them.
	mkdir -p "$cache" 2>/dev/null || fail "$read_only"
	find "$cache" -maxdepth 1 -name '.build.*' -mmin +180 -exec rm -rf {} +
	read -ra names <<<"$(awk '{ printf "%s ", $4 }' <<<"$missing")"
	announce "${names[@]}"
	while read -r name path folder made package stamp <&3; do
		make_one "[$((n + 1))/$total]" "$path" "$folder" "$made" "$package" "$stamp" "$(expect "${names[@]:n}")"
		n=$((n + 1))
	done 3<<<"$missing"
}

print_env() {
	known "$@"
	local all name path rest
	all=$(locate "$@")
	while read -r name path rest; do
		[[ -e $path ]] || fail "cannot find $name: run \"make tools\" first"
		printf '%s=%q\n' "$name" "$path"
	done <<<"$all"
}

# installed lists programs that a machine may have, whether the official archive holds them, by how many minor versions they may differ from the pinned
# one, and the arguments with which each prints its version. Kubernetes supports a kubectl that is one minor version older or newer than the API server,
# and each 2.x of Crossplane's command pushes the packages.
installed() {
	cat <<-'TABLE'
		ETCD                    official 0 --version
		KUBE_APISERVER          official 0 --version
		KUBECTL                 official 1 version --client
		CROSSPLANE_CORE         -        0 --version
		CROSSPLANE_CLI          -        9 version --client
	TABLE
}

# minor prints the first version in a text without its patch, as in 1.36.
minor() {
	grep -oE '[0-9]+\.[0-9]+' | head -n 1
}

# is_near reports whether two minor versions of one major version differ by at most a limit.
is_near() {
	local have=$1 want=$2 limit=$3 difference
	[[ -n $have && ${have%.*} == "${want%.*}" ]] || return 1
	difference=$((${have#*.} - ${want#*.}))
	[[ ${difference#-} -le $limit ]]
}

# fits reports whether a program has a minor version, or one within the limit. It prints a refused program, since its user may expect its use.
fits() {
	local path=$1 want=$2 limit=$3 have
	shift 3
	have=$("$path" "$@" 2>/dev/null </dev/null | minor) || true
	! is_near "$have" "$want" "$limit" || return 0
	echo "tools: $path is not taken: it is ${have:-of an unknown version}, and $want is wanted" >&2
	return 1
}

# find_one prints the path of a program that fits: in KUBEBUILDER_ASSETS, in PATH, or downloaded.
find_one() {
	local made=$1 want=$2 limit=$3 path
	shift 3
	for path in "${KUBEBUILDER_ASSETS:+$KUBEBUILDER_ASSETS/$made}" "$(command -v "$made" || true)" "$cache/downloads/$made"; do
		[[ -n $path && -x $path ]] || continue
		fits "$path" "$want" "$limit" "$@" || continue
		echo "$path"
		return
	done
	return 1
}

# download adds the official programs of this platform to the cache. After a failure it prints the reason, and the programs are built.
download() {
	local base=${INTENTPLANE_DOWNLOADS:-https://github.com/kubernetes-sigs/controller-tools/releases/download} file sum
	read -r file sum < <(awk -v p="$(go env GOOS)/$(go env GOARCH)" '$1 == p { print $2, $3 }' "$here/kubernetes/downloads") || return 0
	[[ $base != none && ! -e $cache/downloads/$sum ]] || return 0
	command -v curl >/dev/null && command -v sha512sum >/dev/null ||
		{ echo 'tools: cannot download programs without curl and sha512sum: they are built instead' >&2; return 0; }
	mkdir -p "$cache/downloads"
	scratch=$(make_scratch)
	echo "tools: downloading $base/$file" >&2
	curl -fsSL --connect-timeout 5 --max-time 600 --max-filesize 500000000 -o "$scratch/archive" "$base/$file" >&2 ||
		{ echo 'tools: cannot download programs: they are built instead' >&2; return 0; }
	sha512sum --check --status <<<"$sum  $scratch/archive" ||
		{ echo "tools: $file is not what was pinned: it is not used, and programs are built instead" >&2; return 0; }
	mkdir "$scratch/programs"
	tar -xzf "$scratch/archive" -C "$scratch/programs" --strip-components=2
	mv -f "$scratch/programs"/* "$cache/downloads/"
	touch "$cache/downloads/$sum"
}

# find_programs prints a line for each wanted program that need not be built. Built programs come first: they have exactly the pinned version.
find_programs() {
	check
	known "$@"
	local name path folder made package stamp official limit args mod version found tried=
	while read -r name path folder made package stamp <&3; do
		read -r official limit args < <(installed | awk -v n="$name" '$1 == n { $1 = ""; print }') || continue
		[[ ! -e $path ]] || continue
		read -r mod version < <(module "$folder" "$package")
		version=$(minor <<<"$version")
		# shellcheck disable=SC2086 # The arguments are words.
		found=$(find_one "$made" "$version" "$limit" $args) || {
			[[ $official == official && -z $tried ]] || continue
			tried=yes
			download
			found=$(find_one "$made" "$version" "$limit" $args 2>/dev/null) || continue
		}
		echo "tools: takes $found" >&2
		printf '%s=%q\n' "$name" "$found"
	done 3< <(locate "$@")
}

main() {
	local verb=${1:-help}
	shift || true
	case $verb in
	build) build "$@" ;;
	env) print_env "$@" ;;
	find) find_programs "$@" ;;
	check) check ;;
	race) race ;;
	*) usage ;;
	esac
}

main "$@"
