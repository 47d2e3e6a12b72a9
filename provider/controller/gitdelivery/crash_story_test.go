package gitdelivery

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/trailers"
	"github.com/intentplane/intentplane/test/soak"
)

// crashes are the moments at which a provider may die. Each lets it die in the next reconcile.
func crashes() map[string]func(w *world) { return crashesIn(repo) }

// crashesIn are the moments at which a provider may die around a push to a repository.
func crashesIn(repository string) map[string]func(w *world) {
	dies := func(w *world) { w.git.AfterPush(repository, func() { w.dead = true }) }
	return map[string]func(w *world){
		"Never":        func(*world) {},
		"BeforeFetch":  func(w *world) { w.git.Fail(repository, 503); w.dead = true },
		"BeforePush":   func(w *world) { w.begun = func() { w.dead = true } },
		"AfterCommit":  func(w *world) { w.hookIn(repository, "update", "exit 1"); dies(w) },
		"BeforeStatus": dies,
		"BetweenStateAndBranch": func(w *world) {
			w.must(w.git.Configure(w.Context(), repository, "receive.advertiseAtomic", "false"))
			w.hookIn(repository, "update", `case "$1" in refs/heads/main) exit 1;; esac`)
			dies(w)
		},
	}
}

// recover starts another provider, on a server that is well.
func (w *world) recover() {
	w.Helper()
	w.recoverIn(repo)
}

// recoverIn starts another provider, on a server whose repository is well.
func (w *world) recoverIn(repository string) {
	w.Helper()
	w.git.Fail(repository, 0)
	w.git.AfterPush(repository, nil)
	w.hookIn(repository, "update", "exit 0")
	w.must(w.git.Configure(w.Context(), repository, "receive.advertiseAtomic", "true"))
	w.begun, w.dead = func() {}, false
	w.restart()
}

func TestCrashes(t *testing.T) {
	t.Parallel()
	rounds, random := soak.Random(t, 10, 50)
	w := newWorld(t)
	for _, p := range []v1alpha1.DriftPolicy{v1alpha1.DriftReport, v1alpha1.DriftRestore} {
		d := w.first()
		if p == v1alpha1.DriftRestore {
			d = delivery("api", order(1, "a"), desired(w.T, "edge1", "clusters/edge1/team-a/api", "a"))
			d.Spec.ForProvider.ClaimRef.Name = "api"
		}
		d.Spec.ForProvider.DriftPolicy = p
		w.create(d)
	}
	for round := range rounds {
		w.crashOnce(random, int64(round+1))
	}
	w.oncePerRevision(rounds)
	says := "r" + strconv.Itoa(rounds)
	strangers := map[string]string{}
	for n := range rounds {
		strangers[fmt.Sprintf("theirs-r%d", n+1)] = "x\n"
	}
	w.holds(map[string]tree.Files{webAtE1: files(says), "clusters/edge1/team-a/api": files(says)}, strangers)
}

// crashOnce orders a revision of both claims, stops the provider, lets another user push, and starts another provider.
func (w *world) crashOnce(random *rand.Rand, revision int64) {
	w.Helper()
	says := "r" + strconv.FormatInt(revision, 10)
	paths := map[string]string{"web": webAtE1, "api": "clusters/edge1/team-a/api"}
	for _, name := range []string{"web", "api"} {
		d := w.get(name)
		setWish(d, order(revision, says))
		d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge1", paths[name], says)}
		d.Generation++
		w.composeWish(d)
		w.must(w.kube.Update(w.Context(), d))
	}
	moments := []string{"Never", "BeforeFetch", "BeforePush", "BeforeStatus", "BetweenStateAndBranch"}
	moment, stranger, forgets := moments[random.IntN(len(moments))], random.IntN(2), random.IntN(3)
	w.Logf("revision %d: %s, %d, %d", revision, moment, stranger, forgets)
	crashes()[moment](w)
	_ = w.try("web") // Who is dead cannot say so.
	w.recover()
	if forgets == 0 && moment == "BetweenStateAndBranch" {
		w.forget() // Only the state has the attempt that was written ahead.
	}
	if stranger == 0 {
		w.push(map[string]string{"theirs-" + says: "x\n"})
	}
	for _, name := range []string{"web", "api", "web"} {
		w.reconcile(name)
		w.expect(name, v1alpha1.ReasonDelivered)
	}
	if stranger != 0 {
		w.push(map[string]string{"theirs-" + says: "x\n"})
	}
}

// oncePerRevision fails the test unless each revision of each claim is one commit.
func (w *world) oncePerRevision(rounds int) {
	w.Helper()
	want, got := map[string]int{}, map[string]int{}
	for n := range rounds {
		for _, name := range []string{"web", "api"} {
			want[fmt.Sprintf("team-a/%s %d", name, n+1)] = 1
		}
	}
	for _, c := range w.commits() {
		if claim, ok := c.Trailers[trailers.Claim]; ok {
			got[claim[len("claims.intentplane.dev/IntentDeployment "):]+" "+c.Trailers[trailers.Revision]]++
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("commits: -want, +got:\n%s", diff)
	}
}
