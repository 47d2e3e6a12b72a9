package sites

import (
	"slices"
	"strings"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/patience"
)

// directoriesInRepository are the directories in which another repository than the scene's has files of the claim.
func (s *stage) directoriesInRepository(repo, claim string) []string {
	s.T.Helper()
	files, err := s.Git.Files(s.T.Context(), repo, "main")
	s.Must(err)
	out := []string{}
	for name := range files {
		if site, _, ok := strings.Cut(name, "/"+s.Namespace+"/"+claim+"/"); ok {
			out = append(out, site)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// deleteHomeDelivery deletes the GitDelivery of the ledger's repository, which has no Site any more, as a user does, and waits until it exists again.
func (s *stage) deleteHomeDelivery() {
	s.T.Helper()
	home := func() *deliveryv1alpha1.GitDelivery {
		all := s.Deliveries()
		i := slices.IndexFunc(all, func(d deliveryv1alpha1.GitDelivery) bool { return d.Spec.ForProvider.Ledger != nil })
		if i < 0 {
			return nil
		}
		return &all[i]
	}
	previous := home()
	if previous == nil || len(previous.Spec.ForProvider.Trees) > 0 {
		s.T.Fatalf("the GitDelivery of the ledger should be there without Sites: %+v", previous)
	}
	s.Delete(s.Unstructured(previous))
	s.Until("the GitDelivery of the ledger is there again", patience.Limit, func() bool {
		recreated := home()
		return recreated != nil && recreated.GetUID() != previous.GetUID() && recreated.Status.AtProvider.Ledger != nil
	})
}
