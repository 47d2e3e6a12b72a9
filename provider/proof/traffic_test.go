package proof

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/gatewayapi"
)

// theFolder is the folder of track green in Git, and earlierFolder a previous folder of the track.
const (
	theFolder     = "1111111111111111111111111111111111111111"
	earlierFolder = "2222222222222222222222222222222222222222"
)

// splitAt asks for a share of the requests for track green, whose pods are awaited.
func splitAt(weight int32, change ...func(*v1alpha1.TrackTraffic)) func(*Facts) {
	return func(f *Facts) {
		green := v1alpha1.TrackTraffic{Name: track.Green, Weight: weight, Awaited: true, Tree: theFolder}
		for _, fn := range change {
			fn(&green)
		}
		f.Spec.Sites[0].Traffic = &v1alpha1.SiteTraffic{Drain: "30s", Tracks: []v1alpha1.TrackTraffic{{Name: track.Blue, Weight: 100 - weight}, green}}
	}
}

// routed is a live Site of which the routes and the pods of both tracks were read.
func routed(change ...func(*TrafficFacts)) SiteFacts {
	return live(func(s *SiteFacts) {
		s.Traffic = &TrafficFacts{Workloads: map[string]*Problem{track.Blue: nil, track.Green: nil}}
		for _, fn := range change {
			fn(s.Traffic)
		}
	})
}

func withoutRoute(t *TrafficFacts) {
	t.Routes = &Problem{Reason: gatewayapi.ReasonTrafficDiffers, Message: "m"}
}

func withoutPods(t *TrafficFacts) {
	t.Workloads[track.Green] = &Problem{Reason: gatewayapi.ReasonCanaryNotAvailable, Message: "m"}
}

// sawGreen sets the previous observation of track green.
func sawGreen(o v1alpha1.TrackObservation) func(*Facts) {
	return func(f *Facts) {
		f.Last = before(positionOf(1, 0), v1alpha1.SiteLive)
		o.Name = track.Green
		f.Last.Sites[0].Traffic = &v1alpha1.SiteTrafficObservation{Tracks: []v1alpha1.TrackObservation{o}}
	}
}

func secondsAgo(n int) *metav1.Time {
	timestamp := metav1.NewTime(noon().Add(time.Minute - time.Duration(n)*time.Second))
	return &timestamp
}

func TestJudgeTraffic(t *testing.T) {
	cases := map[string]struct {
		reason string
		facts  Facts
		state  v1alpha1.SiteState
		want   string
	}{
		"Proven": {
			reason: "A Site whose routes have their weights and whose pods are available is live.",
			facts:  testFacts(routed(), splitAt(20)), state: v1alpha1.SiteLive,
		},
		"NoTracks": {reason: "Nothing is asked of routes where a directory has no tracks.", facts: testFacts(live()), state: v1alpha1.SiteLive},
		"NotRead": {
			reason: "Routes that were not read prove nothing.",
			facts:  testFacts(live(), splitAt(20)), state: v1alpha1.SiteSyncing, want: v1alpha1.SiteReasonProofUnknown,
		},
		"NoRoute": {
			reason: "A Site is not live before its routes have their weights.",
			facts:  testFacts(routed(withoutRoute), splitAt(20)), state: v1alpha1.SiteSyncing, want: gatewayapi.ReasonTrafficDiffers,
		},
		"NoPods": {
			reason: "A Site is not live before the awaited pods are available.",
			facts:  testFacts(routed(withoutPods), splitAt(20)), state: v1alpha1.SiteSyncing, want: gatewayapi.ReasonCanaryNotAvailable,
		},
		"NotAwaited": {
			reason: "Pods of a track that loses its requests are not asked for.",
			facts:  testFacts(routed(withoutPods), splitAt(20, func(t *v1alpha1.TrackTraffic) { t.Awaited = false })), state: v1alpha1.SiteLive,
		},
		"OtherTree": {
			reason: "The reason of an engine that has not come to the tree goes first.",
			facts:  testFacts(routed(withoutRoute), splitAt(20), func(f *Facts) { f.Sites[0].Applied.ID = otherTree() }),
			state:  v1alpha1.SiteSyncing, want: v1alpha1.SiteReasonOtherTree,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Decide(tc.facts).Next.Sites[0]
			if got.State != tc.state || got.Reason != tc.want {
				t.Errorf("\n%s\nwant %s %q, got %s %q", tc.reason, tc.state, tc.want, got.State, got.Reason)
			}
		})
	}
}

