package engines

import (
	"cmp"
	"slices"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

type argoSource struct {
	RepoURL        string         `json:"repoURL"`
	Path           string         `json:"path"`
	TargetRevision string         `json:"targetRevision"`
	Chart          string         `json:"chart"`
	Helm           map[string]any `json:"helm"`
	Kustomize      map[string]any `json:"kustomize"`
	Plugin         map[string]any `json:"plugin"`
	Directory      struct {
		Recurse bool           `json:"recurse"`
		Jsonnet map[string]any `json:"jsonnet"`
		Include string         `json:"include"`
		Exclude string         `json:"exclude"`
	} `json:"directory"`
}

type argoHydrator struct {
	DrySource  argoSource `json:"drySource"`
	SyncSource struct {
		TargetBranch string `json:"targetBranch"`
		Path         string `json:"path"`
	} `json:"syncSource"`
}

// A sourceObservation is the source that reads the Site's directory, with the revisions that were compared and attempted last.
type sourceObservation struct {
	source    argoSource
	compared  string
	attempted string
	proof     v1alpha1.Proof
}

// findSource returns the source of the Application that reads the Site's directory. If there is none, it returns a reason and a message.
func (a argoApplication) findSource(w Want) (sourceObservation, string, string) {
	if a.Spec.SourceHydrator != nil {
		return a.findHydratedSource(w)
	}
	sources, compared, attempted := a.Spec.Sources, a.Status.Sync.Revisions, a.attemptedRevisions()
	if len(sources) == 0 && a.Spec.Source != nil {
		sources, compared = []argoSource{*a.Spec.Source}, []string{a.Status.Sync.Revision}
	}
	why := ""
	for _, i := range sourceOrder(w, sources) {
		s := sources[i]
		if problem := cmp.Or(describeWrongSource(w, s.TargetRevision, cleanPath(s.Path)), describeShallowSource(w, s)); problem != "" {
			why = cmp.Or(why, problem)
			continue
		}
		if s.Chart != "" || len(s.Helm)+len(s.Plugin)+len(s.Directory.Jsonnet) > 0 {
			return sourceObservation{}, v1alpha1.SiteReasonEngineNotProvable, "its source is rendered by Helm, Jsonnet or a plugin"
		}
		return sourceObservation{source: s, compared: revisionAt(compared, i), attempted: revisionAt(attempted, i), proof: argoProof(w, s)}, "", ""
	}
	if len(sources) > 1 {
		why = "none of its sources is the Site's: " + why
	}
	return sourceObservation{}, v1alpha1.SiteReasonWrongSource, cmp.Or(why, "it has no source")
}

// sourceOrder returns the order in which sources are looked at: charts, which have no directory, come last, and of several that read the directory the
// one with the URL of the Site's repository comes first. An Application reports a commit for each of them.
func sourceOrder(w Want, sources []argoSource) []int {
	out := make([]int, len(sources))
	for i := range sources {
		out[i] = i
	}
	rank := func(i int) int {
		switch {
		case sources[i].Chart != "":
			return 2
		case policy.RepositoryKey(sources[i].RepoURL) != policy.RepositoryKey(w.URL):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b int) int { return rank(a) - rank(b) })
	return out
}

// describeShallowSource returns what is wrong with a source that leaves out the folders which have the claim's files, or "". It applies none of them,
// and calls that synced.
func describeShallowSource(w Want, s argoSource) string {
	if !w.HasFolders || s.Directory.Recurse {
		return ""
	}
	return "it does not read folders, and the claim has one for each track: set directory.recurse of the source to true"
}

// attemptedRevisions returns the revisions that the last operation tried, one for each source.
func (a argoApplication) attemptedRevisions() []string {
	s := a.Status.OperationState
	if s == nil {
		return nil
	}
	if len(s.SyncResult.Revisions) > 0 {
		return s.SyncResult.Revisions
	}
	return []string{s.SyncResult.Revision}
}

// findHydratedSource returns the source of an Application with a source hydrator. The Site's commit is the one that was rendered; Argo CD
// compares the commit that holds the result.
func (a argoApplication) findHydratedSource(w Want) (sourceObservation, string, string) {
	h := a.Spec.SourceHydrator
	if why := describeWrongSource(w, h.DrySource.TargetRevision, cleanPath(h.DrySource.Path)); why != "" {
		return sourceObservation{}, v1alpha1.SiteReasonWrongSource, why
	}
	if why := describeShallowSource(w, h.DrySource); why != "" {
		return sourceObservation{}, v1alpha1.SiteReasonWrongSource, why
	}
	last, now := a.Status.SourceHydrator.LastSuccessfulOperation, a.Status.SourceHydrator.CurrentOperation
	switch {
	case now != nil && now.Phase == "Failed":
		return sourceObservation{}, v1alpha1.SiteReasonEngineFailed, markEngineText(now.Message)
	case now != nil && now.Phase != "Hydrated", last == nil, a.Status.Sync.Revision != last.HydratedSHA:
		return sourceObservation{}, v1alpha1.SiteReasonProgressing, "the compared revision was not rendered from the last commit"
	}
	return sourceObservation{source: h.DrySource, compared: last.DrySHA, attempted: last.DrySHA, proof: v1alpha1.ProofHydrated}, "", ""
}

// argoProof returns Transformed where the source changes what it applies, leaves files out, or may not read the claim's directory.
// Otherwise it returns Exact.
func argoProof(w Want, s argoSource) v1alpha1.Proof {
	shallow := cleanPath(s.Path) != w.ClaimDir && !s.Directory.Recurse
	if len(s.Kustomize) > 0 || s.Directory.Include != "" || s.Directory.Exclude != "" || shallow {
		return v1alpha1.ProofTransformed
	}
	return v1alpha1.ProofExact
}

func revisionAt(revisions []string, i int) string {
	if i < len(revisions) {
		return revisions[i]
	}
	return ""
}
