package gitdelivery

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// shop returns the files of a workload with ten pods, with a text that distinguishes revisions.
func shop(t *testing.T, says, in string) tree.Files {
	t.Helper()
	p, err := track.Split(tree.Files{
		"deployment-web.yaml": []byte(`apiVersion: apps/v1
kind: Deployment
metadata:
  labels: {intentplane.dev/workload: main}
  name: web
  namespace: team-a
spec:
  replicas: 10
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, env: [{name: SAYS, valueFrom: {secretKeyRef: {name: web, key: says}}}]}]}
`),
		"secret-web.yaml":  []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: web, namespace: team-a}\nstringData: {says: " + says + "}\n"),
		"service-web.yaml": []byte("apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: team-a}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n"),
		"httproute-web.yaml": []byte(
			"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web, namespace: team-a}\nspec: {parentRefs: [{name: " +
				"gateway}], rules: [{backendRefs: [{name: web, port: 80}]}]}\n",
		),
		"configmap-all.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: all, namespace: team-a}\ndata: {says: " + says + "}\n"),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := p.Files(in, track.Layout{Kustomizations: true})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// beside returns the directory of a canary in green, with the folder of blue as another directory has it.
func beside(t *testing.T, canary, stable tree.Files, weight, ahead int) tree.Files {
	t.Helper()
	whole := maps.Clone(canary)
	for name, content := range stable.InFolder(track.Blue) {
		whole[track.Blue+"/"+name] = content
	}
	out, err := track.At(whole, track.State{Serving: track.Blue, Weight: weight, Ahead: ahead})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// tracked returns the tree of a directory with tracks. The files of parts are not in the spec.
func tracked(t *testing.T, whole tree.Files, tracks []v1alpha1.TreeTrack, parts ...string) v1alpha1.Tree {
	t.Helper()
	out := v1alpha1.Tree{
		Site: "edge1", Branch: "main", Path: webAtE1, Layout: "Kustomization", Action: v1alpha1.ActionDesired, Tree: tree.ID(whole),
		Encoding: v1alpha1.EncodingGzipTar, Tracks: tracks,
	}
	files := maps.Clone(whole)
	for _, name := range parts {
		p := v1alpha1.TreePart{Path: name, Tree: tree.ID(whole.InFolder(name)), Revision: 1}
		for _, treeTrack := range tracks {
			if treeTrack.Name == name {
				p.Revision = treeTrack.Revision
			}
		}
		out.Parts = append(out.Parts, p)
		maps.DeleteFunc(files, func(file string, _ []byte) bool { return strings.HasPrefix(file, name+"/") })
	}
	var err error
	if out.Files, err = tree.Encode(files); err != nil {
		t.Fatal(err)
	}
	return out
}

func aloneIn(name string, revision int64) []v1alpha1.TreeTrack {
	return []v1alpha1.TreeTrack{{Name: name, Revision: revision, Weight: 100}}
}

// shared is blue at revision 1, and green at revision 2 with a weight.
func shared(weight int32) []v1alpha1.TreeTrack {
	return []v1alpha1.TreeTrack{{Name: track.Blue, Revision: 1, Weight: 100 - weight}, {Name: track.Green, Revision: 2, Weight: weight}}
}

// inTrack begins a revision in a track, with the steps of a canary where it has a stable revision beside it.
func inTrack(number int64, in string, stable int64) ledger.Event {
	e := orderedEvent(number, in, "edge1")
	r := &e.Ordered.Revision
	r.Track, r.Stable, r.Workload = in, stable, "workload-"+in
	if stable > 0 {
		r.Plan = []ledger.Step{{Sites: []string{"edge1"}, Weight: new(int32(0)), Ahead: new(int32(20))}, {Weight: new(int32(20)), Ahead: new(int32(100))}, {Weight: new(int32(100))}}
	}
	return e
}

func advanced(step, stage int32) ledger.Event {
	return ledger.Event{Advanced: &ledger.Advanced{Step: step, Stage: stage}}
}

func verifiedAlone(files tree.Files, in string) ledger.Event {
	return ledger.Event{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictVerified}, Trees: []ledger.SiteTree{
		{Site: "edge1", ID: tree.ID(files), Part: tree.ID(files.InFolder(in))},
	}}}
}

func (w *world) allowRoutes() {
	w.Helper()
	w.allowGroups("", "apps", track.GatewayGroup)
}

