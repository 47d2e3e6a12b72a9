package sitesync

import (
	"testing"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// TestFindOvertaking has a SiteSync of revision 2, whose repository was brought to another position.
func TestFindOvertaking(t *testing.T) {
	const path = "clusters/edge1/team-a/web"
	requested := ledger.Position{Epoch: 1, Revision: 2, Step: 1}
	cases := map[string]struct {
		reason   string
		applied  ledger.Position
		path     string
		isUnseen bool
		want     bool
	}{
		"RolledBack": {reason: "The engine syncs a rollback that the SiteSync does not name yet.", applied: ledger.Position{Epoch: 1, Revision: 2, Attempt: 1}, path: path, want: true},
		"Withdrawn":  {reason: "The engine syncs a rollback that a user requested.", applied: ledger.Position{Epoch: 1, Revision: 3, Attempt: 1}, path: path, want: true},
		"Same":       {reason: "The SiteSync judges its own position.", applied: requested, path: path},
		"Earlier":    {reason: "A repository at an earlier position has nothing to sync.", applied: ledger.Position{Epoch: 1, Revision: 1, Attempt: 1}, path: path},
		"Step":       {reason: "The function updates the SiteSync with each step.", applied: ledger.Position{Epoch: 1, Revision: 2, Step: 2}, path: path},
		"Epoch":      {reason: "A position of another epoch is not later.", applied: ledger.Position{Epoch: 2, Revision: 2, Attempt: 1}, path: path},
		"Elsewhere":  {reason: "A delivery without the directory overtakes no SiteSync.", applied: ledger.Position{Epoch: 1, Revision: 2, Attempt: 1}, path: "clusters/edge2/team-a/web"},
		"Unseen":     {reason: "A repository without an observed commit has nothing to sync.", applied: ledger.Position{Epoch: 1, Revision: 2, Attempt: 1}, path: path, isUnseen: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := v1alpha1.GitDelivery{}
			d.Spec.ForProvider.Trees = []v1alpha1.Tree{{Site: "edge1", Path: tc.path}}
			d.Status.AtProvider.Record = &v1alpha1.LedgerRecord{Position: tc.applied}
			if !tc.isUnseen {
				d.Status.AtProvider.Remote = &v1alpha1.Remote{Commit: "abc"}
			}
			got := findOvertaking([]v1alpha1.GitDelivery{d}, v1alpha1.SiteSyncParameters{Position: &requested}, v1alpha1.SiteTree{Name: "edge1", Path: path})
			if (got != nil) != tc.want {
				t.Fatalf("\n%s\nfindOvertaking(...): want a position %t, got %v", tc.reason, tc.want, got)
			}
			if got != nil && (got.position != tc.applied || got.commit != "abc") {
				t.Errorf("\n%s\nfindOvertaking(...): want %v at commit abc, got %v", tc.reason, tc.applied, *got)
			}
		})
	}
}
