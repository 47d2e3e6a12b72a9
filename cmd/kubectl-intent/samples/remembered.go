package samples

import (
	"path"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/state"
)

// Delivered returns the files of a revision, the same at each Site.
func Delivered(replicas string) tree.Files {
	return tree.Files{"deployment.yaml": []byte("kind: Deployment\nspec:\n  replicas: " + replicas + "\n")}
}

// StateFiles returns the files that the ref of the state holds of the deployment, by their path there. The home has the ledger, another repository a copy.
func (s *Sample) StateFiles(isHome bool) (map[string]string, error) {
	s.Input.Claim.APIGroup = s.Group
	header := state.Header{Claim: s.Input.Claim, ClusterUID: "uid"}
	record := state.RecordFile{Header: header, LedgerRecord: deliveryv1alpha1.LedgerRecord{Home: "fleet", Head: s.Input.State.Head}}
	out := map[string]string{}
	if !isHome {
		essentials := s.Input.State.Essentials()
		record.Copy = &essentials
	}
	for site, dir := range siteDirectories() {
		record.Trees = append(record.Trees, state.Tree{Branch: "main", DeliveredTree: deliveryv1alpha1.DeliveredTree{Site: site, Path: dir, Tree: newTree, Revision: 7}})
	}
	for _, number := range []int64{5, 7} {
		files := Delivered(map[int64]string{5: "2", 7: "3"}[number])
		record.Revisions = append(record.Revisions, rememberedRevision(number, tree.ID(files)))
		out[path.Join(state.TreesPath(s.Input.Claim), tree.ID(files), "deployment.yaml")] = string(files["deployment.yaml"])
	}
	b, err := record.Encode()
	out[state.RecordPath(s.Input.Claim)] = string(b)
	if err != nil || !isHome {
		return out, err
	}
	ordered := ledger.Event{Ordered: &ledger.Ordered{Revision: *s.Input.State.Current}}
	b, err = state.LedgerFile{Header: header}.Append(s.Input.State, []ledger.Event{ordered}).Encode()
	out[state.LedgerPath(s.Input.Claim)] = string(b)
	return out, err
}

func rememberedRevision(number int64, id string) deliveryv1alpha1.HistoryEntry {
	trees := []deliveryv1alpha1.HistoryTree{{Site: "edge1", Tree: id}, {Site: "edge2", Tree: id}}
	commit := map[int64]string{5: oldCommit, 7: newCommit}[number]
	return deliveryv1alpha1.HistoryEntry{Revision: number, Commit: commit, Trees: trees}
}
