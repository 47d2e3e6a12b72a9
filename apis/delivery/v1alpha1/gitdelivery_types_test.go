package v1alpha1_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/admission"
)

// readDefinition returns the definition of a kind, by its plural name.
func readDefinition(t *testing.T, plural string) []byte {
	t.Helper()
	crd, err := os.ReadFile("../../../package/provider/crds/delivery.intentplane.dev_" + plural + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	if crd, err = yaml.YAMLToJSON(crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

// newServer returns the checks of an API server for the objects of a kind.
func newServer(t *testing.T, plural string) *admission.Server {
	t.Helper()
	server, err := admission.Of(readDefinition(t, plural))
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// opened returns the event that begins a ledger.
func opened() ledger.Event {
	return ledger.Event{Opened: &ledger.Opened{Ledger: "uid-1", Home: "platform"}}
}

// ordered returns the event that begins the first revision.
func ordered() ledger.Event {
	return ledger.Event{Ordered: &ledger.Ordered{Revision: ledger.Revision{
		Number: 1, Request: ledger.Request{Intent: "i", Sources: "s", Scheme: 1, Renderer: 1},
		Plan: []ledger.Step{{Sites: []string{"edge1"}}}, Parts: []ledger.Part{{Delivery: "web", ConfigRef: "platform", Sites: []string{"edge1"}}},
	}}}
}

// homeDelivery returns a delivery to a home that records nothing new.
func homeDelivery() *v1alpha1.GitDelivery {
	d := &v1alpha1.GitDelivery{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "GitDelivery"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"},
	}
	d.Spec.ForProvider.ClaimRef = rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "web"}
	d.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{}
	return d
}

// TestGitDeliveryLedgerFields checks which GitDeliveries the API server takes.
func TestGitDeliveryLedgerFields(t *testing.T) {
	state := &ledger.State{Head: ledger.Head{Ledger: "uid-1", Epoch: 1, Seq: 1, ID: "1"}, Home: "platform"}
	cases := map[string]struct {
		reason string
		change func(*v1alpha1.GitDeliveryParameters)
		want   string
	}{
		"Home": {reason: "The home gets the events of a ledger.", change: func(p *v1alpha1.GitDeliveryParameters) {
			p.Ledger = &v1alpha1.LedgerUpdate{Events: []ledger.Event{opened(), ordered()}}
			p.Position = &ledger.Position{Epoch: 1, Revision: 1}
		}},
		"Follower": {reason: "Every other repository gets a copy of the ledger.", change: func(p *v1alpha1.GitDeliveryParameters) { p.Copy = state }},
		"Nothing":  {reason: "A delivery without content is refused.", change: func(*v1alpha1.GitDeliveryParameters) {}, want: "exactly one of them must be set"},
		"LedgerAndCopy": {reason: "A repository is home or follower, but not both.", change: func(p *v1alpha1.GitDeliveryParameters) {
			p.Copy, p.Ledger = state, &v1alpha1.LedgerUpdate{}
		}, want: "exactly one of them must be set"},
		"TwoEvents": {reason: "An event with two contents is refused.", change: func(p *v1alpha1.GitDeliveryParameters) {
			e := opened()
			e.Ordered = ordered().Ordered
			p.Ledger = &v1alpha1.LedgerUpdate{Events: []ledger.Event{e}}
		}, want: "exactly one of opened"},
		"NoEvent": {reason: "A list of events with an empty event is refused.", change: func(p *v1alpha1.GitDeliveryParameters) {
			p.Ledger = &v1alpha1.LedgerUpdate{Events: []ledger.Event{{}}}
		}, want: "exactly one of opened"},
		"TooManyEvents": {reason: "The number of events is limited.", change: func(p *v1alpha1.GitDeliveryParameters) {
			p.Ledger = &v1alpha1.LedgerUpdate{Events: make([]ledger.Event, 9)}
		}, want: "must have at most 8 items"},
		"LongNames": {reason: "A repository is named by the longest name that a ProviderConfig may have.", change: func(p *v1alpha1.GitDeliveryParameters) {
			e, home := ordered(), "ProviderConfig/"+strings.Repeat("a", 253)
			e.Ordered.Revision.Parts[0].ConfigRef = home
			p.Ledger = &v1alpha1.LedgerUpdate{Events: []ledger.Event{{Opened: &ledger.Opened{Ledger: "uid-1", Home: home}}, e}}
		}},
	}
	server := newServer(t, "gitdeliveries")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := homeDelivery()
			d.Spec.ForProvider.Ledger = nil
			tc.change(&d.Spec.ForProvider)
			got := problemsOf(t, server, d)
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nCheck(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// contentOf returns an object as the API server gets it.
func contentOf(t *testing.T, o any) map[string]any {
	t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]any{}
	if err := json.Unmarshal(b, &content); err != nil {
		t.Fatal(err)
	}
	return content
}

// TestLaterTreeFields checks which later trees the API server takes.
func TestLaterTreeFields(t *testing.T) {
	treeOf := func(index int32) v1alpha1.LaterTree {
		siteTree := v1alpha1.Tree{Site: "edge1", Branch: "main", Path: "clusters/edge1/team-a/web", Action: v1alpha1.ActionDesired, Tree: strings.Repeat("a", 40)}
		return v1alpha1.LaterTree{Tree: siteTree, Revision: 2, Step: index}
	}
	noRevision := treeOf(1)
	noRevision.Revision = 0
	cases := map[string]struct {
		reason string
		later  []v1alpha1.LaterTree
		want   string
	}{
		"First":      {reason: "The first step of a canary waits for the requests of an earlier canary.", later: []v1alpha1.LaterTree{treeOf(0)}},
		"Last":       {reason: "A plan has 20 steps at most.", later: []v1alpha1.LaterTree{treeOf(19)}},
		"Negative":   {reason: "Steps are counted from 0.", later: []v1alpha1.LaterTree{treeOf(-1)}, want: "later[0].step"},
		"TooLate":    {reason: "No plan has the step.", later: []v1alpha1.LaterTree{treeOf(20)}, want: "later[0].step"},
		"Twice":      {reason: "A directory has one later tree.", later: []v1alpha1.LaterTree{treeOf(0), treeOf(1)}, want: "later[1]"},
		"NoRevision": {reason: "Revisions are counted from 1.", later: []v1alpha1.LaterTree{noRevision}, want: "later[0].revision"},
	}
	server := newServer(t, "gitdeliveries")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := homeDelivery()
			d.Spec.ForProvider.Later = tc.later
			got := problemsOf(t, server, d)
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nCheck(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// problemsOf returns the errors of an API server for an object, as far as they are about the spec for the provider.
func problemsOf(t *testing.T, server *admission.Server, o any) string {
	t.Helper()
	object := contentOf(t, o)
	delete(object, "status")
	var out []string
	for _, p := range server.Check(t.Context(), object) {
		if strings.Contains(p.String(), "forProvider") {
			out = append(out, p.String())
		}
	}
	return strings.Join(out, "\n")
}