// allowGroups lets the configuration deliver all kinds of some API groups.
func (w *world) allowGroups(groups ...string) {
	w.Helper()
	c := &configv1alpha1.ClusterProviderConfig{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: "default"}, c))
	c.Spec.Policy.PlainSecrets = configv1alpha1.PlainSecretsAllow
	for _, group := range groups {
		c.Spec.Policy.AllowedKinds = append(c.Spec.Policy.AllowedKinds, configv1alpha1.KindSet{Group: group, Kinds: []string{"*"}})
	}
	w.must(w.kube.Update(w.Context(), c))
}

// stableInBlue delivers revision 1 alone in blue, which is verified.
func (w *world) stableInBlue() (stable, canary tree.Files) {
	w.Helper()
	w.allowRoutes()
	stable, canary = shop(w.T, "one", track.Blue), shop(w.T, "two", track.Green)
	w.startHome()
	w.propose([]v1alpha1.Tree{tracked(w.T, stable, aloneIn(track.Blue, 1))}, openedEvent("demo"), inTrack(1, track.Blue, 0), advanced(0, ledger.StageSteps))
	w.delivered()
	w.propose([]v1alpha1.Tree{tracked(w.T, stable, aloneIn(track.Blue, 1))}, verifiedAlone(stable, track.Blue))
	w.delivered()
	return stable, canary
}

func (w *world) delivered() {
	w.Helper()
	if got := w.says("web"); !strings.HasPrefix(got, "Delivered") {
		w.Fatalf("Ready: want Delivered, got %s", got)
	}
}

// prepared delivers revision 2 in green beside it, at weight 0.
func (w *world) prepared() (stable, canary tree.Files) {
	w.Helper()
	stable, canary = w.stableInBlue()
	w.propose([]v1alpha1.Tree{tracked(w.T, beside(w.T, canary, stable, 0, 20), shared(0), track.Blue)}, inTrack(2, track.Green, 1), advanced(0, ledger.StageSteps))
	w.delivered()
	return stable, canary
}

// weighed gives revision 2 some of the requests.
func (w *world) weighed() (stable, canary tree.Files) {
	w.Helper()
	stable, canary = w.prepared()
	w.propose([]v1alpha1.Tree{tracked(w.T, beside(w.T, canary, stable, 20, 100), shared(20), track.Blue)}, advanced(1, ledger.StageSteps))
	w.delivered()
	return stable, canary
}

// promoted gives revision 2 all requests, and verifies it.
func (w *world) promoted() (stable, canary tree.Files) {
	w.Helper()
	stable, canary = w.weighed()
	all := tracked(w.T, beside(w.T, canary, stable, 100, 100), shared(100), track.Blue)
	w.propose([]v1alpha1.Tree{all}, advanced(2, ledger.StageSteps))
	w.delivered()
	w.propose([]v1alpha1.Tree{all}, verifiedAlone(canary, track.Green))
	w.delivered()
	return stable, canary
}

// at is a position of revision 2.
func at(step, stage int32) *ledger.Position {
	return &ledger.Position{Epoch: 1, Revision: 2, Step: step, Stage: stage}
}

