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

// mostlyKept returns a plan that prunes some items, and keeps so many more with the longest message.
func mostlyKept(pruned, retained, characters int) *prune.Plan {
	p := largestPlan(characters, "")
	p.Items = p.Items[:pruned]
	for i := range retained {
		p.Items = append(p.Items, prune.Item{
			Kind: "IntentDeployment", Namespace: "team-a", Name: fmt.Sprint(i), Path: strings.Repeat("p", 2000), Verdict: prune.VerdictKeep,
			Reason: "Shared", Message: strings.Repeat("m", 2000),
		})
	}
	return p
}

func TestFitPlan(t *testing.T) {
	type view struct {
		Items, Pruned, Kept, More int
		Refusal, Digest           string
	}
	cases := map[string]struct {
		reason string
		plan   *prune.Plan
		want   view
	}{
		"Fits": {reason: "A plan that a status has room for is shown as it is.", plan: largestPlan(20, ""), want: view{Items: 500, Pruned: 500, Digest: "sha256:1"}},
		"Kept": {
			reason: "A plan is not refused for items that it keeps: the last of them are counted alone.", plan: mostlyKept(3, 497, 20),
			want: view{Items: 399, Pruned: 3, Kept: 497, More: 101, Digest: "sha256:1"},
		},
		"KeptOnly": {
			reason: "A plan that prunes nothing is not refused for its size.",
			plan:   mostlyKept(0, 500, 20), want: view{Items: 398, Kept: 500, More: 102, Digest: "sha256:1"},
		},
		"Large": {
			reason: "A plan whose pruned items have no room is refused, with the items of which some make it smaller.", plan: largestPlan(250, ""),
			want: view{Items: 179, Pruned: 500, Refusal: "TooMany: the plan prunes 500 items, and a status has room for 179 of them: name some of those in only"},
		},
		"LargeKept": {
			reason: "A plan that also keeps items is shortened, too.", plan: mostlyKept(300, 200, 250),
			want: view{
				Items: 179, Pruned: 300, Kept: 200, More: 200,
				Refusal: "TooMany: the plan prunes 300 items, and a status has room for 179 of them: name some of those in only",
			},
		},
		"Refused": {
			reason: "A plan that is refused for another reason keeps that.",
			plan:   largestPlan(250, prune.RefusalUncertain), want: view{Items: 179, Pruned: 500, Refusal: "Uncertain: because"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			published := publishedPlan(tc.plan, time.Unix(0, 0), "")
			refusal, message, err := fitPlanToStatus(published, tc.plan.Refusal, tc.plan.Message)
			if err != nil {
				t.Fatal(err)
			}
			got := view{Items: len(published.Items), Pruned: int(published.Pruned), Kept: int(published.Kept), More: int(published.More), Digest: published.Digest}
			if refusal != "" {
				got.Refusal = string(refusal) + ": " + message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nfitPlan(...): -want, +got:\n%s", tc.reason, diff)
			}
			b, err := json.Marshal(&v1alpha1.PruneRequest{Status: v1alpha1.PruneRequestStatus{Plan: published}})
			if err != nil || len(b) > 1_500_000 {
				t.Errorf("\n%s\nThe object has %d bytes, more than the API server stores: %v", tc.reason, len(b), err)
			}
		})
	}
}
