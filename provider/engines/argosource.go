package engines

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

type argoSource struct {
	RepoURL        string         `json:"repoURL"`
	Path           string         `json:"path"`
	TargetRevision string         `json:"targetRevision"`
	Chart          string         `json:"chart"`
	Ref            string         `json:"ref"`
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

// findSiteSource returns the source of the Application that reads the Site's directory, also of a multi-source Application (spec.sources, and its
// status.sync.revisions). Without such a source it returns a reason and a message.
func (a argoApplication) findSiteSource(w Want) (sourceObservation, string, string) {
	if a.Spec.SourceHydrator != nil {
		return a.findHydratedSource(w)
	}
	sources, compared, attempted := a.Spec.Sources, a.Status.Sync.Revisions, a.attemptedRevisions()
	if len(sources) == 0 && a.Spec.Source != nil {
		sources, compared = []argoSource{*a.Spec.Source}, []string{a.Status.Sync.Revision}
	}
	found, problem := matchSources(w, sources)
	switch {
	case len(found) == 0 && len(sources) > 1:
		return sourceObservation{}, v1alpha1.SiteReasonWrongSource, "none of its sources is the Site's: " + problem
	case len(found) == 0:
		return sourceObservation{}, v1alpha1.SiteReasonWrongSource, cmp.Or(problem, "it has no source")
	case isAmbiguous(w, sources, found):
		return sourceObservation{}, v1alpha1.SiteReasonEngineNotProvable,
			"several of its sources read the branch and the directory, and none has the URL of the Site's repository: write it in the right one as the configuration does"
	}
	i := found[0]
	if renderer := sources[i].renderingTool(a.comparedSourceType(i)); renderer != "" {
		return sourceObservation{}, v1alpha1.SiteReasonEngineNotProvable, fmt.Sprintf("its source is rendered by %s, so that it applies other objects than the files have", renderer)
	}
	return sourceObservation{source: sources[i], compared: entryOrEmpty(compared, i), attempted: entryOrEmpty(attempted, i), proof: argoSourceProof(w, sources[i])}, "", ""
}

// matchSources returns the indices of the sources that read the Site's branch and directory, the most likely one first. If there is none, it
// returns the error of the most likely source.
func matchSources(w Want, sources []argoSource) (found []int, problem string) {
	for _, i := range sourceOrder(w, sources) {
		s := sources[i]
		if p := cmp.Or(s.describeOtherSource(), describeWrongSource(w, s.TargetRevision, cleanDirectory(s.Path)), describeShallowSource(w, s)); p != "" {
			problem = cmp.Or(problem, p)
			continue
		}
		found = append(found, i)
	}
	return found, problem
}

// isAmbiguous reports whether a source of another repository is as likely to be the Site's as the first one. None is as likely as one with the URL of the
// configuration. An Application reports a commit for each source, so the commit of the wrong one would be taken for the Site's.
func isAmbiguous(w Want, sources []argoSource, found []int) bool {
	first := sources[found[0]]
	rank := first.siteSourceRank(w)
	if rank != rankNamed && rank != rankOther {
		return false
	}
	return slices.ContainsFunc(found[1:], func(i int) bool {
		return sources[i].siteSourceRank(w) == rank && policy.RepositoryKey(sources[i].RepoURL) != policy.RepositoryKey(first.RepoURL)
	})
}

// Ranks of sources, the most likely one first.
const (
	// rankKey is a source with the URL of the Site's repository.
	rankKey = iota
	// rankNamed is one with a URL that ends with the name of that repository: another spelling, or a mirror.
	rankNamed
	// rankOther is one with any other URL.
	rankOther
	// rankChart is a chart, which has no directory.
	rankChart
)

// siteSourceRank returns how likely a source is to be the Site's source.
func (s argoSource) siteSourceRank(w Want) int {
	switch {
	case s.Chart != "":
		return rankChart
	case policy.RepositoryKey(s.RepoURL) == policy.RepositoryKey(w.URL):
		return rankKey
	case strings.EqualFold(repositoryName(s.RepoURL), repositoryName(w.URL)):
		return rankNamed
	}
	return rankOther
}

// sourceOrder returns the order in which sources are looked at.
func sourceOrder(w Want, sources []argoSource) []int {
	out, ranks := make([]int, len(sources)), make([]int, len(sources))
	for i := range sources {
		out[i], ranks[i] = i, sources[i].siteSourceRank(w)
	}
	slices.SortStableFunc(out, func(a, b int) int { return ranks[a] - ranks[b] })
	return out
}

// renderingTool returns the tool that makes other objects of the files of a directory, or "". Argo CD finds a chart and a plugin by the files, and reports the type, so
// the spec of the source need not name them.
func (s argoSource) renderingTool(sourceType string) string {
	switch {
	case len(s.Helm) > 0, sourceType == "Helm":
		return "Helm"
	case len(s.Plugin) > 0, sourceType == "Plugin":
		return "a plugin"
	case len(s.Directory.Jsonnet) > 0:
		return "Jsonnet"
	}
	return ""
}

// comparedSourceType returns the type of a source that the last comparison found: Directory, Kustomize, Helm or Plugin. It is empty before the first comparison.
func (a argoApplication) comparedSourceType(i int) string {
	if len(a.Spec.Sources) == 0 {
		return a.Status.SourceType
	}
	return entryOrEmpty(a.Status.SourceTypes, i)
}

// describeOtherSource says why a source applies no files of a Git repository, or returns "". A source with a ref alone lends its files to other sources.
func (s argoSource) describeOtherSource() string {
	switch {
	case s.Chart != "":
		return fmt.Sprintf("its source is chart %q, which names no commit: name a directory of a Git repository", s.Chart)
	case strings.HasPrefix(s.RepoURL, "oci://"):
		return "its source is an OCI artifact, which names no commit: name a directory of a Git repository"
	case s.Ref != "" && s.Path == "":
		return "it has a ref and no path, so it applies no file"
	}
	return ""
}

// describeShallowSource returns the error of a source that leaves out the folders which have the claim's files, or "". It applies none of
// them, and calls that synced.
func describeShallowSource(w Want, s argoSource) string {
	if !w.HasFolders || s.Directory.Recurse {
		return ""
	}
	return "it does not read folders, and the claim has one for each track: set directory.recurse of the source to true"
}

// describeUnwatchedDirectory returns why the controller reports a commit without rendering the claim's directory again, or "". It does so if
// none of its watched paths has a change, and takes a pattern for files, not for the content of a directory. An annotation without a path has
// no effect.
func describeUnwatchedDirectory(w Want, s argoSource, paths string) string {
	isGiven := false
	for watched := range strings.SplitSeq(paths, ";") {
		if watched == "" {
			continue
		}
		isGiven = true
		if !path.IsAbs(watched) {
			watched = path.Join(s.Path, watched)
		}
		if isInDirectory(cleanDirectory(watched), w.ClaimDir) {
			return ""
		}
	}
	if !isGiven {
		return ""
	}
	return fmt.Sprintf("annotation %s lists no directory that holds %q, so Argo CD may report a commit that it did not render: add /%s, or remove the annotation", argoPathsKey, w.ClaimDir, w.ClaimDir)
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

// findHydratedSource returns the source of an Application with a source hydrator. The Site's commit is the dry commit that was rendered last; Argo CD
// compares the commit that holds the result. It compares the result of an earlier rendering as long as there is a hydrationReason. The dry commit is attempted
// once an operation tried its result: the last operation may have failed with an earlier result.
func (a argoApplication) findHydratedSource(w Want) (sourceObservation, string, string) {
	h := a.Spec.SourceHydrator
	if message := describeWrongSource(w, h.DrySource.TargetRevision, cleanDirectory(h.DrySource.Path)); message != "" {
		return sourceObservation{}, v1alpha1.SiteReasonWrongSource, message
	}
	if message := describeShallowSource(w, h.DrySource); message != "" {
		return sourceObservation{}, v1alpha1.SiteReasonWrongSource, message
	}
	out := sourceObservation{source: h.DrySource, proof: v1alpha1.ProofHydrated}
	if last := a.Status.SourceHydrator.LastSuccessfulOperation; last != nil {
		out.compared = last.DrySHA
		if slices.Contains(a.attemptedRevisions(), last.HydratedSHA) {
			out.attempted = last.DrySHA
		}
	}
	return out, "", ""
}

// hydrationReason returns why the compared revision is not the result of the last commit, or an empty reason. It is empty without a source hydrator.
func (a argoApplication) hydrationReason() (string, string) {
	current := a.Status.SourceHydrator.CurrentOperation
	switch {
	case a.Spec.SourceHydrator == nil:
		return "", ""
	case a.hasHydrationFailed():
		return v1alpha1.SiteReasonEngineFailed, markEngineText(current.Message)
	case current != nil && current.Phase != "Hydrated", !a.isResultCompared():
		return v1alpha1.SiteReasonProgressing, "the compared revision was not rendered from the last commit"
	}
	return "", ""
}

// hasHydrationFailed reports whether the source hydrator could not render the last commit.
func (a argoApplication) hasHydrationFailed() bool {
	current := a.Status.SourceHydrator.CurrentOperation
	return a.Spec.SourceHydrator != nil && current != nil && current.Phase == "Failed"
}

// isResultCompared reports whether the controller compared the result of the last hydration. It is true without a source hydrator.
func (a argoApplication) isResultCompared() bool {
	last := a.Status.SourceHydrator.LastSuccessfulOperation
	return a.Spec.SourceHydrator == nil || last != nil && a.Status.Sync.Revision == last.HydratedSHA
}

// argoSourceProof returns Transformed where the source changes the applied objects, leaves files out, or may not read the claim's directory.
// Otherwise it returns Exact.
func argoSourceProof(w Want, s argoSource) v1alpha1.Proof {
	shallow := cleanDirectory(s.Path) != w.ClaimDir && !s.Directory.Recurse
	if len(s.Kustomize) > 0 || s.Directory.Include != "" || s.Directory.Exclude != "" || shallow {
		return v1alpha1.ProofTransformed
	}
	return v1alpha1.ProofExact
}

func entryOrEmpty(entries []string, i int) string {
	if i < len(entries) {
		return entries[i]
	}
	return ""
}
