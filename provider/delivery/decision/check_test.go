package decision

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/state"
)

// TestCheckTree looks at trees without files.
func TestCheckTree(t *testing.T) {
	parts := []v1alpha1.TreePart{{}}
	cases := map[string]struct {
		reason string
		tree   v1alpha1.Tree
		want   string
	}{
		"Keep": {reason: "A directory that stays as it is needs nothing else.", tree: v1alpha1.Tree{Action: v1alpha1.ActionKeep}},
		"KeepParts": {
			reason: "A directory that stays as it is has no folders of its own.",
			tree:   v1alpha1.Tree{Action: v1alpha1.ActionKeep, Parts: parts}, want: "trees[0].parts: go with action Desired only",
		},
		"Parts": {
			reason: "A directory that is written may have folders, and needs files.",
			tree:   v1alpha1.Tree{Action: v1alpha1.ActionDesired, Parts: parts}, want: "trees[0].files: cannot decompress files: EOF",
		},
		"Unknown": {reason: "An action of a later version is refused.", tree: v1alpha1.Tree{Action: "Mirror"}, want: "trees[0].action: Mirror is not known"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if refused := checkTree(Facts{}, tc.tree, "trees[0]"); refused != nil {
				got = refused.Message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ncheckTree(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCheckState looks at files of the claim that another cluster, or a newer provider, wrote.
func TestCheckState(t *testing.T) {
	ours := state.Header{Claim: rolloutv1alpha1.ClaimReference{Kind: "IntentDeployment"}, ClusterUID: "this"}
	foreign, shape := ours, ours
	foreign.ClusterUID, shape.Claim.Kind = "other", "XIntentDeployment"
	cases := map[string]struct {
		reason string
		change func(*Facts)
		want   xpv2.ConditionReason
	}{
		"Nothing": {reason: "A repository without any state is free.", change: func(*Facts) {}},
		"Ours": {reason: "Files of this claim and cluster are ours.", change: func(f *Facts) {
			f.Ledger.File, f.Ledger.Record = &state.LedgerFile{Header: ours}, &state.RecordFile{Header: ours}
		}},
		"OtherLedger": {reason: "The ledger of another cluster is left alone.", change: func(f *Facts) {
			f.Ledger.File, f.Ledger.Record = &state.LedgerFile{Header: foreign}, &state.RecordFile{Header: ours}
		}, want: v1alpha1.ReasonOwnedElsewhere},
		"OtherRecord": {
			reason: "The record of another cluster is left alone.",
			change: func(f *Facts) { f.Ledger.Record = &state.RecordFile{Header: foreign} }, want: v1alpha1.ReasonOwnedElsewhere,
		},
		"Rebuilt": {
			reason: "Commits of another cluster are left alone.",
			change: func(f *Facts) { f.Rebuilt, f.Memory = true, &state.RecordFile{Header: foreign} }, want: v1alpha1.ReasonOwnedElsewhere,
		},
		"Shape": {
			reason: "The record of the other shape of the claim is left alone.",
			change: func(f *Facts) { f.Ledger.Record = &state.RecordFile{Header: shape} }, want: v1alpha1.ReasonNotOwner,
		},
		"Owner": {
			reason: "A repository that another cluster writes is left alone.",
			change: func(f *Facts) { f.Owner = "other" }, want: v1alpha1.ReasonOwnedElsewhere,
		},
		"Newer": {
			reason: "A state that a newer provider wrote is left alone.",
			change: func(f *Facts) { f.Ledger.Newer = "version 2" }, want: v1alpha1.ReasonStateNewer,
		},
		"Unreadable": {
			reason: "A state that cannot be read is left alone.",
			change: func(f *Facts) { f.Unreadable = "no JSON" }, want: v1alpha1.ReasonStateUntrusted,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := appliedFacts()
			f.Spec.ClaimRef = ours.Claim
			tc.change(&f)
			got := xpv2.ConditionReason("")
			if refused := checkState(f); refused != nil {
				got = refused.Reason
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ncheckState(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRefusalsSayWhatToDo reads messages that reach the author of a deployment.
func TestRefusalsSayWhatToDo(t *testing.T) {
	cases := map[string]struct {
		reason string
		check  func(f Facts) *Decision
		change func(f *Facts)
		want   string
	}{
		"Unmanaged": {
			reason: "A refusal to replace files names the field of the deployment that lets it.", check: checkOwners, change: func(f *Facts) {
				f.Spec.Trees = []v1alpha1.Tree{{Site: "edge1", Path: "elsewhere", Tree: "a", Action: v1alpha1.ActionDesired}}
				f.Directories = map[string]Directory{"elsewhere": {Tree: "b"}}
			},
			want: `directory "elsewhere": it holds files that were not delivered: move them, or set spec.deliveryConfig.adopt of the deployment to true to replace them`,
		},
		"Gone": {
			reason: "A deployment whose earlier files are gone needs another intent.", check: checkTrees, change: func(f *Facts) {
				f.Spec.Trees = []v1alpha1.Tree{{Site: "edge1", Path: "p", Tree: "a", Action: v1alpha1.ActionRestore}}
			},
			want: "spec.forProvider.trees[0].tree: a is not in the repository any more: neither the state nor the branch has it; " + changeIntent,
		},
		"Newer": {
			reason: "A state of a newer provider needs that provider.", check: checkState, change: func(f *Facts) { f.Ledger.Newer = "version 2" },
			want: "a newer version of the provider wrote the state of the deployment: version 2; upgrade this provider",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, got := appliedFacts(), ""
			tc.change(&f)
			if refused := tc.check(f); refused != nil {
				got = refused.Message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
