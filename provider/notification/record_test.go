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

// ended returns an outcome that is so old.
func ended(index, epoch, revision int64, result deploymentv1alpha1.Outcome, age time.Duration) Outcome {
	return Outcome{Result: result, Index: index, Epoch: epoch, Revision: revision, At: metav1.NewTime(clock().Add(-age))}
}

func shop(uid string) Deployment {
	return Deployment{APIVersion: "intentplane.dev/v1alpha1", Kind: "IntentDeployment", Namespace: "team-a", Name: "shop", UID: uid}
}

func TestAdd(t *testing.T) {
	both := []configv1alpha1.Notification{
		{URL: "https://a.example.org", Events: []deploymentv1alpha1.Outcome{succeeded, rolledBack}},
		{URL: "https://b.example.org", Events: []deploymentv1alpha1.Outcome{rolledBack}},
		{URL: "https://b.example.org", Events: []deploymentv1alpha1.Outcome{rolledBack}},
	}
	handled := func(index, epoch, revision int64, result deploymentv1alpha1.Outcome) Record {
		return Record{Deployment: shop("u1"), Handled: []Handled{{Index: index, Epoch: epoch, Revision: revision, Result: result}}}
	}
	cases := map[string]struct {
		reason    string
		record    Record
		outcomes  []Outcome
		receivers []configv1alpha1.Notification
		want      map[string]int
		unchanged bool
	}{
		"First":        {reason: "An outcome waits for each receiver that wants it, once.", outcomes: []Outcome{ended(3, 1, 1, succeeded, time.Minute), ended(9, 1, 2, rolledBack, 0)}, receivers: both, want: map[string]int{"u1.1.1.Succeeded": 1, "u1.1.2.RolledBack": 2}},
		"Unwanted":     {reason: "An outcome that no receiver wants is handled.", outcomes: []Outcome{ended(3, 1, 1, succeeded, 0)}, receivers: both[1:], want: map[string]int{}},
		"Old":          {reason: "What ended long before there was a record is not posted to a receiver that is new.", outcomes: []Outcome{ended(3, 1, 1, succeeded, newAge)}, receivers: both, want: map[string]int{}, unchanged: true},
		"Late":         {reason: "An outcome of a deployment with a record is posted, also hours later.", record: handled(3, 1, 1, succeeded), outcomes: []Outcome{ended(9, 1, 2, rolledBack, 5*time.Hour)}, receivers: both, want: map[string]int{"u1.1.2.RolledBack": 2}},
		"TooLate":      {reason: "An outcome that is older than a day is not posted any more.", record: handled(3, 1, 1, succeeded), outcomes: []Outcome{ended(9, 1, 2, rolledBack, RetryFor)}, receivers: both, want: map[string]int{}, unchanged: true},
		"Known":        {reason: "An outcome that was handled is not posted again.", record: handled(3, 1, 1, succeeded), outcomes: []Outcome{ended(3, 1, 1, succeeded, 0)}, receivers: both, want: map[string]int{}, unchanged: true},
		"LaterIndex":   {reason: "A revision that comes to the same outcome again, as after an edit that was taken back, is posted once.", record: handled(3, 1, 1, succeeded), outcomes: []Outcome{ended(9, 1, 1, succeeded, 0)}, receivers: both, want: map[string]int{}, unchanged: true},
		"LaterEpoch":   {reason: "A transition that was handled before the ledger was recovered is the same outcome.", record: handled(3, 1, 1, succeeded), outcomes: []Outcome{ended(3, 2, 1, succeeded, 0)}, receivers: both, want: map[string]int{}, unchanged: true},
		"OtherOutcome": {reason: "A revision that was verified and is rolled back later has two outcomes.", record: handled(3, 1, 1, succeeded), outcomes: []Outcome{ended(9, 1, 1, rolledBack, 0)}, receivers: both, want: map[string]int{"u1.1.1.RolledBack": 2}},
		"Recreated":    {reason: "A deployment that was created again under its name has outcomes of its own.", record: Record{Deployment: shop("u0"), Handled: handled(3, 1, 1, succeeded).Handled}, outcomes: []Outcome{ended(3, 1, 1, succeeded, 0)}, receivers: both, want: map[string]int{"u1.1.1.Succeeded": 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			full, changed := tc.record.Add(shop("u1"), tc.outcomes, Config{Kind: "ClusterProviderConfig", Name: "default"}, tc.receivers, clock())
			got := map[string]int{}
			for _, p := range tc.record.Pending {
				got[p.ID()] = len(p.Receivers)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nAdd(...): pending: -want, +got:\n%s", tc.reason, diff)
			}
			if changed == tc.unchanged || len(full) > 0 {
				t.Errorf("\n%s\nAdd(...): changed is %t, and %d were given up", tc.reason, changed, len(full))
			}
			if _, again := tc.record.Add(shop("u1"), tc.outcomes, Config{}, tc.receivers, clock()); again {
				t.Errorf("\n%s\nAdd(...): what was added is added again", tc.reason)
			}
		})
	}
}

