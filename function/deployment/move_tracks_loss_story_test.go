package deployment

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// sayBoth asks for a revision at both Sites, with or without tracks.
func (w *world) sayBoth(isPlain bool, greeting string) {
	if isPlain {
		w.say(`{"service": "shop", "type": "web", "sites": ["edge1", "edge2"], "replicas": 2}`)
		return
	}
	w.twoSites(greeting)
}

// loseDelivery loses the object that delivers to a Site.
func (w *world) loseDelivery(site string) {
	delete(w.in.Observed, w.nameOfDelivery(site))
}

// rejectedLoss is how a claim says that a move lost its files.
const rejectedLoss = "Revision 2 was rejected: FilesLost. Site edge2: no object has the files of revision 1 any more, and a move from or to tracks needs them."

// TestMoveLosses loses the object that delivers to the Site of the second wave, from another repository, in each round of a move. The move goes on if its
// files are known: to tracks, once the folder of the pods without tracks is in Git. Otherwise it is rejected, and the earlier pods serve again.
func TestMoveLosses(t *testing.T) {
	cases := map[string]struct {
		reason             string
		isBack             bool
		after, middle, end string
		// lost are the rounds in which the files are lost, and goesOn those in which they are known.
		lost, goesOn []int
	}{
		"ToTracks": {
			reason: "The files without tracks are in the object until their folder is in Git.",
			middle: "blue 2: 100, plain 1: 0 | blue 2: 0, plain 1: 100", end: "blue 2: 100 | blue 2: 100",
			after: "flat 2 | flat 1", lost: []int{1, 3, 5}, goesOn: []int{6, 8, 16},
		},
		"FromTracks": {
			reason: "The shared objects of the tracks are in the object until the move ends.", isBack: true,
			middle: "blue 1: 0, plain 2: 100 | blue 1: 100, plain 2: 0", end: "flat 2 | flat 2",
			after: "blue 1: 100 | blue 1: 100", lost: []int{1, 5, 6, 7}, goesOn: []int{20},
		},
	}
	for name, tc := range cases {
		for _, round := range slices.Concat(tc.lost, tc.goesOn) {
			t.Run(fmt.Sprint(name, round), func(t *testing.T) {
				w := newMovingWorld(t)
				w.splitRepositories()
				w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge1"}}}
				w.sayBoth(!tc.isBack, "one")
				w.story("edge1", cluster{})
				w.sayBoth(tc.isBack, "one")
				story, out := w.losesInRound(round)
				want, message := tc.end, "Every Site runs the revision."
				if slices.Contains(tc.lost, round) {
					want, message = tc.after, rejectedLoss
				}
				if last := story[len(story)-1]; last != want || !strings.HasPrefix(out.Status.Message, message) {
					t.Errorf("\n%s\nwant %q in the end, got %q: %s", tc.reason, want, story, out.Status.Message)
				}
				if isWhole := slices.Contains(story, tc.middle); !isWhole && want == tc.end {
					t.Errorf("\n%s\nwant %q, got %q", tc.reason, tc.middle, story)
				}
			})
		}
	}
}

// losesInRound plays a scenario of two Sites in which the object that delivers to the second Site is lost in a round.
func (w *world) losesInRound(lossRound int) ([]string, *Output) {
	w.t.Helper()
	var story []string
	var out *Output
	for round := range 60 {
		if round == lossRound {
			w.loseDelivery("edge2")
		}
		out = w.canaryRound(cluster{})
		if current := w.directory("edge1") + " | " + w.directory("edge2"); len(story) == 0 || story[len(story)-1] != current {
			story = append(story, current)
		}
	}
	return story, out
}
