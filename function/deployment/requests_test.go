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
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestApprovals asks for what cannot be done, or not now.
func TestApprovals(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*world)
		want   string
		// revision that follows.
		revision int64
	}{
		"Done":     {reason: "An update that waits is approved.", change: func(w *world) { w.ask("a", 1) }, want: "a=Done", revision: 2},
		"Digest":   {reason: "The digest is that of the revision.", change: func(w *world) { w.ask("a", 1, digestOf(w.ledger().Current.Request.Digest())) }, want: "a=Done", revision: 2},
		"OtherOne": {reason: "A RolloutRequest that names the digest of another revision is stale.", change: func(w *world) { w.ask("a", 1, digestOf("sha256:0")) }, want: "a=Stale", revision: 1},
		"Update": {
			reason: "The update is the one that waits.", want: "a=Done", revision: 2,
			change: func(w *world) {
				w.ask("a", 1, saw("web-1.1.0", w.digest("web-1.1.0"), "1"))
			},
		},
		"OtherUpdate":   {reason: "A Blueprint of another name is not approved.", change: func(w *world) { w.ask("a", 1, saw("web-1.0.9", "", "")) }, want: "a=Stale", revision: 1},
		"OtherContent":  {reason: "A Blueprint with another digest is not approved.", change: func(w *world) { w.ask("a", 1, saw("web-1.1.0", "sha256:0", "")) }, want: "a=Stale", revision: 1},
		"OtherRenderer": {reason: "A renderer of another version is not approved.", change: func(w *world) { w.ask("a", 1, saw("", "", "2")) }, want: "a=Stale", revision: 1},
		"Future":        {reason: "There is no such revision.", change: func(w *world) { w.ask("a", 9) }, want: "a=UnknownRevision", revision: 1},
		"NoUpdate":      {reason: "There is nothing to approve.", change: func(w *world) { w.remove("Blueprint", "web-1.1.0"); w.ask("a", 1) }, want: "a=NoUpdate", revision: 1},
		"Later":         {reason: "An action that this version does not know.", change: func(w *world) { w.ask("a", 1, action("Dance")) }, want: "a=NotSupported", revision: 1},
		"NoRepository":  {reason: "The ledger does not move to a repository that nothing is delivered to.", change: func(w *world) { w.ask("a", 1, movesLedgerTo("regional")) }, want: "a=UnknownRepository", revision: 1},
		"ForcedAway":    {reason: "Force does not move the ledger to a repository that nothing is delivered to.", change: func(w *world) { w.ask("a", 1, movesLedgerTo("regional"), forced) }, want: "a=UnknownRepository", revision: 1},
		"SameHome":      {reason: "The ledger is where the request wants it.", change: func(w *world) { w.ask("a", 1, movesLedgerTo(w.ledger().Home)) }, want: "a=SameHome", revision: 1},
		"Suspended":     {reason: "A suspended deployment takes no update.", change: func(w *world) { w.in.Spec.Suspend = new(true); w.ask("a", 1) }, want: "a=Waiting", revision: 1},
		"Frozen":        {reason: "A deployment with a problem takes no update.", change: func(w *world) { w.say("{"); w.ask("a", 1) }, want: "a=Waiting", revision: 1},
		"Two":           {reason: "The older one has it, and the younger one saw another revision.", change: func(w *world) { w.ask("a", 1, born(5)); w.ask("b", 1, born(4), uid("b")) }, want: "b=Done a=Stale", revision: 2},
		"Namesakes":     {reason: "Of one age, the name decides.", change: func(w *world) { w.ask("b", 1); w.ask("a", 1, uid("a")) }, want: "a=Done b=Stale", revision: 2},
		"Forged":        {reason: "A label is not what a request says.", change: func(w *world) { w.ask("a", 1, of("other")) }, revision: 1},
		"Untold":        {reason: "Nobody told what a repository remembers.", change: func(w *world) { w.forget(); w.ask("a", 1) }, want: "a=Waiting", revision: 1},
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
	d, err := w.core.blueprintDigest(b.Spec)
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

func uid(name string) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) { r.UID = types.UID("uid-of-" + name) }
}

func of(deployment string) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.Name = deployment }
}
