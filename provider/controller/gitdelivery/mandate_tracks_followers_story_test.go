package gitdelivery

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// inTracksOfBoth begins a revision in a track, which the home delivers to edge1, and the second repository to edge2.
func inTracksOfBoth(number int64, in string, stable int64) ledger.Event {
	e := inTrack(number, in, stable)
	r := &e.Ordered.Revision
	r.Plan[0].Sites = []string{"edge1", "edge2"}
	r.Parts = []ledger.Part{
		{Delivery: elsewhere, ConfigRef: elsewhere, Sites: []string{"edge2"}}, {Delivery: "web", ConfigRef: "default", Sites: []string{"edge1"}},
	}
	return e
}

// inSecond returns the tree for the second repository.
func inSecond(t v1alpha1.Tree) v1alpha1.Tree {
	t.Site, t.Path = "edge2", webAtE2
	return t
}

// addTrackedFollower adds a second repository, to which the same kinds may be delivered as to the home.
func (w *world) addTrackedFollower() {
	w.Helper()
	w.allowRoutes()
	w.addFollower()
	home, c := &configv1alpha1.ClusterProviderConfig{}, &configv1alpha1.ClusterProviderConfig{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: "default"}, home))
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: elsewhere}, c))
	c.Spec.Policy = home.Spec.Policy
	w.must(w.kube.Update(w.Context(), c))
}

// deliverTracks delivers the tree of a position to both repositories.
func (w *world) deliverTracks(t v1alpha1.Tree, events ...ledger.Event) {
	w.Helper()
	w.propose([]v1alpha1.Tree{t}, events...)
	w.delivered()
	w.follow(w.ledgerOf("web"), inSecond(t))
	w.expect(elsewhere, v1alpha1.ReasonDelivered)
}

// canaryInBoth gives revision 2 in green 20 percent of the requests in two repositories, in a step with a Gate, and the home a mandate for it.
func (w *world) canaryInBoth() (stable, canary tree.Files) {
	w.Helper()
	w.addTrackedFollower()
	stable, canary = shop(w.T, "one", track.Blue), shop(w.T, "two", track.Green)
	w.startHome()
	alone := tracked(w.T, stable, aloneIn(track.Blue, 1))
	w.deliverTracks(alone, openedEvent("demo"), inTracksOfBoth(1, track.Blue, 0), advanced(0, ledger.StageSteps))
	judged := verifiedAlone(stable, track.Blue)
	second := judged.Judged.Trees[0]
	second.Site = "edge2"
	judged.Judged.Trees = append(judged.Judged.Trees, second)
	w.propose([]v1alpha1.Tree{alone}, judged)
	w.delivered()
	w.composeFollower()
	gated := inTracksOfBoth(2, track.Green, 1)
	gated.Ordered.Revision.Plan[1].Gate = true
	w.deliverTracks(tracked(w.T, beside(w.T, canary, stable, 0, 20), shared(0), track.Blue), gated, advanced(0, ledger.StageSteps))
	w.deliverTracks(tracked(w.T, beside(w.T, canary, stable, 20, 100), shared(20), track.Blue), advanced(1, ledger.StageSteps))
	w.giveMandate(2, noChange)
	w.reconcile("web")
	w.delivered()
	if w.get("web").Status.AtProvider.Mandate == nil {
		w.Fatal("echo of the mandate: want one for a canary in two repositories, got none")
	}
	w.secondHolds(beside(w.T, canary, stable, 20, 100))
	return stable, canary
}

// secondHolds compares the directory of the claim in the second repository.
func (w *world) secondHolds(want tree.Files) {
	w.Helper()
	got, err := w.git.Files(w.Context(), elsewhere, "main")
	w.must(err)
	held := tree.Files{}
	for name, content := range got {
		if file, ok := strings.CutPrefix(name, webAtE2+"/"); ok && file != tree.Marker {
			held[file] = []byte(content)
		}
	}
	if diff := cmp.Diff(want, held); diff != "" {
		w.Fatalf("the directory of the second repository: -want, +got:\n%s", diff)
	}
}

// observeBoth writes the SiteSync at the position of the ledger: both Sites give green no requests.
func (w *world) observeBoth(id string) {
	w.Helper()
	w.observeSite(w.ledgerOf("web"), id, true)
	sync := &v1alpha1.SiteSync{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Namespace: "team-a", Name: "web-sync"}, sync))
	o := *sync.Status.AtProvider.Sites[0].DeepCopy()
	o.Name = "edge2"
	sync.Status.AtProvider.Sites = append(sync.Status.AtProvider.Sites, o)
	w.must(w.kube.Update(w.Context(), sync))
}

