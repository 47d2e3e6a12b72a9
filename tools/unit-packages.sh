#!/usr/bin/env bash
# unit-packages.sh race|plain|calm|crowded: lists packages of unit tests, the slowest first. race: packages that start goroutines or share memory between
# goroutines; their tests run with the race detector. plain: all other packages. calm: the other packages without those that the detector slows down. crowded:
# packages of plain with a few tests that run with the detector too, after the flag -run for these tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# concurrent matches a go statement, the use of memory that is shared, and a call that starts a goroutine. A value that is made once is not shared memory.
concurrent='(^|[[:space:]])go (func\(|[[:alpha:]][[:alnum:]_.]*\()|\bsync\.(Cond|Map|Mutex|Once|Pool|RWMutex|WaitGroup)\b|"sync/atomic"$|/errgroup"$|[[:alnum:]]\.Go\('

# enumerating are packages that try all combinations in one goroutine, which the detector slows down ten times. Tests of the root package and of
# provider/controller/gitdelivery call the same code from many goroutines, with the detector.
enumerating='^\./(apis/(ledger|step)|bundles/state|function/(deployment|phase|workloadcluster)|provider/(controller/bundlestate|git/objects|state)|cmd/kubectl-intent/live|test/soak)$'

# stories are packages with hundreds of tests about decisions, below which the same few goroutines work. The detector sees these goroutines in the tests of
# crowded, and in all tests under make test-all.
stories='^\./(function/render|provider/(git|controller/gitdelivery))$'
crowded='^Test(BuildInParallel|BuildOften|CacheInParallel|Conflict|Delivery|HostileAnswers|PushAfterRaceSavesOneRequest|ReadMany|WritersLoseNothing|'
crowded+='Calm|CalmUntilWake|Canaries|Crash|Crashes|Delete|Deliver|Drift|Forgot|HangingPushes|MandateCrashes|Ownership|Race|Rotation|Server|SignedCrashes|StatePlaces|Wake)$'

long='. ./provider/clusters ./provider/controller/gate ./provider/repository ./provider/controller/sitesync ./provider/controller/imagebuild
	./provider/controller/managedcluster ./test/hostile
	./provider/controller/gitdelivery ./provider/git ./function/deployment ./provider/controller/bundlestate ./apis/step ./test/soak ./function/render
	./cmd/kubectl-intent/live ./cmd/kubectl-intent ./bundles/state ./function/offline ./provider/state ./apis/composition ./function/application ./apis/ledger'

all=$(find . -name '*_test.go' ! -path './test/e2e/*' ! -path './tools/*' ! -path './_output/*' -printf '%h\n' | LC_ALL=C sort -u)
race=$(for dir in $all; do
	[[ $dir =~ $stories || $dir =~ $enumerating ]] || ! grep -qE "$concurrent" "$dir"/*.go || echo "$dir"
done)
case ${1:-} in
race) chosen=$race ;;
plain) chosen=$(LC_ALL=C comm -23 <(echo "$all") <(LC_ALL=C sort <<<"$race")) ;;
calm) chosen=$(LC_ALL=C comm -23 <(echo "$all") <(LC_ALL=C sort <<<"$race") | grep -vE "$enumerating") ;;
crowded) echo "-run=$crowded" && chosen=$(grep -E "$stories" <<<"$all") ;;
*) sed -n '2,4s/^# //p' "$0" >&2 && exit 2 ;;
esac
{ for dir in $long; do grep -Fx "$dir" <<<"$chosen" || true; done; echo "$chosen"; } | awk '!seen[$0]++'
