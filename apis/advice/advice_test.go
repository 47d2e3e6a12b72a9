package advice

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFor(t *testing.T) {
	type want struct {
		known, needsPerson bool
		actor              Actor
	}
	cases := map[string]struct {
		reason string
		kind   Kind
		says   string
		want   want
	}{
		"Own": {
			reason: "A reason of the kind itself has advice.",
			kind:   GitDelivery, says: "AuthFailed", want: want{known: true, needsPerson: true, actor: PlatformTeam},
		},
		"Ends": {
			reason: "A reason that ends by itself needs no person, though an actor looks at it if it lasts.",
			kind:   GitDelivery, says: "Unreachable", want: want{known: true, actor: RepositoryOwner},
		},
		"Good": {reason: "A reason that is as it should be needs no person.", kind: SiteSync, says: "Live", want: want{known: true, actor: NoActor}},
		"OfCluster": {
			reason: "A Site repeats the reasons of its cluster.",
			kind:   Site, says: "KubeconfigExpired", want: want{known: true, needsPerson: true, actor: ClusterOwner},
		},
		"OfManaged": {
			reason: "A WorkloadCluster repeats the reasons of its ManagedCluster.",
			kind:   WorkloadCluster, says: "NameTaken", want: want{known: true, needsPerson: true, actor: Author},
		},
		"OfObjects": {
			reason: "A WorkloadCluster has the reasons of Cluster API's objects.",
			kind:   WorkloadCluster, says: "TerraformFailed", want: want{known: true, needsPerson: true, actor: PlatformTeam},
		},
		"First": {
			reason: "A reason of the kind itself precedes a repeated reason.",
			kind:   Site, says: "AccessDenied", want: want{known: true, needsPerson: true, actor: ClusterOwner},
		},
		"OfProvider": {
			reason: "The platform team gives the provider its rights in the cluster of the control plane.",
			kind:   Site, says: "ProviderAccessDenied", want: want{known: true, needsPerson: true, actor: PlatformTeam},
		},
		"Unknown":     {reason: "A reason that this version does not know has no advice.", kind: Gate, says: "FromTomorrow"},
		"UnknownKind": {reason: "A kind that this version does not know has no advice.", kind: "Bundle", says: "Ready"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, isKnown := For(tc.kind, tc.says)
			got := want{known: isKnown, needsPerson: a.NeedsPerson(), actor: a.Actor}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nFor(%q, %q): -want, +got:\n%s", tc.reason, tc.kind, tc.says, diff)
			}
		})
	}
}

// TestLines checks all advice: it has a line for a person and, where a trigger is needed, the trigger that lets the object continue.
func TestLines(t *testing.T) {
	for _, k := range Kinds() {
		for _, reason := range Reasons(k) {
			a, _ := For(k, reason)
			if len(a.Do) > 130 || !strings.HasSuffix(a.Do, ".") || strings.Contains(a.Do, "\n") || a.Do == "." {
				t.Errorf("%s of %s: the advice is not one line of at most 130 characters that ends with a period: %q", reason, k, a.Do)
			}
			if a.Actor.Words() == "" {
				t.Errorf("%s of %s: no words for actor %q", reason, k, a.Actor)
			}
			if (a.EndsByItself || a.NeedsPerson()) != (a.Wakes != WakeNone) {
				t.Errorf("%s of %s: its trigger is %q, and ends by itself: %t, needs a person: %t", reason, k, a.Wakes, a.EndsByItself, a.NeedsPerson())
			}
		}
	}
}
