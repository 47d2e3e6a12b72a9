package function

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/function/rollout"
)

// newer renders what a renderer of another version would: each file has one line more.
type newer struct {
	Renderer

	line string
}

// Build adds the line.
func (n newer) Build(ctx context.Context, in render.Input) (tree.Files, error) {
	files, err := n.Renderer.Build(ctx, in)
	out := tree.Files{}
	for name, content := range files {
		out[name] = append(slices.Clone(content), n.line...)
	}
	return out, err
}

// upgrade replaces the function by the next version, which adds a line to each file.
func (w *world) upgrade(line string, opts ...Option) {
	version := w.core.version + 1
	w.core = New(newer{Renderer: render.NewRenderer(), line: line}, opts...)
	w.core.version = version
}

// release puts another version of the Blueprint into the channel. Its Deployments have an annotation more.
func (w *world) release(version string) {
	w.t.Helper()
	old := w.object("Blueprint", w.newest())
	b := old.DeepCopy()
	b.SetName("web-" + version)
	labels := old.GetLabels()
	delete(labels, "channel")
	old.SetLabels(labels)
	w.objects = append(w.objects, b)
	w.set("Blueprint", b.GetName(), version, "spec", "version")
	files, _, _ := unstructured.NestedStringMap(b.Object, "spec", "files")
	for name, content := range files {
		files[name] = strings.ReplaceAll(content, "kind: Deployment\nmetadata:\n", "kind: Deployment\nmetadata:\n  annotations: {version: \""+version+"\"}\n")
	}
	all := map[string]any{}
	for name, content := range files {
		all[name] = content
	}
	w.set("Blueprint", b.GetName(), all, "spec", "files")
}

// newest is the name of the Blueprint in the channel.
func (w *world) newest() string {
	for _, o := range w.objects {
		if o.GetKind() == "Blueprint" && o.GetLabels()["channel"] == "stable" {
			return o.GetName()
		}
	}
	return ""
}

// ask makes a RolloutRequest, as the provider labels it.
func (w *world) ask(name string, revision int64, change ...func(*rolloutv1alpha1.RolloutRequest)) {
	w.t.Helper()
	r := &rolloutv1alpha1.RolloutRequest{
		TypeMeta: metav1.TypeMeta{APIVersion: rolloutv1alpha1.GroupVersion.String(), Kind: "RolloutRequest"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.in.Claim.Namespace, Name: name, UID: "uid-of-request",
			Labels: rolloutv1alpha1.OpenLabels(w.in.Claim.APIGroup, w.in.Claim.Name),
		},
		Spec: rolloutv1alpha1.RolloutRequestSpec{
			DeploymentRef: rolloutv1alpha1.DeploymentReference{APIGroup: w.in.Claim.APIGroup, Kind: w.in.Claim.Kind, Name: w.in.Claim.Name},
			Action:        rolloutv1alpha1.ActionApproveUpdate, Revision: revision, RequestedBy: "ann",
		},
	}
	for _, c := range change {
		c(r)
	}
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.objects = append(w.objects, &unstructured.Unstructured{Object: o})
}

func (w *world) manual() {
	w.in.Spec.Blueprint.UpdatePolicy = deploymentv1alpha1.UpdateManual
}

// updated is what a story about updates looks at.
type updated struct {
	Revision  int64
	Ready     bool
	Blueprint string
	Update    deploymentv1alpha1.UpdateStatus
	Results   string
	// Lines is the last line of each Deployment that is asked for.
	Lines string
}

func (w *world) updated(out *Output) updated {
	w.t.Helper()
	u := updated{Revision: out.Status.Revision, Ready: out.Ready, Blueprint: out.Status.Blueprint.Name, Update: out.Status.Update}
	for _, r := range out.Status.Requests {
		u.Results = strings.TrimSpace(u.Results + " " + r.Name + "=" + r.Result)
	}
	lines := map[string]bool{}
	for _, d := range w.deliveries(out) {
		for _, t := range d.Spec.ForProvider.Trees {
			lines[w.version(t)] = true
		}
	}
	u.Lines = strings.Join(slices.Sorted(maps.Keys(lines)), " ")
	return u
}

