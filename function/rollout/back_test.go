package rollout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

var midnight = time.Date(2031, 12, 17, 0, 0, 0, 0, time.UTC)

// remembered is an entry of a history, judged at a minute after midnight.
func remembered(revision int64, v *rolloutv1alpha1.Verdict, minute int, tree string) deliveryv1alpha1.HistoryEntry {
	at := metav1.NewTime(midnight.Add(time.Duration(minute) * time.Minute))
	h := deliveryv1alpha1.HistoryEntry{Revision: revision, Verdict: v, Commit: "c", Trees: []deliveryv1alpha1.HistoryTree{{Site: "s", Tree: tree}}}
	if v != nil {
		h.EndedAt = &at
	}
	return h
}

// holding is a delivery that recorded an order, and whose directory holds a tree that a revision wrote.
func holding(o rolloutv1alpha1.Order, tree string, revision int64, history ...deliveryv1alpha1.HistoryEntry) *deliveryv1alpha1.GitDelivery {
	d := delivery(o, &o)
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: "s", Branch: "main", Path: "p"}}
	d.Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{{Site: "s", Path: "p", Tree: tree, Revision: revision}}
	d.Status.AtProvider.History = history
	return d
}

func rejectedAt(revision int64, attempt int32) rolloutv1alpha1.Order {
	o := changed(order(revision, "b"), func(o *rolloutv1alpha1.Order) { o.Verdict, o.Attempt = failure, attempt })
	if attempt > 0 {
		o.Target = new(int64(1))
	}
	return o
}

