package deployment

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestApprovals requests updates that cannot be delivered, or not now.
func TestApprovals(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*world)
		want   string
		// revision that follows.
		revision int64
	}{
		"Done": {reason: "An update that waits is approved.", change: func(w *world) { w.ask("a", 1) }, want: "a=Done", revision: 2},
		"Digest": {
			reason: "The digest is that of the revision.",
			change: func(w *world) { w.ask("a", 1, digestOf(w.ledger().Current.Request.Digest())) }, want: "a=Done", revision: 2,
		},
		"OtherOne": {
			reason: "A RolloutRequest that names the digest of another revision is stale.",
			change: func(w *world) { w.ask("a", 1, digestOf("sha256:0")) }, want: "a=Stale", revision: 1,
		},
		"Update": {
			reason: "The request names the waiting update.", want: "a=Done", revision: 2,
			change: func(w *world) {
				w.ask("a", 1, saw("web-1.1.0", w.digest("web-1.1.0"), "1"))
			},
		},
		"OtherUpdate": {
			reason: "A Blueprint of another name is not approved.",
			change: func(w *world) { w.ask("a", 1, saw("web-1.0.9", "", "")) }, want: "a=Stale", revision: 1,
		},
		"OtherContent": {
			reason: "A Blueprint with another digest is not approved.",
			change: func(w *world) { w.ask("a", 1, saw("web-1.1.0", "sha256:0", "")) }, want: "a=Stale", revision: 1,
		},
		"OtherRenderer": {
			reason: "A renderer of another version is not approved.",
			change: func(w *world) { w.ask("a", 1, saw("", "", "2")) }, want: "a=Stale", revision: 1,
		},
		"Future":   {reason: "The request names an unknown revision.", change: func(w *world) { w.ask("a", 9) }, want: "a=UnknownRevision", revision: 1},
		"NoUpdate": {reason: "There is nothing to approve.", change: func(w *world) { w.remove("Blueprint", "web-1.1.0"); w.ask("a", 1) }, want: "a=NoUpdate", revision: 1},
		"Later": {
			reason: "An action that this version does not know.",
			change: func(w *world) { w.ask("a", 1, action("Dance")) }, want: "a=NotSupported", revision: 1,
		},
		"NoRepository": {
			reason: "The ledger does not move to a repository that nothing is delivered to.",
			change: func(w *world) { w.ask("a", 1, movesLedgerTo("regional")) }, want: "a=UnknownRepository", revision: 1,
		},
		"ForcedAway": {
			reason: "Force does not move the ledger to a repository that nothing is delivered to.",
			change: func(w *world) { w.ask("a", 1, movesLedgerTo("regional"), forced) }, want: "a=UnknownRepository", revision: 1,
		},
		"SameHome": {
			reason: "The ledger is where the request wants it.",
			change: func(w *world) { w.ask("a", 1, movesLedgerTo(w.ledger().Home)) }, want: "a=SameHome", revision: 1,
		},
		"Suspended":  {reason: "A suspended deployment takes no update.", change: func(w *world) { w.in.Spec.Suspend = new(true); w.ask("a", 1) }, want: "a=Waiting", revision: 1},
		"Frozen":     {reason: "A deployment with a problem takes no update.", change: func(w *world) { w.say("{"); w.ask("a", 1) }, want: "a=Waiting", revision: 1},
		"Two":        {reason: "The older one has it, and the younger one saw another revision.", change: func(w *world) { w.ask("a", 1, born(5)); w.ask("b", 1, born(4), uid("b")) }, want: "b=Done a=Stale", revision: 2},
		"TwoUpdates": {reason: "A request for another update does not hold back a request for the waiting update.", change: func(w *world) { w.ask("a", 1, born(4), saw("web-1.0.9", "", "")); w.ask("b", 1, born(5), uid("b")) }, want: "a=Stale b=Done", revision: 2},
		"Namesakes":  {reason: "Of one age, the name decides.", change: func(w *world) { w.ask("b", 1); w.ask("a", 1, uid("a")) }, want: "a=Done b=Stale", revision: 2},
		"Forged":     {reason: "A label does not override the spec of a request.", change: func(w *world) { w.ask("a", 1, of("other")) }, revision: 1},
		"Untold":     {reason: "A request waits while the record of a repository is unknown.", change: func(w *world) { w.forget(); w.ask("a", 1) }, want: "a=Waiting", revision: 1},
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
				t.Errorf("\n%s\nRun(...): the waiting update is %+v", tc.reason, got.Update)
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

// TestRequestWhileObjectsAreLost loses all objects and the status of a deployment with two revisions, while a user asks for the second one again.
func TestRequestWhileObjectsAreLost(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	w.settle()
	clear(w.in.Observed)
	w.in.Status = deploymentv1alpha1.IntentDeploymentStatus{}
	w.ask("a", 2, action(rolloutv1alpha1.ActionRetry))
	got := []string{w.updated(w.call()).Results, w.updated(w.settle()).Results}
	if diff := cmp.Diff([]string{"a=Waiting", "a=Done"}, got); diff != "" {
		t.Errorf("\nA request is not refused for good by a call that sees no ledger.\nresults: -want, +got:\n%s", diff)
	}
}

// TestRequestOfBlockedRevision asks for a revision again, which another claim blocks by then.
func TestRequestOfBlockedRevision(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.ask("a", 1, action(rolloutv1alpha1.ActionRetry))
	w.apply(w.call())
	w.deliver()
	w.reportReady(deliveryv1alpha1.ReasonObjectConflict)
	out := w.call()
	got := []string{string(out.Status.Phase), w.updated(out).Results}
	if diff := cmp.Diff([]string{"Failed", "a=Taken"}, got); diff != "" {
		t.Errorf("\nA revision without a verdict has not ended, and neither has the request for it.\n-want, +got:\n%s\n%s", diff, out.Status.Message)
	}
}

func digestOf(d string) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Request = d }
}

