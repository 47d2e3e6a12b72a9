package gitdelivery

import (
	"testing"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/state"
)

// TestRecoverFromStatus shows event 7 of epoch 3 in the status of a delivery whose repository holds no ledger.
func TestRecoverFromStatus(t *testing.T) {
	cases := map[string]struct {
		reason string
		record *state.RecordFile
		want   bool
	}{
		"Lost":     {reason: "A ledger that the repository lost continues from the status.", want: true},
		"FileLost": {reason: "A ledger continues from the status where the repository has the record of that ledger alone.", record: &state.RecordFile{LedgerRecord: v1alpha1.LedgerRecord{Head: ledger.Head{Ledger: "l", Epoch: 3, Seq: 7}}}, want: true},
		"Left":     {reason: "A repository that follows the ledger of a later epoch closed its own, and lost none.", record: &state.RecordFile{LedgerRecord: v1alpha1.LedgerRecord{Head: ledger.Head{Ledger: "m", Epoch: 4, Seq: 2}}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := ledgerFacts{record: tc.record, identity: "n", shown: &ledger.State{Head: ledger.Head{Ledger: "l", Epoch: 3, Seq: 7}, Home: "a"}}
			if got, _ := l.fenceHome(v1alpha1.LedgerUpdate{}); got.recovers != tc.want {
				t.Errorf("\n%s\nfenceHome(...).recovers: want %t, got %t", tc.reason, tc.want, got.recovers)
			}
		})
	}
}