// version says by which Blueprint, and which function, a tree was made.
func (w *world) version(t deliveryv1alpha1.Tree) string {
	w.t.Helper()
	if t.Action != deliveryv1alpha1.ActionDesired {
		return string(t.Action)
	}
	files, err := tree.Decode(t.Files)
	if err != nil {
		w.t.Fatal(err)
	}
	said := "1.0.0"
	text := string(files["deployment-shop.yaml"])
	if _, after, ok := strings.Cut(text, "version: "); ok {
		said, _, _ = strings.Cut(after, "\n")
	}
	if strings.HasSuffix(text, "# new\n") {
		said += "/new"
	}
	return said
}

func (w *world) wantUpdated(reason string, out *Output, want updated) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.updated(out)); diff != "" {
		w.t.Fatalf("\n%s\nRun(...): -want, +got:\n%s\n%s", reason, diff, out.Status.Message)
	}
}

func TestAutomaticFollowsTheChannel(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.release("1.1.0")
	w.wantUpdated("A new version in the channel is the next revision.", w.settle(), updated{Revision: 2, Ready: true, Blueprint: "web-1.1.0", Lines: "1.1.0"})
}

func TestManualWaitsForApproval(t *testing.T) {
	w := newWorld(t)
	w.manual()
	w.settle()
	w.release("1.1.0")
	held := updated{Revision: 1, Ready: true, Blueprint: "web-1.0.0", Update: deploymentv1alpha1.UpdateStatus{Blueprint: "web-1.1.0"}, Lines: "1.0.0"}
	out := w.settle()
	w.wantUpdated("Nothing is taken, and it says what waits.", out, held)
	if want := "An update waits: Blueprint web-1.1.0."; !strings.Contains(out.Status.Message, want) {
		t.Errorf("Run(...): want message with %q, got %q", want, out.Status.Message)
	}
	w.in.Status = deploymentv1alpha1.IntentDeploymentStatus{}
	w.wantUpdated("A lost status changes nothing.", w.call(), held)

	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	held.Revision = 2
	w.wantUpdated("A change of the intent goes out, with the Blueprint that it has.", w.settle(), held)
	w.set("Site", "edge1", "clusters/elsewhere", "spec", "repository", "path")
	held.Revision = 3
	w.wantUpdated("So does a change of a Site.", w.settle(), held)

	w.ask("early", 2)
	held.Results = "early=Stale"
	w.wantUpdated("Who saw another revision approves nothing.", w.settle(), held)
	w.remove("RolloutRequest", "early")
	w.ask("now", 3)
	out = w.call()
	w.wantUpdated("Who saw this one does.", out, updated{Revision: 4, Blueprint: "web-1.1.0", Lines: "1.1.0", Results: "now=Taken"})
	w.apply(out)
	w.wantUpdated("Asked again, it is the same.", w.call(), updated{Revision: 4, Blueprint: "web-1.1.0", Lines: "1.1.0", Results: "now=Taken"})
	w.wantUpdated("It ends.", w.settle(), updated{Revision: 4, Ready: true, Blueprint: "web-1.1.0", Lines: "1.1.0", Results: "now=Done"})
	for _, d := range w.deliveries(w.call()) {
		want := &rolloutv1alpha1.RequestReference{Name: "now", UID: "uid-of-request", By: "ann"}
		if diff := cmp.Diff(want, d.Spec.ForProvider.Order.RequestRef); diff != "" {
			t.Errorf("Run(...): requestRef: -want, +got:\n%s", diff)
		}
	}
	w.remove("RolloutRequest", "now")
	w.wantUpdated("The next one waits again.", w.settle(), updated{Revision: 4, Ready: true, Blueprint: "web-1.1.0", Lines: "1.1.0"})
}

func TestSpecOutrunsManual(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*world)
		want   updated
	}{
		"Version": {
			reason: "A version is taken at once.", change: func(w *world) { w.in.Spec.Blueprint.Name, w.in.Spec.Blueprint.Version = "web", "1.1.0" },
			want: updated{Revision: 2, Ready: true, Blueprint: "web-1.1.0", Lines: "1.1.0"},
		},
		"Policy": {
			reason: "So is what waited when nobody has to approve it any more.", change: func(w *world) { w.in.Spec.Blueprint.UpdatePolicy = deploymentv1alpha1.UpdateAutomatic },
			want: updated{Revision: 2, Ready: true, Blueprint: "web-1.1.0", Lines: "1.1.0"},
		},
		"Channel": {
			reason: "So is another channel.",
			change: func(w *world) {
				w.object("Blueprint", "web-1.0.0").SetLabels(map[string]string{"blueprint": "web", "channel": "old"})
				w.in.Spec.Blueprint.Channel = "old"
			},
			want: updated{Revision: 2, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.manual()
			w.settle()
			w.release("1.1.0")
			w.settle()
			tc.change(w)
			w.wantUpdated(tc.reason, w.settle(), tc.want)
		})
	}
}