func TestBack(t *testing.T) {
	type args struct {
		o rolloutv1alpha1.Order
		r Retreat
		d *deliveryv1alpha1.GitDelivery
	}
	type want struct {
		Attempt  int32
		Target   int64
		Restored bool
		Stop     Stop
	}
	good := remembered(1, verified, 0, "good")
	cases := map[string]struct {
		reason string
		change func(*args)
		want   want
	}{
		"First":      {reason: "The first attempt goes to what was verified.", change: func(*args) {}, want: want{Attempt: 1, Target: 1}},
		"Off":        {reason: "Nobody is to go back.", change: func(a *args) { a.r.Policy.Auto = false }, want: want{Stop: StopOff}},
		"NoRetries":  {reason: "No attempt is allowed.", change: func(a *args) { a.r.Policy.MaxRetries = 0 }, want: want{Stop: StopOff}},
		"Asked":      {reason: "A person asked, whatever the policy says.", change: func(a *args) { a.r.Policy.Auto, a.o.Withdraws = false, new(int64(2)) }, want: want{Attempt: 1, Target: 1}},
		"AskedNever": {reason: "A person asked, and no attempt is allowed.", change: func(a *args) { a.r.Policy.MaxRetries, a.o.Withdraws = 0, new(int64(2)) }, want: want{Stop: StopOff}},
		"NoTarget":   {reason: "Nothing was verified.", change: func(a *args) { a.d.Status.AtProvider.History[0].Verdict = nil }, want: want{Stop: StopNoTarget}},
		"Withdrawn":  {reason: "What a person took back is no target.", change: func(a *args) { a.d.Status.AtProvider.History[0].Withdrawn = true }, want: want{Stop: StopNoTarget}},
		"Forgotten":  {reason: "Nor is what nobody knows the trees of.", change: func(a *args) { a.d.Status.AtProvider.History[0].Trees = nil }, want: want{Stop: StopNoTarget}},
		"Elsewhere": {
			reason: "What one repository did not verify is no target.",
			change: func(a *args) {
				a.r.All = append(a.r.All, holding(a.o, "bad", 3, remembered(1, nil, 0, "good")))
			},
			want: want{Stop: StopNoTarget},
		},
		"Named": {
			reason: "A person named it, and it is good everywhere.",
			change: func(a *args) { a.o.Withdraws, a.o.Target = new(int64(2)), new(int64(1)) }, want: want{Attempt: 1, Target: 1},
		},
		"NamedElsewhere": {
			reason: "A person named it before a repository told that it is none.",
			change: func(a *args) {
				a.o.Withdraws, a.o.Target = new(int64(2)), new(int64(1))
				*a.d = *holding(a.o, "bad", 2, good)
				a.r.All = append(a.r.All, holding(a.o, "bad", 3, remembered(1, nil, 0, "good")))
			},
			want: want{Target: 1, Stop: StopNoTarget},
		},
		"Apart": {
			reason: "A repository that took no part has no say.",
			change: func(a *args) { a.r.All = append(a.r.All, holding(a.o, "bad", 3)) }, want: want{Attempt: 1, Target: 1},
		},
		"Newest": {
			reason: "The newest one is gone back to.", want: want{Attempt: 1, Target: 2},
			change: func(a *args) {
				a.d.Status.AtProvider.History = append(a.d.Status.AtProvider.History, remembered(2, verified, 1, "better"))
			},
		},
		"Same": {reason: "Nothing differs.", change: func(a *args) { a.d.Status.AtProvider.Trees[0].Tree = "good" }, want: want{Stop: StopSame}},
		"SameAsked": {
			reason: "An attempt that a person asked for proves that the Sites run the target, also where Git holds its files already.",
			change: func(a *args) {
				a.d.Status.AtProvider.Trees[0].Tree, a.o.Withdraws, a.o.Target = "good", new(int64(2)), new(int64(1))
				a.d.Status.AtProvider.Order = a.o.DeepCopy()
			},
			want: want{Attempt: 1, Target: 1},
		},
		"Unchosen":   {reason: "What differs is at a Site that is no longer chosen.", change: func(a *args) { a.r.Chosen = func(string) bool { return false } }, want: want{Stop: StopSame}},
		"Unrecorded": {reason: "Nothing differs as far as anybody told.", change: func(a *args) { a.d.Status.AtProvider = deliveryv1alpha1.GitDeliveryObservation{} }, want: want{Stop: StopUnknown}},
		"Nobody":     {reason: "There is nobody to tell.", change: func(a *args) { a.r.Parts = nil }, want: want{Stop: StopUnknown}},
		"Marked":     {reason: "A person has to ask.", change: func(a *args) { a.o.Irreversible = new(true) }, want: want{Stop: StopIrreversible}},
		"MarkedAsked": {
			reason: "A person did.", change: func(a *args) { a.o.Irreversible, a.o.Withdraws = new(true), new(int64(2)) },
			want: want{Attempt: 1, Target: 1},
		},
		"UnderWay":  {reason: "An attempt goes on.", change: func(a *args) { a.o = rejectedAt(3, 1) }, want: want{Attempt: 1, Target: 1}},
		"BegunEnds": {reason: "An attempt that was begun ends.", change: func(a *args) { a.o = rejectedAt(3, 1); a.r.Policy = Policy{} }, want: want{Attempt: 1, Target: 1}},
		"Worked":    {reason: "The Sites run it again.", change: func(a *args) { a.o = rejectedAt(3, 1); a.r.Proof.Live = true }, want: want{Attempt: 1, Target: 1, Restored: true}},
		"Next":      {reason: "An attempt failed.", change: func(a *args) { a.o = rejectedAt(3, 1); a.r.Proof.Failure = failure }, want: want{Attempt: 2, Target: 1}},
		"NextOff": {
			reason: "An attempt failed, and there is to be no other.", want: want{Attempt: 1, Target: 1, Stop: StopOff},
			change: func(a *args) { a.o = rejectedAt(3, 1); a.r.Proof.Failure, a.r.Policy.Auto = failure, false },
		},
		"Spent":     {reason: "All attempts failed.", change: func(a *args) { a.o = rejectedAt(3, 3); a.r.Proof.Failure = failure }, want: want{Attempt: 3, Target: 1, Stop: StopSpent}},
		"SpentTrue": {reason: "It comes true later.", change: func(a *args) { a.o = rejectedAt(3, 3); a.r.Proof.Live = true }, want: want{Attempt: 3, Target: 1, Restored: true}},
		"Restored": {
			reason: "What was back once is back, whatever happens.", want: want{Attempt: 1, Target: 1, Restored: true},
			change: func(a *args) { a.o = rejectedAt(3, 1); a.o.Restored = new(true); a.r.Proof.Failure = failure },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := args{o: rejectedAt(3, 0)}
			a.d = holding(a.o, "bad", 3, good)
			a.r = Retreat{
				Policy: Policy{Auto: true, MaxRetries: 3, MaxPerHour: 3}, All: []*deliveryv1alpha1.GitDelivery{a.d}, Parts: []*deliveryv1alpha1.GitDelivery{a.d},
				Chosen: func(string) bool { return true },
			}
			tc.change(&a)
			o, stop := Back(a.o, a.r)
			got := want{Attempt: o.Attempt, Restored: Restored(o), Stop: stop}
			if o.Target != nil {
				got.Target = *o.Target
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nBack(...): -want, +got:\n%s", tc.reason, diff)
			}
			if said := Explained(o, nil, stop); (said == "") != (stop == StopNone) {
				t.Errorf("\n%s\nExplained(...): %q for %q", tc.reason, said, stop)
			}
		})
	}
}

// TestTargetOfMoved goes back to what a Site got, wherever the history has what it left too.
func TestTargetOfMoved(t *testing.T) {
	h := remembered(1, verified, 0, "new")
	h.Trees = append(h.Trees, deliveryv1alpha1.HistoryTree{Site: "s", Tree: "old"}, deliveryv1alpha1.HistoryTree{Site: "t", Tree: "other"})
	o := rejectedAt(2, 0)
	got := TargetOf(o, []*deliveryv1alpha1.GitDelivery{holding(o, "bad", 2, h)})
	if diff := cmp.Diff(&Target{Revision: 1, Commit: "c", Trees: map[string]string{"s": "new", "t": "other"}}, got); diff != "" {
		t.Errorf("TargetOf(...): -want, +got:\n%s", diff)
	}
}