func TestTrackObservation(t *testing.T) {
	requested, earlier := positionOf(2, 0), positionOf(1, 0)
	weighed := func(p *ledger.Position) func(*v1alpha1.TrackTraffic) {
		return func(t *v1alpha1.TrackTraffic) { t.WeighedAt = p }
	}
	changed := func(p *ledger.Position) func(*v1alpha1.TrackTraffic) {
		return func(t *v1alpha1.TrackTraffic) { t.ChangedAt = p }
	}
	idle := v1alpha1.TrackObservation{Weight: new(int32(0)), ProvenAt: earlier, IdleSince: secondsAgo(60), Idle: true}
	cases := map[string]struct {
		reason string
		facts  Facts
		want   v1alpha1.TrackObservation
	}{
		"FirstProof": {
			reason: "The drain begins with the first proof that a track gets no requests.", facts: testFacts(routed(), splitAt(0)),
			want: v1alpha1.TrackObservation{Weight: new(int32(0)), ProvenAt: requested, IdleSince: secondsAgo(0), AvailableTree: theFolder, AvailableAt: requested},
		},
		"Drained": {
			reason: "A track is idle once the drain has passed.",
			facts:  testFacts(routed(withoutPods), splitAt(0), sawGreen(v1alpha1.TrackObservation{ProvenAt: earlier, IdleSince: secondsAgo(30)})),
			want:   v1alpha1.TrackObservation{Weight: new(int32(0)), ProvenAt: earlier, IdleSince: secondsAgo(30), Idle: true},
		},
		"Draining": {
			reason: "A track is not idle before the drain has passed.",
			facts:  testFacts(routed(withoutPods), splitAt(0), sawGreen(v1alpha1.TrackObservation{ProvenAt: earlier, IdleSince: secondsAgo(29)})),
			want:   v1alpha1.TrackObservation{Weight: new(int32(0)), ProvenAt: earlier, IdleSince: secondsAgo(29)},
		},
		"KeptWithoutProof": {
			reason: "A track stays idle while another position is not proven, since Git gives it no requests.",
			facts:  testFacts(routed(withoutRoute, withoutPods), splitAt(0, weighed(positionOf(0, 0))), sawGreen(idle)),
			want:   idle,
		},
		"WeighedByOthers": {
			reason: "A track that the cluster gives requests to is not idle, although Git gives it none.",
			facts: testFacts(routed(withoutRoute, withoutPods, func(t *TrafficFacts) { t.Weighed = []string{"web-green"} }),
				splitAt(0, weighed(positionOf(0, 0))), sawGreen(idle)),
			want: v1alpha1.TrackObservation{Weight: new(int32(0))},
		},
		"OthersWeighed": {
			reason: "Requests for a Service of another track do not count against a track that is idle.",
			facts: testFacts(routed(withoutRoute, withoutPods, func(t *TrafficFacts) { t.Weighed = []string{"web-blue"} }),
				splitAt(0, weighed(positionOf(0, 0))), sawGreen(idle)),
			want: idle,
		},
		"WeighedSince": {
			reason: "A proof from before Git gave the track requests counts for nothing.",
			facts:  testFacts(routed(withoutRoute, withoutPods), splitAt(0, weighed(earlier)), sawGreen(idle)),
			want:   v1alpha1.TrackObservation{Weight: new(int32(0))},
		},
		"ProvenAgain": {
			reason: "A later position proves it again, and the drain begins again.",
			facts:  testFacts(routed(withoutPods), splitAt(0, weighed(earlier)), sawGreen(idle)),
			want:   v1alpha1.TrackObservation{Weight: new(int32(0)), ProvenAt: requested, IdleSince: secondsAgo(0)},
		},
		"SamePosition": {
			reason: "A position that gave the track requests itself proves nothing.",
			facts:  testFacts(routed(withoutPods), splitAt(0, weighed(requested))),
			want:   v1alpha1.TrackObservation{Weight: new(int32(0))},
		},
		"GetsRequests": {
			reason: "A track that is to get requests is not idle, whether its routes follow or not.",
			facts:  testFacts(routed(withoutRoute, withoutPods), splitAt(5), sawGreen(idle)),
			want:   v1alpha1.TrackObservation{Weight: new(int32(0))},
		},
		"EngineBehind": {
			reason: "An engine that has not come to the tree may still apply an earlier tree, which gives the track requests.",
			facts:  testFacts(routed(), splitAt(0), func(f *Facts) { f.Sites[0].Applied.ID = otherTree() }),
			want:   v1alpha1.TrackObservation{},
		},
		"NotRead": {reason: "A route that was not read proves nothing of a track.", facts: testFacts(live(), splitAt(0)), want: v1alpha1.TrackObservation{}},
		"PodsStay": {
			reason: "Pods that were available once count until their folder changes.",
			facts:  testFacts(routed(withoutPods), splitAt(5, changed(earlier)), sawGreen(v1alpha1.TrackObservation{AvailableTree: theFolder, AvailableAt: earlier})),
			want:   v1alpha1.TrackObservation{Weight: new(int32(5)), AvailableTree: theFolder, AvailableAt: earlier},
		},
		"PodsChanged": {
			reason: "Pods of a folder that has changed since were not seen to be available.",
			facts: testFacts(
				routed(withoutPods), splitAt(5, changed(requested)),
				sawGreen(v1alpha1.TrackObservation{AvailableTree: earlierFolder, AvailableAt: earlier}),
			),
			want: v1alpha1.TrackObservation{Weight: new(int32(5))},
		},
		"PodsOfOtherFolder": {
			reason: "A folder may change within one position, after the pods of the previous folder were observed.",
			facts: testFacts(
				routed(withoutPods), splitAt(5, changed(requested)),
				sawGreen(v1alpha1.TrackObservation{AvailableTree: earlierFolder, AvailableAt: requested}),
			),
			want: v1alpha1.TrackObservation{Weight: new(int32(5))},
		},
		"PodsCameAgain": {
			reason: "A folder that was removed and added again has other pods than the observed pods.",
			facts:  testFacts(routed(withoutPods), splitAt(5, changed(requested)), sawGreen(v1alpha1.TrackObservation{AvailableTree: theFolder, AvailableAt: earlier})),
			want:   v1alpha1.TrackObservation{Weight: new(int32(5))},
		},
		"PodsLater": {
			reason: "A position before the change of a folder proves nothing of its pods.",
			facts:  testFacts(routed(), splitAt(5, changed(positionOf(3, 0)))),
			want:   v1alpha1.TrackObservation{Weight: new(int32(5))},
		},
		"PodsOfNoFolder": {
			reason: "A SiteSync that names no folder proves nothing of its pods.",
			facts:  testFacts(routed(), splitAt(5, func(t *v1alpha1.TrackTraffic) { t.Tree = "" })),
			want:   v1alpha1.TrackObservation{Weight: new(int32(5))},
		},
		"PodsWithoutRoute": {
			reason: "Pods are available whatever the routes say.", facts: testFacts(routed(withoutRoute), splitAt(5)),
			want: v1alpha1.TrackObservation{AvailableTree: theFolder, AvailableAt: requested},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.want.Name = track.Green
			d := Decide(tc.facts)
			if diff := cmp.Diff(tc.want, evidence.TrackOf(d.Next.Sites[0], track.Green)); diff != "" {
				t.Errorf("\n%s\ntrack: -want, +got:\n%s", tc.reason, diff)
			}
			// Blue and green are looked at again when the first of them becomes idle.
			if next := nextIdleTime(tc.facts.Spec.Sites[0], d.Next.Sites[0]); !next.IsZero() && !next.After(tc.facts.Now) {
				t.Errorf("\n%s\nthe next look %s is not after %s", tc.reason, next, tc.facts.Now)
			}
		})
	}
}