// TestPinnedGone: the Blueprint that a deployment stays with is not there any more.
func TestPinnedGone(t *testing.T) {
	cases := map[string]struct {
		reason string
		smash  func(*world)
		update string
		lines  string
	}{
		"Deleted": {
			reason: "It was deleted.", smash: func(w *world) { w.release("1.1.0"); w.remove("Blueprint", "web-1.0.0") },
			update: "web-1.1.0", lines: "1.1.0",
		},
		"MadeAnew": {
			reason: "There is another one under its name, in the channel.",
			smash: func(w *world) {
				w.release("1.1.0")
				w.remove("Blueprint", "web-1.0.0")
				w.object("Blueprint", "web-1.1.0").SetName("web-1.0.0")
			},
			update: "web-1.0.0", lines: "1.1.0",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.manual()
			w.settle()
			tc.smash(w)
			out := w.call()
			w.wantFrozen(tc.reason, out)
			w.wantCondition(tc.reason, out, deploymentv1alpha1.TypeSitesFound, corev1.ConditionFalse, deploymentv1alpha1.ReasonBlueprintMissing)
			if diff := cmp.Diff(deploymentv1alpha1.UpdateStatus{Blueprint: tc.update}, out.Status.Update); diff != "" {
				t.Errorf("\n%s\nRun(...): update: -want, +got:\n%s", tc.reason, diff)
			}
			w.ask("mend", 1)
			w.wantUpdated("Approving the one in the channel mends it.", w.settle(), updated{Revision: 2, Ready: true, Blueprint: tc.update, Lines: tc.lines, Results: "mend=Done"})
		})
	}
}

func TestAmbiguousChannel(t *testing.T) {
	w := newWorld(t)
	w.manual()
	w.settle()
	w.release("1.1.0")
	w.object("Blueprint", "web-1.0.0").SetLabels(map[string]string{"blueprint": "web", "channel": "stable"})
	out := w.call()
	w.wantFrozen("Two objects under one pair.", out)
	w.wantCondition("Two objects under one pair.", out, deploymentv1alpha1.TypeSitesFound, corev1.ConditionFalse, deploymentv1alpha1.ReasonBlueprintAmbiguous)
	for _, name := range []string{"web-1.0.0", "web-1.1.0"} {
		if !strings.Contains(out.Status.Message, name) {
			t.Errorf("Run(...): want message with %q, got %q", name, out.Status.Message)
		}
	}
}

