package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func TestClaimFor(t *testing.T) {
	const forged = `"claimRef": {"apiVersion": "claims.intentplane.dev/v1alpha1", "kind": "IntentDeployment", "namespace": "team-b", "name": "bank"}`
	cases := map[string]struct {
		reason    string
		composite string
		want      rolloutv1alpha1.ClaimReference
		wantErr   bool
	}{
		"Claim": {
			reason:    "A composite in no namespace speaks for its claim.",
			composite: `{"kind": "XIntentDeployment", "metadata": {"name": "bank-x1"}, "spec": {` + forged + `}}`,
			want:      rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-b", Name: "bank"},
		},
		"Namespaced": {
			reason:    "A composite in a namespace speaks for itself.",
			composite: `{"kind": "IntentDeployment", "metadata": {"namespace": "team-a", "name": "shop"}, "spec": {}}`,
			want:      rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "shop"},
		},
		"GHSA-77cv-mrm6-fr3c-Forged": {
			reason:    "A composite in a namespace cannot speak for a claim of another namespace.",
			composite: `{"kind": "IntentDeployment", "metadata": {"namespace": "team-a", "name": "shop"}, "spec": {` + forged + `}}`,
			want:      rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "shop"},
		},
		"Neither": {
			reason:    "A composite with neither a claim nor a namespace is refused.",
			composite: `{"kind": "XIntentDeployment", "metadata": {"name": "bank-x1"}, "spec": {}}`, wantErr: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &intentDeployment{}
			if err := json.Unmarshal([]byte(tc.composite), d); err != nil {
				t.Fatal(err)
			}
			got, err := d.claim()
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.wantErr {
				t.Errorf("\n%s\nclaim(): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}
