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

func TestEncodeMarker(t *testing.T) {
	withUID := example()
	withUID.Claim.UID = "another"

	cases := map[string]struct {
		reason string
		marker Marker
	}{
		"Golden":   {reason: "The encoded bytes never change: directories in repositories are compared with them.", marker: example()},
		"ClaimUID": {reason: "A claim that was restored from a backup has another UID and the same directory.", marker: withUID},
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
		"Ours":      {reason: "An encoded marker is parsed again.", content: encoded, want: example()},
		"Malformed": {reason: "A file of another tool with the same name is refused.", content: "owner: me", err: "cannot parse marker: it is malformed"},
		"UnknownField": {
			reason:  "An unknown field is refused: it may change the meaning of the marker.",
			content: `{"version":1,"x":1}`, err: "cannot parse marker: it is malformed",
		},
		"Trailing": {reason: "A file with two markers is refused.", content: encoded + "{}", err: "cannot parse marker: something follows it"},
		"Version":  {reason: "A marker of a newer version is refused.", content: `{"version":2}`, err: "cannot parse marker: version 2 is not known"},
		"Long":     {reason: "A file that is too long is refused.", content: strings.Repeat(" ", 5000), err: "cannot parse marker: it has more than 4096 bytes"},
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
	markerWith := func(change func(m *Marker)) Marker {
		m := example()
		change(&m)
		return m
	}
	cases := map[string]struct {
		reason string
		other  Marker
		want   bool
	}{
		"Same": {reason: "A marker is for the same claim as itself.", other: example(), want: true},
		"RebuiltCluster": {
			reason: "A claim of a rebuilt cluster is the same claim with another UID.",
			other:  markerWith(func(m *Marker) { m.ClusterUID = "uid-2" }), want: true,
		},
		"OtherName":  {reason: "A claim of another name is another claim.", other: markerWith(func(m *Marker) { m.Claim.Name = "api" })},
		"OtherGroup": {reason: "A composite of the same name is not the claim.", other: markerWith(func(m *Marker) { m.Claim.APIGroup = "intentplane.dev" })},
		"OtherShard": {reason: "Another shard of a claim has its own directories.", other: markerWith(func(m *Marker) { m.Shard = 1 })},
		"OtherPlane": {reason: "A claim of another installation is another claim.", other: markerWith(func(m *Marker) { m.ControlPlane = "test" })},
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