// tracksAre compares the tracks of the directory, without the ids of their folders.
func (w *world) tracksAre(want ...v1alpha1.DeliveredTrack) {
	w.Helper()
	got := w.get("web").Status.AtProvider.Trees[0].DeepCopy().Tracks
	for i := range got {
		got[i].Tree = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Fatalf("tracks: -want, +got:\n%s", diff)
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	first := &ledger.Position{Epoch: 1, Revision: 1, Stage: ledger.StageSteps}
	tell(t, map[string]story{
		"RouteForbidden": {reason: "A configuration that does not name routes delivers no canary, and says which object it refuses.", run: func(w *world) {
			w.allowGroups("", "apps")
			w.startHome()
			w.propose([]v1alpha1.Tree{tracked(w.T, shop(w.T, "one", track.Blue), aloneIn(track.Blue, 1))}, openedEvent("demo"), inTrack(1, track.Blue, 0), advanced(0, ledger.StageSteps))
			if got := w.says("web"); !strings.HasPrefix(got, "PolicyDenied: ") || !strings.Contains(got, "HTTPRoute") || !strings.Contains(got, "allowedKinds") {
				w.Errorf("Ready: want PolicyDenied for the HTTPRoute, got %s", got)
			}
		}},
		"Beside": {reason: "The folder of the stable track comes from the repository, and the directory has it beside the files that travel.", run: func(w *world) {
			stable, canary := w.prepared()
			w.holds(map[string]tree.Files{webAtE1: beside(w.T, canary, stable, 0, 20)}, nil)
			w.count(2)
			w.tracksAre(
				v1alpha1.DeliveredTrack{Name: track.Blue, Revision: 1, Weight: 100, ChangedAt: first, WeighedAt: at(0, 3)},
				v1alpha1.DeliveredTrack{Name: track.Green, Revision: 2, ChangedAt: at(0, 3)},
			)
		}},
		"Weighed": {reason: "The repository remembers which position gave a track requests, also after it lost them.", run: func(w *world) {
			stable, canary := w.weighed()
			back := tracked(w.T, beside(w.T, canary, stable, 0, 100), shared(0), track.Blue, track.Green)
			w.propose([]v1alpha1.Tree{back}, rejectedEvent("GateFailed"), rolledBackEvent(1), advanced(1, ledger.StageShift))
			w.delivered()
			w.holds(map[string]tree.Files{webAtE1: beside(w.T, canary, stable, 0, 100)}, nil)
			w.tracksAre(
				v1alpha1.DeliveredTrack{
					Name: track.Blue, Revision: 1, Weight: 100, ChangedAt: first,
					WeighedAt: &ledger.Position{Epoch: 1, Revision: 2, Attempt: 1, Step: 1, Stage: 2},
				},
				v1alpha1.DeliveredTrack{Name: track.Green, Revision: 2, ChangedAt: at(1, 3), WeighedAt: at(1, 3)},
			)
		}},
		"AskedAgain": {reason: "A position with an unchanged tree does not replace the last position that gave a track requests.", run: func(w *world) {
			stable, canary := w.weighed()
			unchanged := tracked(w.T, beside(w.T, canary, stable, 20, 100), shared(20), track.Blue, track.Green)
			w.propose([]v1alpha1.Tree{unchanged}, rejectedEvent("GateFailed"), rolledBackEvent(1), advanced(1, ledger.StageShift))
			w.delivered()
			w.tracksAre(
				v1alpha1.DeliveredTrack{Name: track.Blue, Revision: 1, Weight: 80, ChangedAt: first, WeighedAt: at(1, 3)},
				v1alpha1.DeliveredTrack{Name: track.Green, Revision: 2, Weight: 20, ChangedAt: at(1, 3), WeighedAt: at(1, 3)},
			)
		}},
		"Unchanged": {reason: "A directory that is delivered is not written again, nor is the state.", run: func(w *world) {
			w.weighed()
			baseline, status := w.stateCommits(), w.get("web").Status
			w.restart()
			w.reconcile("web")
			w.reconcile("web")
			w.count(3)
			if final := w.stateCommits(); final != baseline {
				w.Errorf("commits of the state: want %d, got %d", baseline, final)
			}
			if diff := cmp.Diff(status, w.get("web").Status); diff != "" {
				w.Errorf("status: -want, +got:\n%s", diff)
			}
		}},
		"Overwritten": {reason: "Weights that another user changes in Git are written again, as any other file of the directory.", run: func(w *world) {
			stable, canary := w.weighed()
			route := webAtE1 + "/shared/httproute-web.yaml"
			w.push(map[string]string{route: string(beside(w.T, canary, stable, 90, 100)["shared/httproute-web.yaml"])})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDriftRestored)
			w.holds(map[string]tree.Files{webAtE1: beside(w.T, canary, stable, 20, 100)}, nil)
			w.tracksAre(
				v1alpha1.DeliveredTrack{Name: track.Blue, Revision: 1, Weight: 80, ChangedAt: first, WeighedAt: at(1, 3)},
				v1alpha1.DeliveredTrack{Name: track.Green, Revision: 2, Weight: 20, ChangedAt: at(1, 3), WeighedAt: at(1, 3)},
			)
		}},
		"NeverAlone": {reason: "A rollback restores the tree in which a track is alone, although the repository never had it.", run: func(w *world) {
			_, canary := w.promoted()
			w.rollBackTo(canary)
		}},
		"NeverAloneStateLost": {reason: "A tree that the repository never had follows from the commit that gave the track all requests, where the state was lost.", run: func(w *world) {
			_, canary := w.promoted()
			w.deleteState()
			w.restart()
			w.reconcile("web")
			w.rollBackTo(canary)
		}},
		"Alone": {reason: "The track that is left takes the old one out of the directory, and out of the list.", run: func(w *world) {
			_, canary := w.promoted()
			w.propose([]v1alpha1.Tree{tracked(w.T, canary, aloneIn(track.Green, 2))}, advanced(2, ledger.StageAlone))
			w.delivered()
			w.holds(map[string]tree.Files{webAtE1: canary}, nil)
			w.tracksAre(v1alpha1.DeliveredTrack{Name: track.Green, Revision: 2, Weight: 100, ChangedAt: at(1, 3), WeighedAt: at(2, 4)})
		}},
		"StableFromState": {reason: "The folder of the stable revision comes from the state where the branch has lost it.", run: func(w *world) {
			stable, canary := w.promoted()
			w.propose([]v1alpha1.Tree{tracked(w.T, canary, aloneIn(track.Green, 2))}, advanced(2, ledger.StageAlone))
			w.reset("main~4")
			w.collect()
			w.diverge(configv1alpha1.DivergenceReapply)
			w.propose([]v1alpha1.Tree{tracked(w.T, beside(w.T, canary, stable, 100, 100), shared(100), track.Blue)})
			w.delivered()
			w.holds(map[string]tree.Files{webAtE1: beside(w.T, canary, stable, 100, 100)}, nil)
		}},
	})
}