// TestMandateTracksOfFollowers plays a function that is silent from a canary at 20 percent in two repositories on.
func TestMandateTracksOfFollowers(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"GateFailed": {reason: "A canary whose Gate fails loses its requests in both repositories, home first, and then nothing is written.", run: func(w *world) {
			stable, canary := w.canaryInBoth()
			w.failGate()
			w.reconcile(elsewhere)
			w.secondHolds(beside(w.T, canary, stable, 20, 100))
			w.reconcile("web")
			w.hasLostRequests(stable, canary)
			w.secondHolds(beside(w.T, canary, stable, 20, 100))
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.secondHolds(beside(w.T, canary, stable, 0, 100))
			position, d, tip := w.storedLedger(repo).State.Position(), w.get(elsewhere), w.tipOf(elsewhere)
			if follows := d.Status.AtProvider.Follows; follows == nil || follows.Position != position || w.storedRecord(elsewhere).Position != position {
				w.Errorf("the follower: want position %+v in status and record, got %+v and %+v", position, follows, w.storedRecord(elsewhere).Position)
			}
			for range 3 {
				w.reconcile("web")
				w.reconcile(elsewhere)
			}
			if diff := cmp.Diff(d.Status, w.get(elsewhere).Status); diff != "" || w.tipOf(elsewhere) != tip {
				w.Errorf("writes at rest: want none, got %s after %s, and in the status -before, +after:\n%s", w.tipOf(elsewhere), tip, diff)
			}
		}},
		"Drained": {reason: "The pods of the canary go in both repositories once both Sites are proven to give it no requests.", run: func(w *world) {
			stable, canary := w.canaryInBoth()
			w.failGate()
			w.reconcile("web")
			shifted := beside(w.T, canary, stable, 0, 100)
			w.observeSite(w.ledgerOf("web"), tree.ID(shifted), true)
			w.reconcile("web")
			w.hasLostRequests(stable, canary)
			w.reconcile(elsewhere)
			w.secondHolds(shifted)
			w.reconcile("web")
			w.hasLostRequests(stable, canary)
			w.observeBoth(tree.ID(shifted))
			w.reconcile("web")
			w.delivered()
			w.holds(map[string]tree.Files{webAtE1: stable}, nil)
			w.secondHolds(shifted)
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.secondHolds(stable)
		}},
		"Asked": {reason: "A spec that requests the rollback with the trees of the step, as before a report, does not keep the requests.", run: func(w *world) {
			stable, canary := w.canaryInBoth()
			w.failGate()
			w.reconcile("web")
			w.follow(w.ledgerOf("web"), inSecond(tracked(w.T, beside(w.T, canary, stable, 20, 100), shared(20), track.Blue)))
			w.secondHolds(beside(w.T, canary, stable, 0, 100))
		}},
		"Older": {reason: "A spec of the step that is applied again by a stale call gives the canary no requests.", run: func(w *world) {
			stable, canary := w.canaryInBoth()
			older := w.get(elsewhere).Spec.ForProvider
			w.failGate()
			w.reconcile("web")
			w.follow(w.ledgerOf("web"), inSecond(tracked(w.T, beside(w.T, canary, stable, 0, 100), shared(0), track.Blue, track.Green)))
			w.changeFollower(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider = older })
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.secondHolds(beside(w.T, canary, stable, 0, 100))
		}},
		"StateLost": {reason: "A follower that lost its state after the rollback began gives the canary no requests again.", run: func(w *world) {
			stable, canary := w.canaryInBoth()
			w.failGate()
			w.reconcile("web")
			w.reconcile(elsewhere)
			shifted := beside(w.T, canary, stable, 0, 100)
			w.secondHolds(shifted)
			_, err := w.git.Git(w.Context(), elsewhere, "update-ref", "-d", stateRef)
			w.must(err)
			w.restart()
			w.reconcile(elsewhere)
			w.secondHolds(shifted)
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.secondHolds(shifted)
			if got, want := w.storedRecord(elsewhere).Position, w.storedLedger(repo).State.Position(); got != want {
				w.Errorf("record of the follower: want position %+v, got %+v", want, got)
			}
		}},
		"NoFiles": {reason: "A follower whose spec lacks the files that the tracks share is left to the function.", run: func(w *world) {
			stable, canary := w.canaryInBoth()
			w.changeFollower(func(d *v1alpha1.GitDelivery) {
				t := &d.Spec.ForProvider.Trees[0]
				t.Action, t.Tree, t.Files, t.Parts, t.Tracks = v1alpha1.ActionKeep, "", nil, nil, nil
			})
			w.failGate()
			w.reconcile("web")
			w.reconcile(elsewhere)
			w.hasLostRequests(stable, canary)
			w.secondHolds(beside(w.T, canary, stable, 20, 100))
		}},
		"NotHonoured": {reason: "A provider that does not act by mandates leaves the follower to the function.", run: func(w *world) {
			stable, canary := w.canaryInBoth()
			w.failGate()
			w.reconcile("web")
			w.refusesMandates = true
			w.reconcile(elsewhere)
			w.secondHolds(beside(w.T, canary, stable, 20, 100))
		}},
	})
}

// TestMandateTracksOfFollowersCrashes lets the provider die while a canary loses its requests in the second repository.
func TestMandateTracksOfFollowersCrashes(t *testing.T) {
	t.Parallel()
	for moment, crash := range crashesIn(elsewhere) {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			stable, canary := w.canaryInBoth()
			w.failGate()
			w.reconcile("web")
			crash(w)
			_ = w.try(elsewhere) // Who is dead cannot say so.
			w.recoverIn(elsewhere)
			for range 3 {
				w.reconcile(elsewhere)
			}
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.secondHolds(beside(t, canary, stable, 0, 100))
			w.followerCommits(commitsAtStep + 1)
		})
	}
}
