package notification

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

const (
	succeeded  = deploymentv1alpha1.OutcomeSucceeded
	rolledBack = deploymentv1alpha1.OutcomeRolledBack
)

// ended returns an outcome of that age.
func ended(index, epoch, revision int64, age time.Duration) Outcome {
	return Outcome{Result: succeeded, Index: index, Epoch: epoch, Revision: revision, At: metav1.NewTime(clock().Add(-age))}
}

// logOf returns the log of transitions that brought outcomes, with one more before each.
func logOf(outcomes []Outcome) []deploymentv1alpha1.Transition {
	var out []deploymentv1alpha1.Transition
	for _, o := range outcomes {
		out = append(out, deploymentv1alpha1.Transition{Index: o.Index - 1, At: o.At}, deploymentv1alpha1.Transition{Index: o.Index, At: o.At})
	}
	return out
}

func TestUntold(t *testing.T) {
	three := []Outcome{ended(5, 1, 1, 3*time.Hour), ended(11, 1, 2, 2*time.Hour), ended(17, 1, 3, time.Hour)}
	recomputed := []Outcome{ended(5, 1, 3, time.Minute), ended(11, 1, 4, time.Minute)}
	marked := func(o Outcome) *Mark { m := NewMark(&o, clock()); return &m }
	cases := map[string]struct {
		reason   string
		outcomes []Outcome
		mark     *Mark
		since    time.Duration
		want     []string
	}{
		"Nothing": {reason: "Without an outcome nothing is to be posted."},
		"Unmarked": {
			reason:   "A receiver that was there before gets all outcomes.",
			outcomes: three, since: 5 * time.Hour, want: []string{"1.1.Succeeded", "1.2.Succeeded", "1.3.Succeeded"},
		},
		"NewSince": {reason: "A receiver that is new gets no outcomes of the past.", outcomes: three, since: 90 * time.Minute, want: []string{"1.3.Succeeded"}},
		"SameSecond": {
			reason:   "An outcome of the second in which the receiver was seen first is posted.",
			outcomes: three, since: 2 * time.Hour, want: []string{"1.2.Succeeded", "1.3.Succeeded"},
		},
		"Marked": {
			reason:   "Outcomes after the mark are posted, however old they are.",
			outcomes: three, mark: marked(three[0]), want: []string{"1.2.Succeeded", "1.3.Succeeded"},
		},
		"Newest": {reason: "Nothing comes after the newest outcome.", outcomes: three, mark: marked(three[2])},
		"Forgotten": {
			reason:   "Where the log has forgotten the marked transition, all that it has came later.",
			outcomes: three[1:], mark: marked(three[0]), want: []string{"1.2.Succeeded", "1.3.Succeeded"},
		},
		"ClockBack": {
			reason:   "A clock that was set back between two outcomes does not hide the second outcome.",
			outcomes: []Outcome{three[0], ended(11, 1, 2, 4*time.Hour)}, mark: marked(three[0]), want: []string{"1.2.Succeeded"},
		},
		"ClockStill": {
			reason:   "Two outcomes of one second are distinct.",
			outcomes: []Outcome{three[0], ended(11, 1, 2, 3*time.Hour)}, mark: marked(three[0]), want: []string{"1.2.Succeeded"},
		},
		"LaterEpoch": {
			reason:   "A transition that was marked before the ledger was recovered is the same outcome.",
			outcomes: []Outcome{ended(5, 2, 1, 3*time.Hour)}, mark: marked(three[0]),
		},
		"Restored": {reason: "A status that was restored from a backup shows nothing new.", outcomes: three[:1], mark: marked(three[2])},
		"GoneOn": {
			reason:   "A restored status that went on shows the outcomes after the mark, although their indices are not new.",
			outcomes: append(three[:1:1], ended(11, 1, 4, time.Minute)), mark: marked(three[2]), want: []string{"1.4.Succeeded"},
		},
		"Overtaken": {
			reason:   "A restored status whose indices have passed the mark shows the outcomes after it.",
			outcomes: append(three[:1:1], ended(17, 1, 4, time.Minute), ended(23, 1, 5, time.Minute)), mark: marked(three[2]),
			want: []string{"1.4.Succeeded", "1.5.Succeeded"},
		},
		"Recomputed": {
			reason:   "A status that was computed again shows the marked outcome at a new time, and it is not posted again.",
			outcomes: recomputed, mark: marked(three[2]), want: []string{"1.4.Succeeded"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, o := range Untold(tc.outcomes, logOf(tc.outcomes), tc.mark, clock().Add(-tc.since)) {
				got = append(got, o.identityKey())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nUntold(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFirstMark(t *testing.T) {
	three := []Outcome{ended(5, 1, 1, 3*time.Hour), ended(11, 1, 2, 2*time.Hour), ended(17, 1, 3, time.Hour)}
	cases := map[string]struct {
		reason string
		since  time.Duration
		want   Mark
		marked bool
	}{
		"Between": {
			reason: "The newest outcome before the receiver is marked.",
			since:  90 * time.Minute, marked: true,
			want: Mark{Index: 11, At: clock().Add(-2 * time.Hour).Unix(), ID: "1.2.Succeeded", Set: clock().Unix()},
		},
		"Before": {reason: "A receiver that was there before all outcomes begins without a mark.", since: 5 * time.Hour},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, marked := FirstMark(three, clock().Add(-tc.since), clock())
			if diff := cmp.Diff(tc.want, got); diff != "" || marked != tc.marked {
				t.Errorf("\n%s\nFirstMark(...): %t; -want, +got:\n%s", tc.reason, marked, diff)
			}
		})
	}
}

func TestReceivers(t *testing.T) {
	receiver := configv1alpha1.Notification{URL: "https://hooks.slack.com", Format: configv1alpha1.FormatSlack}
	otherReceiver := receiver
	receiver.Name, otherReceiver.Name = "ops", "developers"
	cases := map[string]struct {
		reason string
		all    []configv1alpha1.Notification
		want   []ReceiverID
	}{
		"Named": {
			reason: "Two receivers with one address and format are two.",
			all:    []configv1alpha1.Notification{receiver, otherReceiver},
			want:   []ReceiverID{"ProviderConfig/own/ops", "ProviderConfig/own/developers"},
		},
		"Unnamed": {
			reason: "Receivers that were stored before receivers had names are distinguished by their place.",
			all:    make([]configv1alpha1.Notification, 2), want: []ReceiverID{"ProviderConfig/own/#1", "ProviderConfig/own/#2"},
		},
		"None": {reason: "A configuration without receivers has none.", want: []ReceiverID{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Config{Kind: "ProviderConfig", Namespace: "team-a", Name: "own"}.Receivers(tc.all)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nReceivers(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if name := ReceiverID("ProviderConfig/own.v1/ops").Name(); name != "ops" {
		t.Errorf("Name(): %s", name)
	}
}
