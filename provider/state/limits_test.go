package state

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestDecodeLimits decodes what somebody forged: no status could hold it, so that nothing could be said about it any more.
func TestDecodeLimits(t *testing.T) {
	long := strings.Repeat("x", 1000)
	cases := map[string]struct {
		reason string
		forge  func(e *Entry)
		err    string
	}{
		"Fits":           {reason: "Characters are counted, not bytes", forge: func(e *Entry) { e.History[0].RequestedBy = strings.Repeat("é", 253) }},
		"Kind":           {reason: "The claim is named in messages", forge: func(e *Entry) { e.Claim.Kind = long }, err: "claim.kind has more than 63 characters"},
		"Cluster":        {reason: "The cluster is named in messages", forge: func(e *Entry) { e.ClusterUID = long }, err: "clusterUID has more than 64 characters"},
		"Commit":         {reason: "A commit is a git id", forge: func(e *Entry) { e.Commit = long }, err: "commit has more than 40 characters"},
		"Base":           {reason: "The base of a commit has a length.", forge: func(e *Entry) { e.Base = long }, err: "base has more than 40 characters"},
		"TreePath":       {reason: "A path has a length", forge: func(e *Entry) { e.Trees[0].Path = long }, err: "trees[0].path has more than 700 characters"},
		"TreeSite":       {reason: "The name of a tree's Site has a length.", forge: func(e *Entry) { e.Trees[0].Site = long }, err: "trees[0].site has more than 63 characters"},
		"TreeBranch":     {reason: "The branch of a tree has a length.", forge: func(e *Entry) { e.Trees[0].Branch = long }, err: "trees[0].branch has more than 200 characters"},
		"TreeID":         {reason: "The id of a tree has a length.", forge: func(e *Entry) { e.Trees[0].Tree = long }, err: "trees[0].tree has more than 40 characters"},
		"Request":        {reason: "The request of a past revision has a length.", forge: func(e *Entry) { e.History[0].Request = long }, err: "history[0].request has more than 80 characters"},
		"Intent":         {reason: "The intent of a past revision has a length.", forge: func(e *Entry) { e.History[0].Intent = long }, err: "history[0].intent has more than 80 characters"},
		"HistoryCommit":  {reason: "The commit of a past revision has a length.", forge: func(e *Entry) { e.History[0].Commit = long }, err: "history[0].commit has more than 40 characters"},
		"HistoryMarked":  {reason: "The history has short digests", forge: func(e *Entry) { e.History[0].Marked = long }, err: "history[0].marked has more than 16 characters"},
		"OrderMarked":    {reason: "What an order marks has a length.", forge: func(e *Entry) { e.Order.Marked = long }, err: "order.marked has more than 16 characters"},
		"Person":         {reason: "A person has a name", forge: func(e *Entry) { e.History[0].RequestedBy = long }, err: "history[0].requestedBy has more than 253 characters"},
		"HistorySite":    {reason: "The Site of a past tree has a length.", forge: func(e *Entry) { e.History[0].Trees[0].Site = long }, err: "history[0].trees[0].site has more than 63 characters"},
		"HistoryTree":    {reason: "The id of a past tree has a length.", forge: func(e *Entry) { e.History[0].Trees[0].Tree = long }, err: "history[0].trees[0].tree has more than 40 characters"},
		"HistoryVerdict": {reason: "A verdict is one of two.", forge: func(e *Entry) { e.History[0].Verdict = &rolloutv1alpha1.Verdict{Result: "Maybe"} }, err: "history[0].verdict.result is not known"},
		"Reason": {
			reason: "A reason is a word",
			forge: func(e *Entry) {
				e.Order.Verdict = &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictRejected, Reason: long}
			},
			err: "order.verdict.reason has more than 64 characters",
		},
		"Words": {
			reason: "What was seen has a length",
			forge: func(e *Entry) {
				e.Order.Verdict = &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictRejected, Message: long + long}
			},
			err: "order.verdict.message has more than 1024 characters",
		},
		"Asked": {
			reason: "Nobody asked before there were dates",
			forge: func(e *Entry) {
				e.Order.RequestRef = &rolloutv1alpha1.RequestReference{At: new(metav1.NewTime(at(0).AddDate(-100, 0, 0)))}
			},
			err: "order.requestRef.at is not from the years 1970 to 9999",
		},
		"Digests":          {reason: "Of digests too, characters are counted", forge: func(e *Entry) { e.Order.Intent = strings.Repeat("é", 80) }},
		"LongDigest":       {reason: "A digest has a length", forge: func(e *Entry) { e.Order.Request = long }, err: "its order is not complete"},
		"Directories":      {reason: "A claim has so many directories, with those that were left", forge: func(e *Entry) { e.Trees = make([]Tree, 2001) }, err: "it has more than 2000 trees"},
		"RequestRef":       {reason: "A RolloutRequest has a name", forge: func(e *Entry) { e.Order.RequestRef = &rolloutv1alpha1.RequestReference{Name: long} }, err: "order.requestRef.name has more than 253 characters"},
		"Blueprint":        {reason: "A Blueprint has a name", forge: func(e *Entry) { e.Order.Blueprint = &rolloutv1alpha1.BlueprintReference{Channel: "stable"} }, err: "its order is not complete"},
		"BlueprintName":    {reason: "The name of a Blueprint has a length.", forge: func(e *Entry) { e.Order.Blueprint = &rolloutv1alpha1.BlueprintReference{Name: long} }, err: "order.blueprint.name has more than 253 characters"},
		"BlueprintChannel": {reason: "The channel of a Blueprint has a length.", forge: func(e *Entry) { e.Order.Blueprint = &rolloutv1alpha1.BlueprintReference{Name: "a", Channel: long} }, err: "order.blueprint.channel has more than 63 characters"},
		"BlueprintDigest":  {reason: "The digest of a Blueprint has a length.", forge: func(e *Entry) { e.Order.Blueprint = &rolloutv1alpha1.BlueprintReference{Name: "a", Digest: long} }, err: "order.blueprint.digest has more than 80 characters"},
		"RequestBy":        {reason: "Who asked has a name", forge: func(e *Entry) { e.Order.RequestRef = &rolloutv1alpha1.RequestReference{By: long} }, err: "order.requestRef.by has more than 253 characters"},
		"PlanSite":         {reason: "The Sites of a plan have names of a length.", forge: func(e *Entry) { e.Order.Plan = []rolloutv1alpha1.Step{{Sites: []string{long}}} }, err: "order.plan[0].sites[0] has more than 63 characters"},
		"PlanPause":        {reason: "A pause is a duration", forge: func(e *Entry) { e.Order.Plan = []rolloutv1alpha1.Step{{Pause: long}} }, err: "order.plan[0].pause has more than 32 characters"},
		"PlanWeight":       {reason: "A weight is a percentage", forge: func(e *Entry) { e.Order.Plan = []rolloutv1alpha1.Step{{Weight: new(int32(101))}} }, err: "order.plan[0].weight is not from 0 to 100"},
		"PlanWide":         {reason: "A step has so many Sites", forge: func(e *Entry) { e.Order.Plan = []rolloutv1alpha1.Step{{Sites: make([]string, 501)}} }, err: "order.plan[0] has more than 500 sites"},
		"Step":             {reason: "Steps are counted from 0", forge: func(e *Entry) { e.Order.Step = -1 }, err: "its order is not complete"},
		"Target":           {reason: "Revisions are counted from 1", forge: func(e *Entry) { e.Order.Target = new(int64(0)) }, err: "its order is not complete"},
		"NoDate":           {reason: "No date is written as none, which an attempt has to have", forge: func(e *Entry) { e.Attempt.StartedAt = metav1.Time{} }, err: "attempt.startedAt is not from the years 1970 to 9999"},
		"BadDate":          {reason: "A year has four digits", forge: func(e *Entry) { e.CommitTime = new(metav1.NewTime(at(0).AddDate(7973, 2, 0))) }, err: "malformed"},
		"OldDate":          {reason: "A date before Git existed is refused.", forge: func(e *Entry) { e.History[0].StartedAt = new(metav1.NewTime(at(0).AddDate(-100, 0, 0))) }, err: "history[0].startedAt is not from the years 1970 to 9999"},
		"TooManyTrees": {
			reason: "A revision has so many trees",
			forge:  func(e *Entry) { e.History[0].Trees = make([]deliveryv1alpha1.HistoryTree, 501) },
			err:    "revision 1 has more than 500 trees",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := entry()
			tc.forge(&e)
			if _, err := e.Encode(); (err == nil) != (tc.err == "") {
				t.Errorf("\n%s\nEncode(): want what cannot be read not to be written, got %v", tc.reason, err)
			}
			content, err := e.marshalIndented()
			if err != nil {
				t.Fatal(err)
			}
			_, err = Decode(content)
			said := ""
			if err != nil {
				said = strings.TrimPrefix(strings.TrimPrefix(err.Error(), "cannot decode state: "), "it is ")
			}
			if diff := cmp.Diff(tc.err, said); diff != "" {
				t.Errorf("\n%s\nDecode(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}