func saw(blueprint, digest, renderer string) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) {
		r.Spec.Update = &rolloutv1alpha1.UpdateReference{Blueprint: blueprint, Digest: digest, Renderer: renderer}
	}
}

// digest of a Blueprint, as it is asked for.
func (w *world) digest(name string) string {
	w.t.Helper()
	b := &catalogv1alpha1.Blueprint{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(w.object("Blueprint", name).Object, b); err != nil {
		w.t.Fatal(err)
	}
	d, err := digest.Of(b.Spec, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func action(a rolloutv1alpha1.Action) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Action = a }
}

func movesLedgerTo(configuration string) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) {
		r.Spec.Action, r.Spec.ToConfigRef = rolloutv1alpha1.ActionMoveLedger, &rolloutv1alpha1.ConfigReference{Name: configuration}
	}
}

func forced(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Force = new(true) }

func born(minute int) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) {
		r.CreationTimestamp = metav1.NewTime(time.Date(2031, 12, 17, 13, minute, 0, 0, time.UTC))
	}
}

// madeIn a year, such as one after all that is recorded.
func madeIn(year int) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) {
		r.CreationTimestamp = metav1.NewTime(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
	}
}

func uid(name string) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) { r.UID = types.UID("uid-of-" + name) }
}

func of(deployment string) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.Name = deployment }
}

// TestPromote asks to release the second of two waves, neither of which waits for a person.
func TestPromote(t *testing.T) {
	type result struct {
		Revision   int64
		IsPromoted bool
		Results    string
	}
	cases := map[string]struct {
		reason string
		say    string
		want   result
	}{
		"Unpaused": {
			reason: "A step that no pause holds back cannot be released, and the order stays as it is.",
			want:   result{Revision: 2, Results: "p=UnknownStep"},
		},
		"Next": {
			reason: "A call that starts revision 3 refuses a request about revision 2.",
			say:    `{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 4}`,
			want:   result{Revision: 3, Results: "p=Stale"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge2"}}}
			w.settle()
			w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
			w.apply(w.call())
			w.deliver()
			w.ask("p", 2, action("Promote"), func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Step = new(int32(1)) })
			if tc.say != "" {
				w.say(tc.say)
			}
			out := w.call()
			got := result{Results: w.updated(out).Results}
			for _, d := range w.deliveries(out) {
				got.Revision = max(got.Revision, d.Spec.ForProvider.Position.Revision)
				for _, e := range d.Spec.ForProvider.Ledger.Events {
					got.IsPromoted = got.IsPromoted || e.Promoted != nil
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
