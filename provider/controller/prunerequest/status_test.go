package prunerequest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/prune"
)

// largestPlan returns a plan with as many items as one may list, each with as many stateful objects, and with names of so many characters.
func largestPlan(characters int, refusal prune.Refusal) *prune.Plan {
	p := &prune.Plan{Digest: "sha256:1", Refusal: refusal, Message: "because"}
	name := strings.Repeat("a", characters)
	for i := range 500 {
		item := prune.Item{Kind: "IntentDeployment", Namespace: "team-a", Name: fmt.Sprintf("%s%d", name, i), Verdict: prune.VerdictPrune}
		for range maxStateful {
			item.Stateful = append(item.Stateful, "PersistentVolumeClaim "+name)
		}
		p.Items = append(p.Items, item)
	}
	return p
}

func TestFitPlan(t *testing.T) {
	cases := map[string]struct {
		reason string
		plan   *prune.Plan
		want   string
		items  int
	}{
		"Fits":    {reason: "A plan that a status has room for is shown as it is.", plan: largestPlan(20, ""), items: 500},
		"Large":   {reason: "A plan that no status has room for is refused, with the field that makes it smaller.", plan: largestPlan(250, ""), want: "TooMany: the plan has 2852 KiB, and a status has room for 1024: name some of its items in only"},
		"Refused": {reason: "A plan that is refused for another reason keeps that.", plan: largestPlan(250, prune.RefusalUncertain), want: "Uncertain: because"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			shown, got := shownPlan(tc.plan, time.Unix(0, 0), ""), ""
			refusal, message, err := fitPlan(shown, tc.plan.Refusal, tc.plan.Message)
			if err != nil {
				t.Fatal(err)
			}
			if refusal != "" {
				got = string(refusal) + ": " + message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(shown.Items) != tc.items {
				t.Errorf("\n%s\nfitPlan(...): %d items, -want, +got:\n%s", tc.reason, len(shown.Items), diff)
			}
			b, err := json.Marshal(&v1alpha1.PruneRequest{Status: v1alpha1.PruneRequestStatus{Plan: shown}})
			if err != nil || len(b) > 1_500_000 {
				t.Errorf("\n%s\nThe object has %d bytes, more than the API server stores: %v", tc.reason, len(b), err)
			}
		})
	}
}
