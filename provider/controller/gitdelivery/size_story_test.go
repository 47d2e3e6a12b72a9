package gitdelivery

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/state"
)

const (
	mostSites     = 500
	mostRevisions = 12

	// roomForStatus leaves most of what etcd takes, 1.5 MiB, to the spec, which has 900 KiB at most.
	roomForStatus = 560 << 10
	roomForState  = 2 << 20
)

// wide is a revision with the longest names at most Sites, in a directory below prefix.
func wide(revision int64, prefix string) state.Delivery {
	name := strings.Repeat("n", 63)
	at := metav1.NewTime(time.Date(2026, 11, 1, 12, int(revision), 0, 0, time.UTC))
	d := state.Delivery{
		Attempt: &rolloutv1alpha1.Attempt{Revision: revision, StartedAt: at},
		Commit:  strings.Repeat("c", 40), Base: strings.Repeat("b", 40), At: at,
	}
	step := ledger.Step{}
	for i := range mostSites {
		site := fmt.Sprintf("%s%03d", strings.Repeat("s", 60), i)
		step.Sites = append(step.Sites, site)
		d.Trees = append(d.Trees, state.Tree{Branch: "main", DeliveredTree: v1alpha1.DeliveredTree{
			Site: site, Path: prefix + "/clusters/" + site + "/" + name + "/" + name, Tree: fmt.Sprintf("%040d", i), Revision: revision,
		}})
	}
	d.Applied = stateAt(order(revision, strings.Repeat("r", 70)))
	d.Applied.Current.Plan = []ledger.Step{step}
	return d
}

func TestSize(t *testing.T) {
	cases := map[string]struct {
		reason string
		prefix string
		// moved is true if all Sites have moved with the last revision.
		moved bool
	}{
		"Usual":        {reason: "A history never makes a delivery too large", prefix: "fleet"},
		"Longest":      {reason: "An object with the longest paths fits.", prefix: strings.Repeat("p", 430)},
		"Moved":        {reason: "An object fits while all directories are there twice.", prefix: "fleet", moved: true},
		"LongestMoved": {reason: "With the longest paths, too", prefix: strings.Repeat("p", 430), moved: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := state.RecordFile{Header: state.Header{Claim: delivery("web", order(1, "a")).Spec.ForProvider.ClaimRef, ClusterUID: "cluster-1"}}
			for revision := range int64(mostRevisions) {
				d := wide(revision+1, tc.prefix)
				if revision >= mostRevisions-2 {
					d.Applied.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified}
				}
				if tc.moved && revision == mostRevisions-1 {
					d.Left = wide(revision, "before"+tc.prefix).Trees
				}
				r = r.After(d)
			}
			content, err := r.Encode()
			if err != nil {
				t.Fatalf("\n%s\nEncode(): %v", tc.reason, err)
			}
			back, err := state.DecodeRecord(content)
			if err != nil {
				t.Fatalf("\n%s\nDecode(...): %v", tc.reason, err)
			}
			kept := 0
			for _, h := range back.Revisions {
				kept += len(h.Trees)
			}
			t.Logf("state: %d bytes, %d revisions, %d trees of the history", len(content), len(back.Revisions), kept)
			if len(content) > roomForState || len(back.Revisions) != 10 || kept < mostSites {
				t.Errorf("\n%s\nstate: %d bytes, %d revisions, %d trees of the history", tc.reason, len(content), len(back.Revisions), kept)
			}
			shown(t, tc.reason, back)
		})
	}
}

// shown checks the status that shows a record.
func shown(t *testing.T, reason string, r state.RecordFile) {
	t.Helper()
	e := &external{config: config{spec: &configv1alpha1.ProviderConfigSpec{}}, connector: &connector{now: time.Now, logger: logging.NewNopLogger()}}
	d := newHome("web")
	e.facts.spec, e.facts.ledger = d.Spec.ForProvider, ledgerFacts{record: &r}
	e.showLedger(d)
	e.showDelivered(d, r)
	b, err := json.Marshal(d.Status)
	if err != nil {
		t.Fatal(err)
	}
	trees := 0
	for _, h := range d.Status.AtProvider.History {
		trees += len(h.Trees)
	}
	lost := facts{lastStatus: d.Status.AtProvider, config: &configv1alpha1.ProviderConfigSpec{}}.baseRecord()
	if got := lost.Revisions[len(lost.Revisions)-1]; len(got.Trees) != mostSites {
		t.Errorf("\n%s\nhistory after the state was lost: want the trees of the newest good revision, got %d", reason, len(got.Trees))
	}
	t.Logf("status: %d bytes, %d revisions, %d trees of the history", len(b), len(d.Status.AtProvider.History), trees)
	if len(b) > roomForStatus || trees != 2*mostSites || len(d.Status.AtProvider.Trees) != mostSites {
		t.Errorf("\n%s\nstatus: %d bytes, %d trees of the history", reason, len(b), trees)
	}
}