func TestHasProvenPods(t *testing.T) {
	changed, green := positionOf(2, 0), v1alpha1.TrackTraffic{Name: track.Green, Tree: theFolder, ChangedAt: positionOf(2, 0)}
	cases := map[string]struct {
		reason string
		last   v1alpha1.TrackObservation
		want   bool
	}{
		"Proven": {
			reason: "Pods of the folder were available after it changed.",
			last:   v1alpha1.TrackObservation{AvailableTree: theFolder, AvailableAt: changed}, want: true,
		},
		"Earlier": {
			reason: "A proof from before the change counts for nothing.",
			last:   v1alpha1.TrackObservation{AvailableTree: theFolder, AvailableAt: positionOf(1, 0)},
		},
		"OtherFolder": {
			reason: "Pods of another folder prove nothing.",
			last:   v1alpha1.TrackObservation{AvailableTree: earlierFolder, AvailableAt: changed},
		},
		"NoProof": {reason: "A track without a proof has no proven pods."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := testFacts(live(), sawGreen(tc.last)).HasProvenPods("edge1", green); got != tc.want {
				t.Errorf("\n%s\nHasProvenPods(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestTrafficWakes(t *testing.T) {
	d := Decide(testFacts(routed(withoutPods), splitAt(0, func(t *v1alpha1.TrackTraffic) { t.Awaited = false })))
	if want := noon().Add(time.Minute + 30*time.Second); !d.Recheck.Equal(want) {
		t.Errorf("a SiteSync looks again when a track becomes idle: want %s, got %s", want, d.Recheck)
	}
}

// TestLongDrain has a track that keeps its pods for 20 minutes after its last request, while a Site may take 5 minutes to run a tree.
func TestLongDrain(t *testing.T) {
	green := v1alpha1.TrackObservation{Weight: new(int32(0)), ProvenAt: positionOf(2, 0), IdleSince: &metav1.Time{Time: noon()}}
	f := testFacts(routed(), splitAt(0), sawGreen(green), later(6*time.Minute))
	f.Last.Position, f.Spec.Sites[0].Traffic.Drain = positionOf(2, 0), "20m"
	d := Decide(f)
	if site := d.Next.Sites[0]; d.Reason != v1alpha1.ReasonLive || !d.Deadline.IsZero() || evidence.TrackOf(site, track.Green).Idle {
		t.Errorf("a drain counts for no timeout: want a live Site with a track that drains and no deadline, got %s until %s: %+v",
			d.Reason, d.Deadline, site.Traffic.Tracks)
	}
	if want := noon().Add(20 * time.Minute); !d.Recheck.Equal(want) {
		t.Errorf("a SiteSync looks again when the drain ends: want %s, got %s", want, d.Recheck)
	}
}
