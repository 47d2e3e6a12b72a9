package sitesync

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/proof"
)

func TestAlike(t *testing.T) {
	decisionWith := func(change ...func(*proof.Decision)) proof.Decision {
		d := proof.Decision{Next: before(positionOf(2, 0), v1alpha1.SiteLive), Reason: v1alpha1.ReasonSyncing, Message: "a"}
		for _, fn := range change {
			fn(&d)
		}
		return d
	}
	later := metav1.NewTime(noon().Add(time.Second))
	cases := map[string]struct {
		reason string
		other  proof.Decision
		want   bool
	}{
		"Same": {reason: "Nothing changed.", other: decisionWith(), want: true},
		"Times": {reason: "A change that is not shown yet has the time of the last look.", other: decisionWith(func(d *proof.Decision) {
			d.Next.Sites[0].LiveSince, d.Next.Sites[0].StartedAt, d.Next.StartedAt = &later, &later, &later
		}), want: true},
		"State":   {reason: "A Site is in another state.", other: decisionWith(func(d *proof.Decision) { d.Next.Sites[0].State = v1alpha1.SiteSyncing })},
		"Commit":  {reason: "A status with another commit is another state.", other: decisionWith(func(d *proof.Decision) { d.Next.Sites[0].Commit = "c9" })},
		"Reason":  {reason: "Another reason is another state.", other: decisionWith(func(d *proof.Decision) { d.Reason = v1alpha1.ReasonWaiting })},
		"Message": {reason: "A status with another message is another state.", other: decisionWith(func(d *proof.Decision) { d.Message = "b" })},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			original := decisionWith()
			if got := isSameState(original, tc.other); got != tc.want {
				t.Errorf("\n%s\nisSameState(...): want %t, got %t", tc.reason, tc.want, got)
			}
			if original.Next.Sites[0].LiveSince == nil {
				t.Error("The comparison does not change its arguments.")
			}
		})
	}
}

// TestLostHealth has a Site that is live since noon, whose engine reported healthy objects. A Gate may pass as long as the status shows
// that.
func TestLostHealth(t *testing.T) {
	cases := map[string]struct {
		reason string
		health string
		after  time.Duration
		want   string
	}{
		"Lost": {
			reason: "A fault that an engine reports of a Site which went live lately is written at once.",
			health: "Progressing", after: time.Minute, want: "Progressing",
		},
		"Degraded": {reason: "Any other word for a fault is written at once, too.", health: "Degraded", after: time.Minute, want: "Degraded"},
		"Unknown":  {reason: "An engine that is about to look again reports nothing urgent.", health: "Unknown", after: time.Minute, want: "Healthy"},
		"Silent":   {reason: "An engine that reports no health for a moment reports nothing urgent.", after: time.Minute, want: "Healthy"},
		"Late": {
			reason: "A fault of a Site that is live for long is progress like any other.",
			health: "Progressing", after: healthAlertTime, want: "Healthy",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := testFacts(live(func(s *proof.SiteFacts) { s.Engine.Health = tc.health }))
			f.Last, f.Now = before(positionOf(2, 0), v1alpha1.SiteLive), noon().Add(tc.after)
			f.Last.Sites[0].Engine = &v1alpha1.EngineObservation{Kind: "Kustomization", ObservedGeneration: 1, Health: "Healthy"}
			s := &v1alpha1.SiteSync{}
			s.Spec.ForProvider, s.Status.AtProvider = f.Spec, *f.Last.DeepCopy()
			s.SetConditions(readyCondition(s, proof.Decide(f)))
			e := &external{connector: &connector{now: func() time.Time { return f.Now }}, note: newObjectNote()}
			e.updateStatus(s, proof.Decide(f))
			if got := s.Status.AtProvider.Sites[0].Engine.Health; got != tc.want {
				t.Errorf("\n%s\nupdateStatus(...): want health %q, got %q", tc.reason, tc.want, got)
			}
			f.Now = f.Now.Add(progressQuietTime)
			e.updateStatus(s, proof.Decide(f))
			if got := s.Status.AtProvider.Sites[0].Engine.Health; got != tc.health {
				t.Errorf("\n%s\nafter a while: want health %q, got %q", tc.reason, tc.health, got)
			}
		})
	}
}