// rollBackTo rejects a third revision, and restores the second one from its tree alone.
func (w *world) rollBackTo(canary tree.Files) {
	w.Helper()
	third := shop(w.T, "three", track.Blue)
	w.propose([]v1alpha1.Tree{tracked(w.T, third, aloneIn(track.Blue, 3))}, inTrack(3, track.Blue, 0), advanced(0, ledger.StageSteps))
	w.delivered()
	w.collect()
	restored := v1alpha1.Tree{
		Site: "edge1", Branch: "main", Path: webAtE1, Layout: "Kustomization", Action: v1alpha1.ActionRestore, Tree: tree.ID(canary), Tracks: aloneIn(track.Green, 2),
	}
	w.propose([]v1alpha1.Tree{restored}, rejectedEvent("GateFailed"), rolledBackEvent(2), advanced(0, ledger.StageSteps))
	w.delivered()
	w.holds(map[string]tree.Files{webAtE1: canary}, nil)
}

// TestPartsLost loses the state, the object, or both, at each step of a canary.
func TestPartsLost(t *testing.T) {
	steps := map[string]func(w *world) (stable, canary tree.Files){"Prepared": (*world).prepared, "Weighed": (*world).weighed, "Promoted": (*world).promoted}
	losses := map[string]func(w *world){
		"State": func(w *world) { w.deleteState() },
		"Object": func(w *world) {
			d := w.get("web")
			w.lose("web")
			w.recreate(d)
		},
		"Both": func(w *world) {
			d := w.get("web")
			w.deleteState()
			w.lose("web")
			w.recreate(d)
		},
	}
	for step, tellUntil := range steps {
		for loss, lose := range losses {
			t.Run(step+loss, func(t *testing.T) {
				t.Log("The tracks of a directory are known again after a loss, and no commit is made.")
				w := newWorld(t)
				tellUntil(w)
				previous, commits := w.get("web").Status.AtProvider.Trees, len(w.commits())-1
				lose(w)
				w.restart()
				w.reconcile("web")
				w.reconcile("web")
				w.count(commits)
				if got := w.get("web").Status.AtProvider.Trees; len(got) != 1 || len(got[0].Tracks) != 2 {
					t.Fatalf("trees: want one with two tracks, got %v", got)
				}
				if diff := cmp.Diff(previous, w.get("web").Status.AtProvider.Trees, cmp.FilterPath(isPosition, cmp.Ignore())); diff != "" {
					t.Errorf("\nThe tracks of a directory are known again after a loss.\ntrees: -want, +got:\n%s", diff)
				}
				for i, deliveredTrack := range w.get("web").Status.AtProvider.Trees[0].Tracks {
					previousTrack := previous[0].Tracks[i]
					if (previousTrack.WeighedAt == nil) != (deliveredTrack.WeighedAt == nil) || deliveredTrack.ChangedAt == nil {
						t.Errorf("\nWhether a track got requests is known again.\ntrack %s: weighed at %v, changed at %v", deliveredTrack.Name, deliveredTrack.WeighedAt, deliveredTrack.ChangedAt)
					}
				}
			})
		}
	}
}

func isPosition(p cmp.Path) bool {
	last := p.Last().String()
	return last == ".WeighedAt" || last == ".ChangedAt"
}

// recreate creates a delivery again, as the function does: with its last spec, and without a status.
func (w *world) recreate(d *v1alpha1.GitDelivery) {
	w.Helper()
	d.ResourceVersion, d.UID, d.Finalizers = "", "", nil
	d.Status = v1alpha1.GitDeliveryStatus{}
	w.must(w.kube.Create(w.Context(), d))
}

