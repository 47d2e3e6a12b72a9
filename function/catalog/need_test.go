package catalog

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func TestRequests(t *testing.T) {
	long := strings.Repeat("x", 100)
	request := rolloutv1alpha1.RolloutRequest{ObjectMeta: metav1.ObjectMeta{Name: "take-it"}}
	cases := map[string]struct {
		reason string
		name   string
		given  Answers
		want   []string
	}{
		"Some": {
			reason: "The requests that Crossplane sent are returned.",
			name:   "shop",
			given: Answers{
				"requests/team-a/rollout.intentplane.dev/deployment=shop,rollout.intentplane.dev/deployment-group=intentplane.dev": encoded(request),
			},
			want: []string{"take-it"},
		},
		"Unanswered": {reason: "Requests are required before they are read.", name: "shop"},
		"Other": {
			reason: "Requests for another deployment are not included.",
			name:   "bank",
			given: Answers{
				"requests/team-a/rollout.intentplane.dev/deployment=shop,rollout.intentplane.dev/deployment-group=intentplane.dev": encoded(request),
			},
		},
		"Long": {reason: "A name that is too long for a label is replaced by its digest.", name: long},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			claim := rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Namespace: "team-a", Name: tc.name}
			need := RequestsNeed(claim)
			got, err := (*Cache)(nil).Requests(claim, tc.given)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, r := range got {
				names = append(names, r.GetName())
			}
			if diff := cmp.Diff(tc.want, names); diff != "" {
				t.Errorf("\n%s\nRequests(...): -want, +got:\n%s", tc.reason, diff)
			}
			for _, value := range slices.Collect(maps.Values(need.MatchLabels)) {
				if len(value) > 63 || value == "" {
					t.Errorf("\n%s\nRequests(...): label %q", tc.reason, value)
				}
			}
			if need.Namespace != "team-a" || need.Kind != "RolloutRequest" || len(need.MatchLabels) != 2 {
				t.Errorf("\n%s\nRequests(...): need %+v", tc.reason, need)
			}
		})
	}
}