// TestMovedSite has a live Site whose engine applies the tree to another cluster since now: Gates judge that cluster since then.
func TestMovedSite(t *testing.T) {
	f := testFacts(live(func(s *proof.SiteFacts) { s.Engine.Target = "b" }))
	f.Last, f.Now = before(positionOf(2, 0), v1alpha1.SiteLive), noon().Add(time.Hour)
	f.Last.Sites[0].Engine = &v1alpha1.EngineObservation{Kind: "Kustomization", ObservedGeneration: 1, Target: "a"}
	s := &v1alpha1.SiteSync{}
	s.Spec.ForProvider, s.Status.AtProvider = f.Spec, *f.Last.DeepCopy()
	s.SetConditions(readyCondition(s, proof.Decide(f)))
	e := &external{connector: &connector{now: func() time.Time { return f.Now }}, note: newObjectNote()}
	e.updateStatus(s, proof.Decide(f))
	if got := s.Status.AtProvider.Sites[0]; !got.LiveSince.Time.Equal(f.Now) || got.Engine.Target != "b" {
		t.Errorf("\nA move is written at once.\nupdateStatus(...): got %+v", got)
	}
}

// TestNextPosition asks a SiteSync in tracks whose Sites are live for its next step.
func TestNextPosition(t *testing.T) {
	progressing := live(func(s *proof.SiteFacts) { s.Engine.Reason = v1alpha1.SiteReasonProgressing })
	inTracks := func(f *proof.Facts) { f.Spec.Sites[0].Traffic = &v1alpha1.SiteTraffic{} }
	cases := map[string]struct {
		reason string
		site   proof.SiteFacts
		change func(*proof.Facts)
		after  time.Duration
		want   bool
	}{
		"Seen": {reason: "The observation of a step alone is not written.", site: progressing, change: inTracks},
		"Long": {
			reason: "A step that takes longer is written.",
			site:   progressing, change: inTracks, after: progressQuietTime, want: true,
		},
		"Live": {
			reason: "A step that is live is written at once.",
			site:   live(func(s *proof.SiteFacts) { s.Traffic = &proof.TrafficFacts{} }), change: inTracks, want: true,
		},
		"Denied":    {reason: "A refusal is written with its consequences.", site: proof.SiteFacts{Denied: "no"}, change: inTracks, after: progressQuietTime, want: true},
		"Plain":     {reason: "Without tracks each position is written at once.", site: progressing, change: func(*proof.Facts) {}, want: true},
		"TimedOut":  {reason: "A Site that took too long is written at once.", site: progressing, change: func(f *proof.Facts) { inTracks(f); f.Spec.SyncWaitTimeout = "0s" }, want: true},
		"Promoted":  {reason: "A promotion is written at once.", site: progressing, change: func(f *proof.Facts) { inTracks(f); f.Spec.Pause, f.Spec.Promoted = "10s", true }, want: true},
		"WithPause": {reason: "A future pause does not make a status new.", site: progressing, change: func(f *proof.Facts) { inTracks(f); f.Spec.Pause = "10s" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := testFacts(tc.site)
			tc.change(&f)
			f.Last, f.Spec.Position = before(positionOf(2, 0), v1alpha1.SiteLive), positionOf(2, 1)
			s := &v1alpha1.SiteSync{}
			s.SetGeneration(2)
			s.Spec.ForProvider, s.Status.AtProvider = f.Spec, *f.Last.DeepCopy()
			s.SetConditions(xpv2.Available().WithObservedGeneration(1))
			e := &external{connector: &connector{now: func() time.Time { return f.Now }}, note: newObjectNote()}
			e.updateStatus(s, proof.Decide(f))
			f.Now = f.Now.Add(tc.after)
			if tc.after > 0 {
				e.updateStatus(s, proof.Decide(f))
			}
			if got := s.Status.AtProvider.ObservedPosition() == *positionOf(2, 1); got != tc.want {
				t.Errorf("\n%s\nthe position was written: want %t, got %t", tc.reason, tc.want, got)
			}
			if !tc.want && !e.note.next.After(f.Now) {
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
	previous, thorough := w.get().Status, w.thorough
	w.reconcile()
	if diff := cmp.Diff(previous, w.get().Status); diff != "" || w.thorough != thorough {
		t.Errorf("a step that is not live yet was reconciled in full %d times, and its status changed: -want, +got:\n%s", w.thorough-thorough, diff)
	}
	w.clock = w.clock.Add(progressQuietTime)
	w.reconcile()
	if got := w.get().Status.AtProvider.ObservedPosition().Step; got != 1 {
		t.Errorf("a step that takes longer is not in the status, which is about step %d", got)
	}
}

// fetched is how often the kubeconfig of the cluster was read from the API server.
func (w *world) fetched() int {
	n := 0
	for _, a := range w.cluster.Actions() {
		if a.GetVerb() == "get" && a.GetResource().Resource == "secrets" {
			n++
		}
	}
	return n
}

// flap once in each second.
func (w *world) flap(times int) {
	w.Helper()
	for i := range times {
		host := []string{"", "c1"}[i%2]
		w.capiAs("u1", true, host)
		w.seesHost(host)
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
	}
}

// TestFlap has a flapping cluster: the status reports it once, and then it costs neither a request, nor a write, nor a turn of a
// waiting SiteSync.
func TestFlap(t *testing.T) {
	w := newWorld(t)
	w.clusterSite()
	w.runs()
	fetched, thorough := w.fetched(), w.thorough
	w.flap(int(progressQuietTime/time.Second) + 2)
	if c := w.get().Status.AtProvider.Sites[0].Cluster; c.Reason != readiness.ReasonEndpointUnknown || c.Message != "Cluster c1: its control plane endpoint is not set" {
		t.Errorf("the flap is not reported: %+v", c)
	}
	previous := w.get().Status
	w.flap(40)
	if got := w.fetched() - fetched; got != 0 {
		t.Errorf("the kubeconfig was read %d times for a known answer", got)
	}
	if got := w.thorough - thorough; got != 1 {
		t.Errorf("%d times it took a turn of another SiteSync", got)
	}
	if diff := cmp.Diff(previous, w.get().Status); diff != "" {
		t.Errorf("status: -before, +after:\n%s", diff)
	}
	w.inCluster(goodKubeconfig + " ")
	w.reconcile()
	if got := w.fetched() - fetched; got != 1 {
		t.Errorf("another kubeconfig was read %d times", got)
	}
}

// seesHost returns when the watch has reported the host of the API server.
func (w *world) seesHost(want string) {
	w.Helper()
	ref := engines.Ref{Resource: capiClusters(), Kind: "Cluster", Namespace: "infra", Name: "c1"}
	w.sees("host "+want, ref, func(o *unstructured.Unstructured) bool {
		got, _, _ := unstructured.NestedString(o.Object, "spec", "controlPlaneEndpoint", "host")
		return got == want
	})
}

func TestSteadyStateWritesNothing(t *testing.T) {
	w := newWorld(t)
	w.flux(w.deliver("new"), false)
	w.askFor(1)
	w.until(isLiveNow)
	// An update that changes nothing writes nothing in a real API server.
	previous, requests := w.get().Status, w.git.Requests(repo)
	for range 5 {
		w.clock = w.clock.Add(time.Hour)
		w.reconcile()
	}
	if got := w.git.Requests(repo); got != requests {
		t.Errorf("the repository was asked %d times for a known answer", got-requests)
	}
	// Unmanaged commits on top change nothing in the status.
	for range 3 {
		w.flux(w.push(map[string]string{"elsewhere": w.clock.String()}), false)
		<-w.woken
		w.clock = w.clock.Add(time.Hour)
		w.until(isLiveNow)
	}
	if diff := cmp.Diff(previous, w.get().Status); diff != "" {
		t.Errorf("the status was written: -before, +after:\n%s", diff)
	}
}

func TestProgressIsWrittenLater(t *testing.T) {
	w := newWorld(t)
	id := w.deliver("new")
	w.flux(id, false)
	w.askFor(1)
	w.until(isLiveNow)
	w.flux(id, true)
	w.seesSuspended()
	w.reconcile()
	w.expect("at once", isLiveNow)
	w.clock = w.clock.Add(progressQuietTime - time.Second)
	w.reconcile()
	w.expect("a little later", isLiveNow)
	if diff := cmp.Diff(time.Second, w.result.RequeueAfter); diff != "" {
		t.Errorf("it is looked again when it is due: -want, +got:\n%s", diff)
	}
	w.clock = w.clock.Add(time.Second)
	w.reconcile()
	w.expect("then", "Syncing | Syncing | Suspended")
	// The SiteSync is reconciled at the deadline, and its result is written at once.
	left := w.get().Status.AtProvider.Sites[0].StartedAt.Add(minutes5).Sub(w.clock)
	if diff := cmp.Diff(left, w.result.RequeueAfter); diff != "" {
		t.Errorf("the deadline: -want, +got:\n%s", diff)
	}
	w.clock = w.clock.Add(left)
	w.reconcile()
	w.expect("at the deadline", "TimedOut | TimedOut | Suspended")
}

// change the Site, such as which Secret holds its kubeconfig.
func (w *world) change(fn func(*catalogv1alpha1.Site)) {
	w.Helper()
	s := &catalogv1alpha1.Site{}
	w.must(w.kube.Get(w.Context(), keyOf("edge1"), s))
	fn(s)
	w.must(w.kube.Update(w.Context(), s))
}

func kubeconfigIn(secret string) func(*catalogv1alpha1.Site) {
	return func(s *catalogv1alpha1.Site) {
		s.Spec.Cluster = catalogv1alpha1.SiteCluster{KubeconfigSecretRef: &catalogv1alpha1.NamespacedSecretKeySelector{Namespace: "admin", Name: secret}}
	}
}

const gone, refused = "Syncing | Syncing | KubeconfigGone", "Syncing | Syncing | KubeconfigRefused"

// troubled is a world in which a Site was live, and where a kubeconfig is refused.
func troubled(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.flux(w.deliver("new"), false)
	w.askFor(1)
	w.until(isLiveNow)
	w.must(w.kube.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "admin", Name: "bad"}, Data: map[string][]byte{"value": []byte("{}")}}))
	return w
}

// TestFailureIsWrittenInTime lets the reason change again and again, with no proof in between.
func TestFailureIsWrittenInTime(t *testing.T) {
	w := troubled(t)
	steps := []struct {
		change func(*catalogv1alpha1.Site)
		want   string
	}{
		{change: kubeconfigIn("none"), want: gone},
		{change: kubeconfigIn("bad"), want: refused},
		{change: kubeconfigIn("none"), want: gone},
		{change: func(s *catalogv1alpha1.Site) { s.Spec.Engine.ObjectRef = nil }, want: "Syncing | Syncing | EngineNotProvable"},
	}
	for _, step := range steps {
		previous := w.says()
		w.change(step.change)
		w.reconcile()
		w.clock = w.clock.Add(progressQuietTime - time.Second)
		w.reconcile()
		w.expect("just before it is due", previous)
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
		w.expect("when it is due", step.want)
	}
}

// TestChangingStatusIsDeferred changes the observation before it was stable for long enough, again and again.
func TestChangingStatusIsDeferred(t *testing.T) {
	w := troubled(t)
	began := w.clock
	for i := 0; w.clock.Before(began.Add(maxProgressDelay)); i++ {
		w.change(kubeconfigIn([]string{"none", "bad"}[i%2]))
		w.reconcile()
		w.expect("before it is due", isLiveNow)
		due := min(progressQuietTime, began.Add(maxProgressDelay).Sub(w.clock))
		if diff := cmp.Diff(due, w.result.RequeueAfter); diff != "" {
			t.Fatalf("when it is due: -want, +got:\n%s", diff)
		}
		w.clock = w.clock.Add(min(progressQuietTime-time.Second, due))
	}
	w.reconcile()
	w.expect("at last", gone)
	if got := w.get().Status.AtProvider.Sites[0].StartedAt; !got.Equal(&metav1.Time{Time: began}) {
		t.Errorf("the wait began at %s, and the status reports %s", began, got)
	}
}

func TestTrackAdvanced(t *testing.T) {
	const earlierFolder = "2222222222222222222222222222222222222222"
	siteWith := func(o v1alpha1.TrackObservation) v1alpha1.SiteObservation {
		o.Name = track.Green
		return v1alpha1.SiteObservation{Traffic: &v1alpha1.SiteTrafficObservation{Tracks: []v1alpha1.TrackObservation{o}}}
	}
	pods := func(folder string, revision int64) v1alpha1.TrackObservation {
		return v1alpha1.TrackObservation{AvailableTree: folder, AvailableAt: positionOf(revision, 0)}
	}
	cases := map[string]struct {
		reason        string
		before, after v1alpha1.SiteObservation
		asked         ledger.Position
		want          bool
	}{
		"Step": {
			reason: "A step waits for the pods of all of its Sites, and not for the pods of a single Site.", after: siteWith(pods(theFolder, 1)),
			asked: ledger.Position{Epoch: 1, Revision: 1, Stage: ledger.StageSteps},
		},
		"IdleInStep": {
			reason: "The end of a canary waits for a track that is idle.", after: siteWith(v1alpha1.TrackObservation{Idle: true}),
			asked: ledger.Position{Epoch: 1, Revision: 1, Stage: ledger.StageSteps}, want: true,
		},
		"Idle": {
			reason: "The function waits for a track that is idle.",
			before: siteWith(v1alpha1.TrackObservation{}), after: siteWith(v1alpha1.TrackObservation{Idle: true}), want: true,
		},
		"StillIdle": {
			reason: "A track that stays idle is not written at once.",
			before: siteWith(v1alpha1.TrackObservation{Idle: true}), after: siteWith(v1alpha1.TrackObservation{Idle: true}),
		},
		"Pods": {reason: "The function waits for the pods of a track.", before: v1alpha1.SiteObservation{}, after: siteWith(pods(theFolder, 1)), want: true},
		"OtherPods": {
			reason: "The function waits for the pods of another folder.",
			before: siteWith(pods(earlierFolder, 1)), after: siteWith(pods(theFolder, 1)), want: true,
		},
		"PodsAgain": {
			reason: "The function waits for the pods of a folder that came again.",
			before: siteWith(pods(theFolder, 1)), after: siteWith(pods(theFolder, 2)), want: true,
		},
		"SamePods": {reason: "Pods that stay are not written at once.", before: siteWith(pods(theFolder, 1)), after: siteWith(pods(theFolder, 1))},
		"NoTracks": {reason: "A Site without tracks has none that advance.", before: siteWith(v1alpha1.TrackObservation{}), after: v1alpha1.SiteObservation{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := isTrackAdvanced(tc.before, tc.after, tc.asked); got != tc.want {
				t.Errorf("\n%s\nisTrackAdvanced(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