// TestCap counts rejections back from the one that is to be taken back.
// rejections are the history of so many revisions after the first, and of the one after them, all rejected.
func rejections(n int) []deliveryv1alpha1.HistoryEntry {
	var out []deliveryv1alpha1.HistoryEntry
	for i := range n + 1 {
		out = append(out, remembered(int64(i)+2, failure, i, "b"))
	}
	return out
}

func TestCap(t *testing.T) {
	asked := &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictRejected, Reason: rolloutv1alpha1.RejectedRequested}
	cases := map[string]struct {
		reason  string
		history []deliveryv1alpha1.HistoryEntry
		most    int32
		// verdict of the order. Nil means that it failed by itself.
		verdict *rolloutv1alpha1.Verdict
		want    Stop
	}{
		"Under":   {reason: "One is less than two.", most: 2, history: []deliveryv1alpha1.HistoryEntry{remembered(2, failure, 10, "b")}},
		"Reached": {reason: "Two are two.", most: 2, history: []deliveryv1alpha1.HistoryEntry{remembered(2, failure, 10, "b"), remembered(3, failure, 20, "b"), remembered(9, failure, 30, "b")}, want: StopTooMany},
		"Old":     {reason: "One of them is an hour ago.", most: 2, history: []deliveryv1alpha1.HistoryEntry{remembered(2, failure, 10, "b"), remembered(3, failure, 20, "b"), remembered(9, failure, 70, "b")}},
		"Unknown": {reason: "This one is not recorded yet.", most: 2, history: []deliveryv1alpha1.HistoryEntry{remembered(2, failure, 10, "b"), remembered(3, failure, 20, "b")}, want: StopUnknown},
		"Asked":   {reason: "What a person took back does not count.", most: 2, history: []deliveryv1alpha1.HistoryEntry{remembered(2, asked, 10, "b"), remembered(3, failure, 20, "b"), remembered(9, failure, 30, "b")}},
		"Aborted": {
			reason: "A revision that a person aborts goes back, however many were rejected by themselves before.", verdict: asked, most: 2,
			history: []deliveryv1alpha1.HistoryEntry{remembered(2, failure, 10, "b"), remembered(3, failure, 20, "b"), remembered(9, asked, 30, "b")},
		},
		"Most": {reason: "A history holds nine and this one.", most: 9, history: rejections(9), want: StopTooMany},
		"None": {reason: "There is no limit.", history: []deliveryv1alpha1.HistoryEntry{remembered(2, failure, 10, "b"), remembered(3, failure, 20, "b"), remembered(9, failure, 30, "b")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := rejectedAt(max(9, int64(len(tc.history))+1), 0)
			if tc.verdict != nil {
				o.Verdict = tc.verdict
			}
			d := holding(o, "bad", o.Revision, append([]deliveryv1alpha1.HistoryEntry{remembered(1, verified, 0, "good")}, tc.history...)...)
			_, got := Back(o, Retreat{
				Policy: Policy{Auto: true, MaxRetries: 3, MaxPerHour: tc.most}, All: []*deliveryv1alpha1.GitDelivery{d}, Parts: []*deliveryv1alpha1.GitDelivery{d},
				Chosen: func(string) bool { return true },
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nBack(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestInPlace says of which revisions all directories are known to hold the trees. Revision 4 has those of revision 2.
func TestInPlace(t *testing.T) {
	o := changed(order(4, "d"), func(o *rolloutv1alpha1.Order) { o.Verdict = verified })
	cases := map[string]struct {
		reason string
		change func(*deliveryv1alpha1.GitDelivery)
		site   string
		want   []int64
	}{
		"Held":       {reason: "A revision whose tree the directory holds is in place.", change: func(*deliveryv1alpha1.GitDelivery) {}, want: []int64{2}},
		"Drifted":    {reason: "A directory that holds another tree leaves no revision in place.", change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Trees[0].Tree = "other" }},
		"Unknown":    {reason: "A directory of which nothing is reported leaves no revision in place.", change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Trees = nil }},
		"Unrecorded": {reason: "A directory may change until its repository recorded the order.", change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Order.Revision = 3 }},
		"Left":       {reason: "A Site that the deployment left needs nothing restored.", change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Trees[0].Tree = "other" }, site: "s", want: []int64{2, 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := holding(o, "good", 4, remembered(1, verified, 0, "old"), remembered(2, verified, 1, "good"), remembered(3, failure, 2, "good"))
			tc.change(d)
			all := []*deliveryv1alpha1.GitDelivery{d}
			got := InPlace(o, all, all, func(site string) bool { return site != tc.site })
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nInPlace(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
