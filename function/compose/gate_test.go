package compose

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func TestGate(t *testing.T) {
	claim := rolloutv1alpha1.ClaimReference{APIGroup: deploymentv1alpha1.GroupClaims, Kind: "IntentDeployment", Namespace: "team-a", Name: "shop"}
	blueprint := &ledger.BlueprintReference{Name: "web-1.0.0"}
	state := ledger.State{
		Head: ledger.Head{Ledger: "l", Epoch: 1}, Current: &ledger.Revision{Number: 3, Blueprint: blueprint}, Cursor: ledger.Cursor{Step: 1},
		Verdict: &ledger.Verdict{Result: ledger.VerdictVerified},
	}
	position := state.Position()
	checks := []rolloutv1alpha1.GateCheck{{
		Check: deploymentv1alpha1.Check{Name: "a", Site: "edge1"}, ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "repo"},
	}}
	sync := func(name string) *deliveryv1alpha1.SiteSync {
		return &deliveryv1alpha1.SiteSync{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	cases := map[string]struct {
		reason string
		sync   *deliveryv1alpha1.SiteSync
		config deploymentv1alpha1.GatesConfig
		checks []rolloutv1alpha1.GateCheck
		want   *rolloutv1alpha1.GateParameters
	}{
		"MetricsUnavailable": {
			reason: "The policy for an unavailable metrics backend travels with the Gate.", checks: checks,
			config: deploymentv1alpha1.GatesConfig{MetricsUnavailableTimeout: "1m", OnMetricsUnavailable: deploymentv1alpha1.MetricsUnavailableReject},
			want: &rolloutv1alpha1.GateParameters{
				ClaimRef: claim, Position: &position, Blueprint: blueprint, Checks: checks,
				MetricsUnavailableTimeout: "1m", OnMetricsUnavailable: deploymentv1alpha1.MetricsUnavailableReject,
			},
		},
		"Observed": {
			reason: "The Gate names the SiteSync that proves the judged step.",
			sync:   sync("shop-x1"), checks: checks,
			want: &rolloutv1alpha1.GateParameters{
				ClaimRef: claim, Position: &position, Blueprint: blueprint, SiteSyncRef: &rolloutv1alpha1.SiteSyncReference{Name: "shop-x1"}, Checks: checks,
			},
		},
		"Unobserved": {
			reason: "Without an engine at any Site a SiteSync does not exist.", checks: checks,
			want: &rolloutv1alpha1.GateParameters{ClaimRef: claim, Position: &position, Blueprint: blueprint, Checks: checks},
		},
		"NotThereYet": {
			reason: "A SiteSync without a name is the claim's.", sync: sync(""), checks: checks,
			want: &rolloutv1alpha1.GateParameters{ClaimRef: claim, Position: &position, Blueprint: blueprint, Checks: checks},
		},
		"Defaults": {
			reason: "The defaults of the schema for an unavailable metrics backend are left out of the Gate.", checks: checks,
			config: deploymentv1alpha1.GatesConfig{MetricsUnavailableTimeout: "30m", OnMetricsUnavailable: "Hold"},
			want:   &rolloutv1alpha1.GateParameters{ClaimRef: claim, Position: &position, Blueprint: blueprint, Checks: checks},
		},
		"Nothing": {reason: "Nothing to check needs no Gate.", sync: sync("shop-x1")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got *rolloutv1alpha1.GateParameters
			if g := Gate(claim, state, tc.sync, tc.config, tc.checks); g != nil {
				got = &g.Spec.ForProvider
				if diff := cmp.Diff(checks[0].ProviderConfigReference, g.Spec.ProviderConfigReference); diff != "" {
					t.Errorf("\n%s\nGate(...): configuration: -want, +got:\n%s", tc.reason, diff)
				}
				if !evidence.IsGateOf(g, state) {
					t.Errorf("\n%s\nGate(...): it is not the Gate of the state: %+v", tc.reason, g)
				}
				if diff := cmp.Diff("team-a/shop-r3-s1", g.GetNamespace()+"/"+g.GetName()); diff != "" {
					t.Errorf("\n%s\nGate(...): -want, +got:\n%s", tc.reason, diff)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nGate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if diff := cmp.Diff("gate-3-1", GateName(position)); diff != "" {
		t.Errorf("GateName(...): -want, +got:\n%s", diff)
	}
}

func TestGateObjectName(t *testing.T) {
	a := strings.Repeat("a", 50)
	cases := map[string]struct {
		reason   string
		claim    string
		group    string
		revision int64
		want     string
	}{
		"Composite": {
			reason: "A composite may have the name of a claim.",
			claim:  "shop", group: deploymentv1alpha1.GroupNamespaced, revision: 2, want: "shop-8c526e1c-r2-s0",
		},
		"LongComposite": {
			reason: "A name that is too long ends in a digest.",
			claim:  a + "bcdefghi", group: deploymentv1alpha1.GroupNamespaced, revision: 2, want: a[:48] + "-ddf36035-r2-s0",
		},
		"Short":    {reason: "Names that fit are said.", claim: "shop", revision: 2, want: "shop-r2-s0"},
		"Fits":     {reason: "The longest name that fits has no digest.", claim: a + "bcdefgh", revision: 2, want: a + "bcdefgh-r2-s0"},
		"TooLong":  {reason: "A Gate name over the length limit ends in a digest.", claim: a + "bcdefghi", revision: 2, want: a[:48] + "-64c67077-r2-s0"},
		"Alike":    {reason: "Names that differ at their end do so here.", claim: a + "bcdefghj", revision: 2, want: a[:48] + "-762a4bcb-r2-s0"},
		"NoDouble": {reason: "No dash comes before a dash.", claim: a[:47] + "-cdefghijkl", revision: 2, want: a[:47] + "-2596ccc1-r2-s0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			claimRef := rolloutv1alpha1.ClaimReference{APIGroup: deploymentv1alpha1.GroupClaims, Name: tc.claim}
			if tc.group != "" {
				claimRef.APIGroup = tc.group
			}
			got := gateObjectName(claimRef, ledger.Position{Revision: tc.revision})
			if diff := cmp.Diff(tc.want, got); diff != "" || len(got) > maxGateName {
				t.Errorf("\n%s\ngateObjectName(%q): %d characters, -want, +got:\n%s", tc.reason, tc.claim, len(got), diff)
			}
		})
	}
}

// TestGateUntil compares how long the Gates of a revision without steps and of one with steps measure.
func TestGateUntil(t *testing.T) {
	plain, stepped := inWaves(0), inWaves(0)
	stepped.Current.Track = "blue"
	stepped.Current.Plan[0].Weight = new(int32(20))
	for _, s := range []ledger.State{plain, stepped} {
		g := Gate(rolloutv1alpha1.ClaimReference{}, s, nil, deploymentv1alpha1.GatesConfig{}, []rolloutv1alpha1.GateCheck{{}})
		if got := g.Spec.ForProvider.Until == rolloutv1alpha1.GateUntilReleased; got != s.Current.HasSteps() {
			t.Errorf("\nThe Gate of a revision with steps measures until the step is released.\nGate(...): until %q with steps %t", g.Spec.ForProvider.Until, s.Current.HasSteps())
		}
	}
	if !stepped.Current.HasSteps() || plain.Current.HasSteps() {
		t.Error("HasSteps(): want steps with weights alone")
	}
}
