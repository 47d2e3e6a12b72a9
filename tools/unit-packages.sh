#!/usr/bin/env bash
# unit-packages.sh race|plain|calm: lists packages of unit tests, the slowest first. race: packages that start goroutines or share memory between
# goroutines; their tests run with the race detector. plain: all other packages. calm: the other packages without those that the detector slows down.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# concurrent matches a go statement, an import that shares memory, and a call that starts a goroutine.
concurrent='(^|[[:space:]])go (func\(|[[:alpha:]][[:alnum:]_.]*\()|"sync(/atomic)?"$|/errgroup"$|[[:alnum:]]\.Go\('

# enumerating are packages that try all combinations in one goroutine, which the detector slows down ten times. Tests of the root package call
# the same code from many goroutines, with the detector.
enumerating='^\./(apis/(ledger|step)|bundles/state|function/(deployment|phase|workloadcluster)|provider/controller/bundlestate|cmd/kubectl-intent/live|test/soak)$'

long='./provider/controller/gitdelivery . ./provider/state ./provider/controller/gate ./function/render ./cmd/kubectl-intent/live ./cmd/kubectl-intent ./function/deployment
	./apis/step ./provider/controller/bundlestate ./apis/composition ./function/application ./bundles/state ./apis/ledger'

all=$(find . -name '*_test.go' ! -path './test/e2e/*' ! -path './tools/*' ! -path './_output/*' -printf '%h\n' | LC_ALL=C sort -u)
race=$(for dir in $all; do
	[[ $dir =~ $enumerating ]] || ! grep -qE "$concurrent" "$dir"/*.go || echo "$dir"
done)
case ${1:-} in
race) chosen=$race ;;
plain) chosen=$(LC_ALL=C comm -23 <(echo "$all") <(LC_ALL=C sort <<<"$race")) ;;
calm) chosen=$(LC_ALL=C comm -23 <(echo "$all") <(LC_ALL=C sort <<<"$race") | grep -vE "$enumerating") ;;
*) sed -n '2,3s/^# //p' "$0" >&2 && exit 2 ;;
esac
{ for dir in $long; do grep -Fx "$dir" <<<"$chosen" || true; done; echo "$chosen"; } | awk '!seen[$0]++'
