package application

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
)

// runUnwritten calls the function, whose status waits for the call that follows.
func (w *world) runUnwritten() {
	w.Helper()
	previous := w.in.Status
	w.run()
	w.in.Status = previous
}

// passes lets time pass.
func (w *world) passes(d time.Duration) { w.in.Now = metav1.NewTime(w.in.Now.Add(d)) }

// builtAt has the build end at a time.
func (w *world) builtAt(timestamp time.Time) {
	w.Helper()
	w.builds("Built", func(o *buildv1alpha1.ImageBuildObservation) {
		imageOf(firstCommit, newImage)(o)
		o.Latest.At = new(metav1.NewTime(timestamp))
	})
}

// TestHandingOver has a commit whose image was just built: the status waits until the deployment has observed the image.
func TestHandingOver(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(w *world)
		want   bool
	}{
		"Built": {reason: "A status that waits for the image waits for the deployment, too.", want: true},
		"Given": {reason: "A deployment that has not taken up the image is waited for.", change: func(w *world) {
			w.runUnwritten()
			w.observe(DeploymentName, `{intentDigest: "sha256:before"}`)
		}, want: true},
		"Taken": {reason: "A deployment that has taken up the image is shown.", change: func(w *world) {
			w.runUnwritten()
			w.deployed()
		}},
		"Refused": {reason: "A deployment that Crossplane does not carry out is shown.", change: func(w *world) {
			w.runUnwritten()
			w.observe(DeploymentName, `{conditions: [{type: Synced, status: "False", reason: ReconcilePaused}]}`)
		}},
		"Unresponsive": {reason: "A deployment whose circuit breaker is open is shown: it takes nothing up before that closes.", change: func(w *world) {
			w.runUnwritten()
			w.observe(DeploymentName, `{conditions: [{type: Responsive, status: "False", reason: WatchCircuitOpen}]}`)
		}},
		"Responsive": {reason: "A deployment whose circuit breaker is closed is waited for.", change: func(w *world) {
			w.runUnwritten()
			w.observe(DeploymentName, `{conditions: [{type: Responsive, status: "True", reason: WatchCircuitClosed}]}`)
		}, want: true},
		"Deleted": {reason: "A deployment that is being deleted is shown: it takes nothing up, and its removal from Git may take long.", change: func(w *world) {
			w.runUnwritten()
			w.observe(DeploymentName, `{intentDigest: "sha256:before"}`)
			w.in.Observed[DeploymentName].SetDeletionTimestamp(&metav1.Time{Time: time.Date(2031, 12, 17, 12, 0, 0, 0, time.UTC)})
		}},
		"NotCreated": {reason: "A deployment that cannot be created is not waited for beyond the limit.", change: func(w *world) { w.runUnwritten(); w.passes(handoverLimit) }},
		"NothingTakesUp": {reason: "A deployment that nothing carries out is not waited for beyond the limit.", change: func(w *world) {
			w.runUnwritten()
			w.observe(DeploymentName, `{intentDigest: "sha256:before"}`)
			w.passes(handoverLimit)
		}},
		"Soon":     {reason: "A deployment has until the limit to take up the image.", change: func(w *world) { w.runUnwritten(); w.passes(handoverLimit - time.Second) }, want: true},
		"Built1h":  {reason: "The time of a build does not count for the deployment.", change: func(w *world) { w.passes(time.Hour); w.builtAt(w.in.Now.Time) }, want: true},
		"BuiltAgo": {reason: "An image that was built long ago is shown at once.", change: func(w *world) { w.passes(2 * time.Hour); w.builtAt(w.in.Now.Add(-time.Hour)) }},
		"Clocks": {
			reason: "A build that ended in the future says nothing about how long the deployment takes already.",
			change: func(w *world) { w.builtAt(w.in.Now.Add(time.Hour)) },
		},
		"Commit":  {reason: "A status about another commit is written at once.", change: func(w *world) { w.in.Status.Source.Commit = secondCommit }},
		"Spec":    {reason: "A status about another spec is written at once.", change: func(w *world) { w.in.Status.SpecDigest = "sha256:other" }},
		"Running": {reason: "An image that runs is not reported for the next one.", change: func(w *world) { w.in.Status.Phase = v1alpha1.PhaseRunning }},
		"Problem": {reason: "A spec that cannot be carried out is shown.", change: func(w *world) { w.in.Name = "1shop" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newSourceWorld(t)
			w.run()
			w.builds("Building", atCommit(firstCommit))
			w.run()
			w.builds("Built", imageOf(firstCommit, newImage))
			if tc.change != nil {
				tc.change(w)
			}
			w.run()
			if diff := cmp.Diff(tc.want, w.out.Passing); diff != "" {
				t.Errorf("\n%s\nPassing: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHandoverEnds has a deployment that nothing carries out: after the limit the status says that it has not taken up the image.
func TestHandoverEnds(t *testing.T) {
	w := newSourceWorld(t)
	w.run()
	w.builds("Building", atCommit(firstCommit))
	w.run()
	w.builds("Built", imageOf(firstCommit, newImage))
	w.runUnwritten()
	if !w.out.Passing || w.out.Wait != handoverLimit {
		t.Errorf("Passing: %t, again in %s, want in %s", w.out.Passing, w.out.Wait, handoverLimit)
	}
	w.passes(handoverLimit)
	w.run()
	got := []string{string(w.in.Status.Phase), w.in.Status.Message}
	if diff := cmp.Diff([]string{"Pending", "IntentDeployment shop has not taken up this spec yet."}, got); diff != "" || w.out.Passing {
		t.Errorf("The status of a deployment without a controller: -want, +got:\n%s", diff)
	}
}