// TestAddToFullRecord gives up the oldest outcomes where too many wait, and forgets the oldest that were handled.
func TestAddToFullRecord(t *testing.T) {
	to := []configv1alpha1.Notification{{URL: "https://a.example.org", Events: []deploymentv1alpha1.Outcome{succeeded}}}
	r, given := Record{}, []int64{}
	for revision := range int64(2 * maxHandled) {
		full, _ := r.Add(shop("u1"), []Outcome{ended(revision, 1, revision+1, succeeded, 0)}, Config{}, to, clock())
		for _, p := range full {
			given = append(given, p.Revision)
		}
	}
	if len(r.Pending) != MaxPending || len(r.Handled) != maxHandled || r.Pending[0].Revision != 2*maxHandled-MaxPending+1 {
		t.Errorf("the record has %d pending outcomes from revision %d, and %d handled ones", len(r.Pending), r.Pending[0].Revision, len(r.Handled))
	}
	if len(given) != 2*maxHandled-MaxPending || given[0] != 1 {
		t.Errorf("%d outcomes were given up", len(given))
	}
}

func TestTaken(t *testing.T) {
	r := Record{Pending: []Pending{
		{Outcome: ended(3, 1, 1, succeeded, 0), Deployment: shop("u1"), Receivers: []string{"a", "b"}},
		{Outcome: ended(9, 1, 2, succeeded, 0), Deployment: shop("u1"), Receivers: []string{"a"}},
	}}
	r.Taken("u1.1.1.Succeeded", "a")
	if len(r.Pending) != 2 || len(r.Pending[0].Receivers) != 1 {
		t.Errorf("an outcome stays for the receivers that have not taken it: %v", r.Pending)
	}
	r.Taken("u1.1.1.Succeeded", "b")
	if len(r.Pending) != 1 || r.Pending[0].Revision != 2 {
		t.Errorf("an outcome that all have taken is removed: %v", r.Pending)
	}
	text, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeRecord(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Pending[0].ID(), back.Pending[0].ID()); diff != "" {
		t.Errorf("DecodeRecord(...): -want, +got:\n%s", diff)
	}
	if _, err := DecodeRecord("{"); err == nil {
		t.Error("DecodeRecord(...): want an error for a text that is cut off")
	}
}

func TestReceiverKey(t *testing.T) {
	a := configv1alpha1.Notification{URL: "https://a.example.org/secret", Format: configv1alpha1.FormatSlack}
	b := a
	b.Format = configv1alpha1.FormatCloudEvents
	if ReceiverKey(&a) == ReceiverKey(&b) || len(ReceiverKey(&a)) != 16 {
		t.Errorf("one address may be posted to in two formats: %s and %s", ReceiverKey(&a), ReceiverKey(&b))
	}
}
