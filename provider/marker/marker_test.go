package marker

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func example() Marker {
	return Marker{
		Claim: rolloutv1alpha1.ClaimReference{
			APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "web",
		},
		ControlPlane: "prod",
		ClusterUID:   "uid-1",
	}
}

const encoded = `{
  "version": 1,
  "controlPlane": "prod",
  "clusterUID": "uid-1",
  "claim": {
    "apiGroup": "claims.intentplane.dev",
    "kind": "IntentDeployment",
    "namespace": "team-a",
    "name": "web"
  },
  "shard": 0
}
`

func TestEncode(t *testing.T) {
	withUID := example()
	withUID.Claim.UID = "another"

	cases := map[string]struct {
		reason string
		marker Marker
	}{
		"Golden":   {reason: "The bytes never change: directories in repositories are compared with them", marker: example()},
		"ClaimUID": {reason: "A claim that was restored from a backup has another uid and the same directory", marker: withUID},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.marker.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(encoded, string(got)); diff != "" {
				t.Errorf("\n%s\nEncode(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason  string
		content string
		want    Marker
		err     string
	}{
		"Ours":         {reason: "What was encoded is parsed", content: encoded, want: example()},
		"Malformed":    {reason: "Another tool's file of the same name is refused", content: "owner: me", err: "cannot parse marker: it is malformed"},
		"UnknownField": {reason: "A field that is not known may change what the marker means", content: `{"version":1,"x":1}`, err: "cannot parse marker: it is malformed"},
		"Trailing":     {reason: "Two markers are none", content: encoded + "{}", err: "cannot parse marker: something follows it"},
		"Version":      {reason: "A newer marker is not guessed at", content: `{"version":2}`, err: "cannot parse marker: version 2 is not known"},
		"Long":         {reason: "Input is bounded", content: strings.Repeat(" ", 5000), err: "cannot parse marker: it has more than 4096 bytes"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Parse([]byte(tc.content))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nParse(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.err, message(err)); diff != "" {
				t.Errorf("\n%s\nParse(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSameClaim(t *testing.T) {
	other := func(change func(m *Marker)) Marker {
		m := example()
		change(&m)
		return m
	}
	cases := map[string]struct {
		reason string
		other  Marker
		want   bool
	}{
		"Same":           {reason: "A marker is its own", other: example(), want: true},
		"RebuiltCluster": {reason: "A rebuilt cluster has the claim with another uid", other: other(func(m *Marker) { m.ClusterUID = "uid-2" }), want: true},
		"OtherName":      {reason: "Another claim is another", other: other(func(m *Marker) { m.Claim.Name = "api" })},
		"OtherGroup":     {reason: "A composite of the same name is no claim", other: other(func(m *Marker) { m.Claim.APIGroup = "intentplane.dev" })},
		"OtherShard":     {reason: "A shard has its own directories", other: other(func(m *Marker) { m.Shard = 1 })},
		"OtherPlane":     {reason: "Another installation has its own claims", other: other(func(m *Marker) { m.ControlPlane = "test" })},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, example().SameClaim(tc.other)); diff != "" {
				t.Errorf("\n%s\nSameClaim(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
