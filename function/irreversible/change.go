package irreversible

import (
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/compose"
)

// A Served is the revision that Sites run before the next revision begins.
type Served struct {
	// State of the ledger.
	State ledger.State

	// Deliveries are the observed deliveries, by their names in the composition.
	Deliveries map[string]*deliveryv1alpha1.GitDelivery
}

// MarkReader returns a function that digests the irreversible content of the next revision, and reports whether the revision changes any of
// it. It is nil for a Blueprint without irreversible kinds. The function parses all files, so it is called only for a revision that begins.
func (v Served) MarkReader(kinds []catalogv1alpha1.IrreversibleKind, rendered []compose.Rendered) func() (string, bool) {
	if len(kinds) == 0 {
		return nil
	}
	return func() (string, bool) {
		content := map[string]string{}
		for _, r := range rendered {
			content[r.Place.Site.GetName()] = markedContent(kinds, r.Files)
		}
		return digestOfContent(kinds, content), v.isContentChanged(kinds, content)
	}
}

// isContentChanged is true if a rollback to the previous revision could not undo all changes. It is evaluated when the next revision begins, because
// only then do the deliveries hold the files of a verified revision. Without these files, any irreversible content may change. A Site that was not
// served before keeps its new content after a rollback, so that is not undone.
func (v Served) isContentChanged(kinds []catalogv1alpha1.IrreversibleKind, content map[string]string) bool {
	if v.State.Current == nil {
		return false
	}
	verifiedBySite, verified := v.verifiedFiles(), v.State.IsVerified()
	for site, marked := range content {
		previous, isKnown := verifiedBySite[site]
		if isKnown && marked != markedContent(kinds, previous) || !isKnown && marked != "" && (!verified || v.hasSiteDirectory(site)) {
			return true
		}
	}
	return false
}

// hasSiteDirectory is true for a Site that some delivery has a directory for.
func (v Served) hasSiteDirectory(site string) bool { return compose.Sites(v.Deliveries)[site] }

// verifiedFiles returns the files of the present revision, by Site. It is empty while that is not verified, or was not delivered as a whole.
func (v Served) verifiedFiles() map[string]tree.Files {
	out := map[string]tree.Files{}
	if !v.State.IsVerified() {
		return out
	}
	for _, d := range v.Deliveries {
		p := d.Spec.ForProvider
		if !compose.AsksForRevision(d, v.State.Current.Number) && len(directories.LaterTrees(p, v.State)) == 0 {
			continue
		}
		for _, t := range directories.At(p, v.State).Trees {
			files, err := tree.Decode(t.Files)
			if t.Action == deliveryv1alpha1.ActionDesired && err == nil {
				out[t.Site] = files
			}
		}
	}
	return out
}
