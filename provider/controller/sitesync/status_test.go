package sitesync

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

func TestAlike(t *testing.T) {
	is := func(change ...func(*decision)) decision {
		d := decision{next: before(positionOf(2, 0), v1alpha1.SiteLive), reason: v1alpha1.ReasonSyncing, message: "a"}
		for _, fn := range change {
			fn(&d)
		}
		return d
	}
	later := metav1.NewTime(noon().Add(time.Second))
	cases := map[string]struct {
		reason string
		other  decision
		want   bool
	}{
		"Same": {reason: "Nothing changed.", other: is(), want: true},
		"Times": {reason: "What is not shown yet has the time of the last look.", other: is(func(d *decision) {
			d.next.Sites[0].LiveSince, d.next.Sites[0].StartedAt, d.next.StartedAt = &later, &later, &later
		}), want: true},
		"State":   {reason: "A Site is in another state.", other: is(func(d *decision) { d.next.Sites[0].State = v1alpha1.SiteSyncing })},
		"Commit":  {reason: "A status with another commit is another state.", other: is(func(d *decision) { d.next.Sites[0].Commit = "c9" })},
		"Reason":  {reason: "All of them say something else.", other: is(func(d *decision) { d.reason = v1alpha1.ReasonWaiting })},
		"Message": {reason: "A status with another message is another state.", other: is(func(d *decision) { d.message = "b" })},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			one := is()
			if got := isSameState(one, tc.other); got != tc.want {
				t.Errorf("\n%s\nisSameState(...): want %t, got %t", tc.reason, tc.want, got)
			}
			if one.next.Sites[0].LiveSince == nil {
				t.Error("What is compared is not changed.")
			}
		})
	}
}

// TestNextPosition asks a SiteSync in tracks whose Sites are live for its next step.
func TestNextPosition(t *testing.T) {
	inTracks := func(f *facts) { f.spec.Sites[0].Traffic = &v1alpha1.SiteTraffic{} }
	cases := map[string]struct {
		reason string
		site   siteFacts
		change func(*facts)
		after  time.Duration
		want   bool
	}{
		"Seen":      {reason: "That a step was seen is not written alone.", site: says(v1alpha1.SiteReasonProgressing), change: inTracks},
		"Long":      {reason: "A step that takes longer is written.", site: says(v1alpha1.SiteReasonProgressing), change: inTracks, after: still, want: true},
		"Live":      {reason: "A step that is live is written at once.", site: live(func(s *siteFacts) { s.traffic = &trafficFacts{} }), change: inTracks, want: true},
		"Denied":    {reason: "A refusal is written with what follows.", site: siteFacts{denied: "no"}, change: inTracks, after: still, want: true},
		"Plain":     {reason: "Without tracks each position is written at once.", site: says(v1alpha1.SiteReasonProgressing), change: func(*facts) {}, want: true},
		"TimedOut":  {reason: "A Site that took too long is written at once.", site: says(v1alpha1.SiteReasonProgressing), change: func(f *facts) { inTracks(f); f.spec.SyncWaitTimeout = "0s" }, want: true},
		"Promoted":  {reason: "A promotion is written at once.", site: says(v1alpha1.SiteReasonProgressing), change: func(f *facts) { inTracks(f); f.spec.Pause, f.spec.Promoted = "10s", true }, want: true},
		"WithPause": {reason: "A pause that has not begun is no news.", site: says(v1alpha1.SiteReasonProgressing), change: func(f *facts) { inTracks(f); f.spec.Pause = "10s" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := testFacts(tc.site, tc.change)
			f.before, f.spec.Position = before(positionOf(2, 0), v1alpha1.SiteLive), positionOf(2, 1)
			s := &v1alpha1.SiteSync{}
			s.SetGeneration(2)
			s.Spec.ForProvider, s.Status.AtProvider = f.spec, *f.before.DeepCopy()
			s.SetConditions(xpv2.Available().WithObservedGeneration(1))
			e := &external{connector: &connector{now: func() time.Time { return f.now }}, note: newMemory().NoteFor(key())}
			e.updateStatus(s, decideStatus(f))
			f.now = f.now.Add(tc.after)
			if tc.after > 0 {
				e.updateStatus(s, decideStatus(f))
			}
			if got := s.Status.AtProvider.ObservedPosition() == *positionOf(2, 1); got != tc.want {
				t.Errorf("\n%s\nthe position was written: want %t, got %t", tc.reason, tc.want, got)
			}
			if !tc.want && !e.note.next.After(f.now) {
				t.Errorf("\n%s\nthe next look is at %s", tc.reason, e.note.next)
			}
		})
	}
}

// TestNextPositionIsQuick lets the quick look find a new step of a SiteSync in tracks, and ask the engine to sync.
func TestNextPositionIsQuick(t *testing.T) {
	w := newWorld(t)
	commit := w.deliver("green")
	w.askFor(1)
	w.flux(commit, false)
	w.until("Live | Live")
	s := w.get()
	s.Spec.ForProvider.Sites[0].Traffic = &v1alpha1.SiteTraffic{Drain: "30s"}
	s.Spec.ForProvider.Sites[0].Tree = "0000000000000000000000000000000000000001"
	s.Spec.ForProvider.Position.Step = 1
	s.SetGeneration(s.GetGeneration() + 1)
	w.must(w.kube.Update(w.Context(), s))
	before, thorough := w.get().Status, w.thorough
	w.reconcile()
	if diff := cmp.Diff(before, w.get().Status); diff != "" || w.thorough != thorough {
		t.Errorf("a step that is not live yet was reconciled in full %d times, and its status changed: -want, +got:\n%s", w.thorough-thorough, diff)
	}
	w.clock = w.clock.Add(still)
	w.reconcile()
	if got := w.get().Status.AtProvider.ObservedPosition().Step; got != 1 {
		t.Errorf("a step that takes longer is not in the status, which is about step %d", got)
	}
}