// TestApprovals asks for what cannot be done, or not now.
func TestApprovals(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*world)
		want   string
		// revision that follows.
		revision int64
	}{
		"Done":      {reason: "An update that waits is approved.", change: func(w *world) { w.ask("a", 1) }, want: "a=Done", revision: 2},
		"Digest":    {reason: "The digest is that of the revision.", change: func(w *world) { w.ask("a", 1, digestOf(w.current().Request)) }, want: "a=Done", revision: 2},
		"OtherOne":  {reason: "It is that of another one.", change: func(w *world) { w.ask("a", 1, digestOf("sha256:0")) }, want: "a=Stale", revision: 1},
		"Future":    {reason: "There is no such revision.", change: func(w *world) { w.ask("a", 9) }, want: "a=UnknownRevision", revision: 1},
		"NoUpdate":  {reason: "There is nothing to approve.", change: func(w *world) { w.remove("Blueprint", "web-1.1.0"); w.ask("a", 1) }, want: "a=NoUpdate", revision: 1},
		"Later":     {reason: "An action that this version does not know.", change: func(w *world) { w.ask("a", 1, action(rolloutv1alpha1.ActionAbort)) }, want: "a=NotSupported", revision: 1},
		"Suspended": {reason: "Nothing new is delivered.", change: func(w *world) { w.in.Spec.Suspend = new(true); w.ask("a", 1) }, want: "a=Waiting", revision: 1},
		"Frozen":    {reason: "Something else is wrong.", change: func(w *world) { w.say("{"); w.ask("a", 1) }, want: "a=Waiting", revision: 1},
		"Two":       {reason: "The older one has it, and the younger one saw another revision.", change: func(w *world) { w.ask("a", 1, born(5)); w.ask("b", 1, born(4), uid("b")) }, want: "b=Done a=Stale", revision: 2},
		"Namesakes": {reason: "Of one age, the name decides.", change: func(w *world) { w.ask("b", 1); w.ask("a", 1, uid("a")) }, want: "a=Done b=Stale", revision: 2},
		"Forged":    {reason: "A label is not what a request says.", change: func(w *world) { w.ask("a", 1, of("other")) }, revision: 1},
		"Untold":    {reason: "Nobody told what a repository remembers.", change: func(w *world) { w.forget(); w.ask("a", 1) }, want: "a=Waiting", revision: 1},
		"Broken": {
			reason: "The update cannot be delivered, and nothing changes.",
			change: func(w *world) {
				w.set("Blueprint", "web-1.1.0", "resources: [missing.yaml]", "spec", "files", "kustomization.yaml")
				w.ask("a", 1)
			},
			want: "a=UpdateFailed", revision: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.manual()
			w.settle()
			w.release("1.1.0")
			w.settle()
			tc.change(w)
			var out *Output
			if name == "Untold" {
				out = w.call()
			} else {
				out = w.settle()
			}
			got := w.updated(out)
			if name == "Suspended" && got.Update.Blueprint != "web-1.1.0" {
				t.Errorf("\n%s\nRun(...): what waits is %+v", tc.reason, got.Update)
			}
			if diff := cmp.Diff(tc.want, got.Results) + cmp.Diff(tc.revision, got.Revision); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s\n%s", tc.reason, diff, out.Status.Message)
			}
			for _, r := range out.Status.Requests {
				if (r.Result == string(rolloutv1alpha1.ResultUpdateFailed)) != strings.Contains(r.Message, "missing.yaml") {
					t.Errorf("\n%s\nRun(...): message of %s: %q", tc.reason, r.Result, r.Message)
				}
			}
		})
	}
}

func digestOf(d string) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Request = d }
}

func action(a rolloutv1alpha1.Action) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Action = a }
}

func born(minute int) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) {
		r.CreationTimestamp = metav1.NewTime(time.Date(2031, 12, 17, 13, minute, 0, 0, time.UTC))
	}
}

func uid(name string) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) { r.UID = types.UID("uid-of-" + name) }
}

func of(deployment string) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.Name = deployment }
}

