package gitdelivery

import (
	"testing"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// flatShop is the workload of shop without tracks.
func flatShop(t *testing.T) tree.Files {
	t.Helper()
	out := tree.Files{
		"deployment-web.yaml": []byte("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: team-a}\nspec:\n  selector: {matchLabels: {app: web}}\n" +
			"  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: web}]}\n"),
		"service-web.yaml":   []byte("apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: team-a}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n"),
		"kustomization.yaml": []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- deployment-web.yaml\n- service-web.yaml\n"),
	}
	labelled, err := track.LabelPods(out)
	if err != nil {
		t.Fatal(err)
	}
	return labelled
}

// besidePlain returns the directory of blue and of a workload without tracks, in a state.
func besidePlain(t *testing.T, newest, serving string, weight int) tree.Files {
	t.Helper()
	files, err := track.Join(shop(t, "one", track.Blue), flatShop(t), newest)
	if err != nil {
		t.Fatal(err)
	}
	otherTrack := map[string]string{track.Blue: track.Plain, track.Plain: track.Blue}[serving]
	if files, err = track.At(files, track.State{Serving: serving, Other: otherTrack, IsLabelled: true, Weight: weight, Ahead: 100}); err != nil {
		t.Fatal(err)
	}
	return files
}

// moves begins revision 2 in a track, which takes all requests from revision 1 in two steps.
func moves(in string) ledger.Event {
	e := inTrack(2, in, 1)
	e.Ordered.Revision.Plan = []ledger.Step{{Sites: []string{"edge1"}, Weight: new(int32(0)), Ahead: new(int32(100))}, {Weight: new(int32(100))}}
	return e
}

// bothTracks is blue and a workload without tracks, with the weight of the latter.
func bothTracks(blue, plain int64, weight int32) []v1alpha1.TreeTrack {
	return []v1alpha1.TreeTrack{{Name: track.Blue, Revision: blue, Weight: 100 - weight}, {Name: track.Plain, Revision: plain, Weight: weight}}
}

func TestPlainParts(t *testing.T) {
	t.Parallel()
	restoreFlat := func(t *testing.T) v1alpha1.Tree {
		t.Helper()
		out := tracked(t, flatShop(t), nil)
		out.Action, out.Files = v1alpha1.ActionRestore, nil
		return out
	}
	toTracks := func(w *world) {
		w.Helper()
		w.allowRoutes()
		w.startHome()
		flat := tracked(w.T, flatShop(w.T), nil)
		w.propose([]v1alpha1.Tree{flat}, openedEvent("demo"), orderedEvent(1, "plain", "edge1"))
		w.delivered()
		verdict := ledger.Verdict{Result: ledger.VerdictVerified}
		w.propose([]v1alpha1.Tree{flat}, ledger.Event{Judged: &ledger.Judged{Verdict: verdict, Trees: []ledger.SiteTree{{Site: "edge1", ID: flat.Tree}}}})
		w.delivered()
		w.propose([]v1alpha1.Tree{tracked(w.T, besidePlain(w.T, track.Blue, track.Plain, 0), bothTracks(2, 1, 100))}, moves(track.Blue), advanced(0, ledger.StageSteps))
		w.delivered()
		w.propose([]v1alpha1.Tree{tracked(w.T, besidePlain(w.T, track.Blue, track.Plain, 100), bothTracks(2, 1, 0), track.Plain)}, advanced(1, ledger.StageSteps))
		w.delivered()
	}
	tell(t, map[string]story{
		"ToTracks": {reason: "A workload without tracks becomes a folder beside the track, is found by its id, and is removed after the verdict.", run: func(w *world) {
			toTracks(w)
			w.holds(map[string]tree.Files{webAtE1: besidePlain(w.T, track.Blue, track.Plain, 100)}, nil)
			alone := shop(w.T, "one", track.Blue)
			w.propose([]v1alpha1.Tree{tracked(w.T, besidePlain(w.T, track.Blue, track.Plain, 100), bothTracks(2, 1, 0), track.Plain)}, verifiedAlone(alone, track.Blue))
			w.delivered()
			w.propose([]v1alpha1.Tree{tracked(w.T, alone, aloneIn(track.Blue, 2), track.Blue)}, advanced(1, ledger.StageAlone))
			w.delivered()
			w.holds(map[string]tree.Files{webAtE1: alone}, nil)
		}},
		"GivenUp": {reason: "A move that is rejected gives the requests back, and then restores the directory without tracks by its id.", run: func(w *world) {
			toTracks(w)
			back := tracked(w.T, besidePlain(w.T, track.Blue, track.Plain, 0), bothTracks(2, 1, 100), track.Blue, track.Plain)
			w.propose([]v1alpha1.Tree{back}, rejectedEvent("GateFailed"), rolledBackEvent(1), advanced(1, ledger.StageShift))
			w.delivered()
			w.holds(map[string]tree.Files{webAtE1: besidePlain(w.T, track.Blue, track.Plain, 0)}, nil)
			w.propose([]v1alpha1.Tree{restoreFlat(w.T)}, advanced(1, ledger.StageSteps))
			w.delivered()
			w.holds(map[string]tree.Files{webAtE1: flatShop(w.T)}, nil)
		}},
		"FromTracks": {reason: "A workload without tracks comes beside the folder of the track, and is alone without folders at the end.", run: func(w *world) {
			w.stableInBlue()
			w.propose([]v1alpha1.Tree{tracked(w.T, besidePlain(w.T, track.Plain, track.Blue, 0), bothTracks(1, 2, 0), track.Blue)}, moves(track.Plain), advanced(0, ledger.StageSteps))
			w.delivered()
			all := tracked(w.T, besidePlain(w.T, track.Plain, track.Blue, 100), bothTracks(1, 2, 100), track.Blue)
			w.propose([]v1alpha1.Tree{all}, advanced(1, ledger.StageSteps))
			w.delivered()
			flat := tracked(w.T, flatShop(w.T), nil)
			verdict := ledger.Verdict{Result: ledger.VerdictVerified}
			w.propose([]v1alpha1.Tree{all}, ledger.Event{Judged: &ledger.Judged{Verdict: verdict, Trees: []ledger.SiteTree{{Site: "edge1", ID: flat.Tree}}}})
			w.delivered()
			w.propose([]v1alpha1.Tree{flat}, advanced(1, ledger.StageAlone))
			w.delivered()
			w.holds(map[string]tree.Files{webAtE1: flatShop(w.T)}, nil)
			if got := w.get("web").Status.AtProvider.Trees[0].Tracks; len(got) != 0 {
				w.Errorf("a directory without tracks reports none: got %v", got)
			}
		}},
	})
}
