package deployment

import (
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/irreversible"
)

// markReader returns a function that digests the irreversible content of the next revision, and reports whether the revision changes any of
// it. It is nil for a Blueprint without irreversible kinds. The function parses all files, so it is called only for a revision that begins.
func markReader(kinds []catalogv1alpha1.IrreversibleKind, o Observed, rendered []compose.Rendered) func() (string, bool) {
	if len(kinds) == 0 {
		return nil
	}
	return func() (string, bool) {
		content := map[string]string{}
		for _, r := range rendered {
			content[r.Place.Site.GetName()] = irreversible.Content(kinds, r.Files)
		}
		return irreversible.Digest(kinds, content), isIrreversible(kinds, o, content)
	}
}

// isIrreversible is true if a rollback to the previous revision could not undo all changes. It is evaluated when the next revision begins, because
// only then do the deliveries hold the files of a verified revision. Without these files, any irreversible content may change. A Site that was not
// served before keeps its new content after a rollback, so that is not undone.
func isIrreversible(kinds []catalogv1alpha1.IrreversibleKind, o Observed, content map[string]string) bool {
	if o.state.Current == nil {
		return false
	}
	verifiedBySite, verified := verifiedFiles(o), o.state.IsVerified()
	for site, marked := range content {
		previous, isKnown := verifiedBySite[site]
		if isKnown && marked != irreversible.Content(kinds, previous) || !isKnown && marked != "" && (!verified || wasServed(o, site)) {
			return true
		}
	}
	return false
}

// wasServed is true for a Site that some delivery has a directory for.
func wasServed(o Observed, site string) bool { return compose.Sites(o.deliveries)[site] }

// verifiedFiles returns the files of the present revision, by Site. It is empty while that is not verified, or was not delivered as a whole.
func verifiedFiles(o Observed) map[string]tree.Files {
	out := map[string]tree.Files{}
	if !o.state.IsVerified() {
		return out
	}
	for _, d := range o.deliveries {
		p := d.Spec.ForProvider
		if !compose.AsksForRevision(d, o.state.Current.Number) && len(directories.LaterTrees(p, o.state)) == 0 {
			continue
		}
		for _, t := range directories.At(p, o.state).Trees {
			files, err := tree.Decode(t.Files)
			if t.Action == deliveryv1alpha1.ActionDesired && err == nil {
				out[t.Site] = files
			}
		}
	}
	return out
}