// TestNewRenderer upgrades the function, whose files have another line then, under both policies.
func TestNewRenderer(t *testing.T) {
	const line = "# new\n"
	same := updated{Revision: 1, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0"}
	taken := updated{Revision: 2, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0/new"}
	waits := same
	waits.Update.Renderer = "2"
	cases := map[string]struct {
		reason string
		line   string
		manual bool
		spread time.Duration
		// away is how long the time of the deployment is away.
		away time.Duration
		want updated
		// renderer that the status names, and whether the time decided.
		renderer string
		dated    bool
	}{
		"SameBytes":  {reason: "No byte changes, so nobody is delivered again.", want: same, renderer: "2"},
		"AtOnce":     {reason: "Without a spread it is taken at once.", line: line, want: taken, renderer: "2"},
		"InTurn":     {reason: "At its time it is taken.", line: line, spread: RendererSpread, want: taken, renderer: "2"},
		"NotYet":     {reason: "Before, it waits.", line: line, spread: RendererSpread, away: time.Hour, want: waits, renderer: "1", dated: true},
		"ManualWait": {reason: "Somebody has to approve it.", line: line, manual: true, want: waits, renderer: "1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tc.manual {
				w.manual()
			}
			w.settle()
			w.upgrade(tc.line, WithRendererSpread(tc.spread))
			slot := rollout.SlotOf(w.in.Claim, w.core.version, tc.spread)
			w.in.Now = metav1.NewTime(w.in.Now.Add(slot.Wait(w.in.Now.Time) - tc.away))
			out := w.settle()
			w.wantUpdated(tc.reason, out, tc.want)
			if out.Dated != tc.dated || out.Wait != tc.away {
				t.Errorf("\n%s\nRun(...): want dated %t for %s, got %t for %s", tc.reason, tc.dated, tc.away, out.Dated, out.Wait)
			}
			if diff := cmp.Diff(tc.renderer, out.Status.Renderer); diff != "" {
				t.Errorf("\n%s\nRun(...): renderer: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHeldRenderer: what is not about the trees still changes while a new renderer waits, and a change of the intent goes out with it.
func TestHeldRenderer(t *testing.T) {
	w := newWorld(t)
	w.manual()
	w.settle()
	w.upgrade("# new\n")
	w.settle()
	w.in.Spec.DeliveryConfig.DeletionPolicy = deploymentv1alpha1.DeletionOrphan
	out := w.settle()
	waits := updated{Revision: 1, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0", Update: deploymentv1alpha1.UpdateStatus{Renderer: "2"}}
	w.wantUpdated("How it is deleted changes no tree.", out, waits)
	for name, d := range w.deliveries(out) {
		if slices.Contains(d.Spec.ManagementPolicies, xpv2.ManagementActionAll) {
			t.Errorf("Run(...): %s would still remove its directories: %v", name, d.Spec.ManagementPolicies)
		}
	}
	w.ask("now", 1)
	w.wantUpdated("An approval takes it.", w.settle(), updated{Revision: 2, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0/new", Results: "now=Done"})
	w.remove("RolloutRequest", "now")
	w.upgrade("# newer\n")
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	out = w.settle()
	w.wantUpdated("An intent goes out with the newest renderer.", out, updated{Revision: 3, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0"})
	if diff := cmp.Diff("3", out.Status.Renderer); diff != "" {
		t.Errorf("Run(...): renderer: -want, +got:\n%s", diff)
	}
}

// TestHeldAndLost: the object that held the trees is gone while a new renderer waits. Nobody can make those trees any more, so
// they stay in Git as they are.
func TestHeldAndLost(t *testing.T) {
	w := newWorld(t)
	w.manual()
	w.settle()
	remembered, ids := w.current(), compose.TreeIDs(w.deliveries(w.call()))
	w.upgrade("# new\n")
	w.settle()
	clear(w.in.Observed)
	w.apply(w.call())
	w.remember(remembered, ids)
	out := w.call()
	w.wantUpdated("Git remembers the order, and its trees are kept.", out, updated{
		Revision: 1, Blueprint: "web-1.0.0", Lines: "Keep", Update: deploymentv1alpha1.UpdateStatus{Renderer: "2"},
	})
	w.apply(out)
	w.remember(remembered, ids)
	w.wantUpdated("They count as delivered.", w.call(), updated{
		Revision: 1, Ready: true, Blueprint: "web-1.0.0", Lines: "Keep", Update: deploymentv1alpha1.UpdateStatus{Renderer: "2"},
	})
}

// TestMovedRepository: a delivery that goes to another repository than its name says is held, and left alone, like any other.
func TestMovedRepository(t *testing.T) {
	w := newWorld(t)
	w.manual()
	w.settle()
	w.set("ClusterProviderConfig", "default", "https://git.example.org/other.git", "spec", "git", "url")
	moved := updated{Revision: 2, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0"}
	w.wantUpdated("Another repository is the next revision.", w.settle(), moved)
	w.upgrade("")
	w.wantUpdated("A renderer that changes no byte changes nothing.", w.settle(), moved)
	w.upgrade("# new\n")
	moved.Update.Renderer = "3"
	w.wantUpdated("One that does waits.", w.settle(), moved)
}

// current is the order that is asked for.
func (w *world) current() rolloutv1alpha1.Order {
	w.t.Helper()
	for _, d := range w.deliveries(w.call()) {
		return d.Spec.ForProvider.Order
	}
	w.t.Fatal("nothing is ordered")
	return rolloutv1alpha1.Order{}
}

// forget empties what the deliveries say about Git.
func (w *world) forget() {
	for _, o := range w.in.Observed {
		delete(o.Object, "status")
	}
}

// remember lets deliveries say that Git holds an order, and trees by their place.
func (w *world) remember(o rolloutv1alpha1.Order, ids map[string]string) {
	w.t.Helper()
	order, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&o)
	if err != nil {
		w.t.Fatal(err)
	}
	for name, d := range w.in.Observed {
		var trees []any
		for place, id := range ids {
			path := place[strings.LastIndex(place, " ")+1:]
			trees = append(trees, map[string]any{"site": "edge", "path": path, "tree": id, "revision": o.Revision})
		}
		w.status(name, order, condition("Ready", "True", "Delivered", d), condition("Synced", "True", "ReconcileSuccess", d))
		if err := unstructured.SetNestedSlice(d.Object, trees, "status", "atProvider", "trees"); err != nil {
			w.t.Fatal(err)
		}
	}
}