func TestPartsRefused(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.Tree)
		want   string
	}{
		"Gone": {reason: "A folder that is nowhere is named, with its field.", want: "TreeGone: spec.forProvider.trees[0].parts[0].tree: folder " + strings.Repeat("a", 40), change: func(d *v1alpha1.Tree) {
			d.Parts[0].Tree = strings.Repeat("a", 40)
			files, err := tree.Decode(d.Files)
			if err != nil {
				panic(err)
			}
			if d.Tree, err = tree.GraftedID(files, map[string]string{track.Blue: d.Parts[0].Tree}); err != nil {
				panic(err)
			}
		}},
		"OtherID": {reason: "A directory with another folder than the folder in its id is refused.", want: "Invalid: spec.forProvider.trees[0].tree: the files and parts are tree ", change: func(d *v1alpha1.Tree) {
			d.Parts[0].Tree = strings.Repeat("a", 40)
		}},
		"NoTrack": {reason: "A part at another path than that of a track is refused.", want: `Invalid: spec.forProvider.trees[0].parts[0].path: "shared" is not the name of a track`, change: func(d *v1alpha1.Tree) {
			d.Parts[0].Path = track.FolderShared
		}},
		"Twice": {reason: "Two parts of one path are refused.", want: "Invalid: spec.forProvider.trees[0].parts[1].path: another part is blue", change: func(d *v1alpha1.Tree) {
			d.Parts = append(d.Parts, d.Parts[0])
		}},
		"FilesToo": {reason: "A part whose folder is also among the files is refused.", want: `Invalid: spec.forProvider.trees[0].parts: part "green": the tree has a file or a folder of this path`, change: func(d *v1alpha1.Tree) {
			d.Parts[0].Path = track.Green
		}},
		"Weights": {reason: "Weights that do not share all requests are refused.", want: "Invalid: spec.forProvider.trees[0].tracks: the weights add up to 120 percent, and not to 100", change: func(d *v1alpha1.Tree) {
			d.Tracks[1].Weight = 20
		}},
		"NoFolder": {reason: "A track without a folder is refused.", want: "Invalid: spec.forProvider.trees[0].tracks[1].name: the directory has no folder blue, or another entry names it", change: func(d *v1alpha1.Tree) {
			d.Tracks[1].Name = track.Blue
		}},
		"Unnamed": {reason: "A folder of a track that no entry names is refused.", want: "Invalid: spec.forProvider.trees[0].tracks: the directory has a folder green, which no entry names", change: func(d *v1alpha1.Tree) {
			d.Tracks = d.Tracks[:1]
		}},
		"Restored": {reason: "A tree that is restored has no parts.", want: "Invalid: spec.forProvider.trees[0].parts: go with action Desired only", change: func(d *v1alpha1.Tree) {
			d.Action, d.Files = v1alpha1.ActionRestore, nil
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			stable, canary := w.stableInBlue()
			requested := tracked(t, beside(t, canary, stable, 0, 20), shared(0), track.Blue)
			tc.change(&requested)
			w.propose([]v1alpha1.Tree{requested}, inTrack(2, track.Green, 1), advanced(0, ledger.StageSteps))
			if got := w.says("web"); !strings.HasPrefix(got, tc.want) {
				t.Errorf("\n%s\nReady: want %q, got %q", tc.reason, tc.want, got)
			}
			w.synced("web", corev1.ConditionTrue)
			w.holds(map[string]tree.Files{webAtE1: stable}, nil)
			w.count(1)
			w.propose([]v1alpha1.Tree{tracked(t, beside(t, canary, stable, 0, 20), shared(0), track.Blue)})
			w.delivered()
		})
	}
}

// TestPartPolicy judges the folder that comes from the repository by the limits of today.
func TestPartPolicy(t *testing.T) {
	w := newWorld(t)
	stable, canary := w.stableInBlue()
	s := site("edge1")
	w.must(w.kube.Get(w.Context(), client.ObjectKeyFromObject(s), s))
	s.Spec.TargetNamespaces.Allowed = []string{"other"}
	w.must(w.kube.Update(w.Context(), s))
	w.propose([]v1alpha1.Tree{tracked(t, beside(t, canary, stable, 0, 20), shared(0), track.Blue)}, inTrack(2, track.Green, 1), advanced(0, ledger.StageSteps))
	w.expect("web", v1alpha1.ReasonPolicyDenied)
	w.count(1)
}
