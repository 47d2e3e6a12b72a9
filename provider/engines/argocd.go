package engines

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

const (
	argoGroup = "argoproj.io"

	// argoRefreshKey is the annotation that makes the controller compare now. The controller removes it after that.
	argoRefreshKey = "argocd.argoproj.io/refresh"

	// argoSkipKey is the annotation that makes the controller leave an Application alone.
	argoSkipKey = "argocd.argoproj.io/skip-reconcile"

	// argoInCluster is the URL by which the controller names the cluster that it runs in.
	argoInCluster = "https://kubernetes.default.svc"
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

type argoApplication struct {
	Operation map[string]any `json:"operation"`
	Spec      struct {
		Source         *argoSource   `json:"source"`
		Sources        []argoSource  `json:"sources"`
		SourceHydrator *argoHydrator `json:"sourceHydrator"`
		Destination    struct {
			Server string `json:"server"`
			Name   string `json:"name"`
		} `json:"destination"`
	} `json:"spec"`
	Status struct {
		Sync struct {
			Status    string   `json:"status"`
			Revision  string   `json:"revision"`
			Revisions []string `json:"revisions"`
		} `json:"sync"`
		Health struct {
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"health"`
		OperationState *struct {
			Phase      string `json:"phase"`
			Message    string `json:"message"`
			SyncResult struct {
				Revision  string   `json:"revision"`
				Revisions []string `json:"revisions"`
			} `json:"syncResult"`
		} `json:"operationState"`
		Conditions []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"conditions"`
		SourceHydrator struct {
			CurrentOperation *struct {
				Phase   string `json:"phase"`
				Message string `json:"message"`
			} `json:"currentOperation"`
			LastSuccessfulOperation *struct {
				DrySHA      string `json:"drySHA"`      //nolint:tagliatelle // Argo CD's name.
				HydratedSHA string `json:"hydratedSHA"` //nolint:tagliatelle // Argo CD's name.
			} `json:"lastSuccessfulOperation"`
		} `json:"sourceHydrator"`
	} `json:"status"`
}

// A sourceObservation is the source that reads the Site's directory, with the revisions that were compared and attempted last.
type sourceObservation struct {
	source    argoSource
	compared  string
	attempted string
	proof     v1alpha1.Proof
}

func observeArgoCD(w Want, main *unstructured.Unstructured) Observation {
	a := argoApplication{}
	if err := decodeObject(main, &a); err != nil {
		return unreadableObject(err)
	}
	o := Observation{Generation: main.GetGeneration(), Health: a.Status.Health.Status}
	v, reason, message := a.findSource(w)
	if reason != "" {
		o.Reason, o.Message = reason, message
		return o
	}
	o.Root, o.Proof = cleanPath(v.source.Path), v.proof
	o.Commit, o.Attempted = parseCommitID(v.compared), parseCommitID(v.attempted)
	o.Report, o.URL = a.report(w, v.source, main), displayURL(v.source.RepoURL)
	if hasSpecField(main, "ignoreDifferences") && o.Proof == v1alpha1.ProofExact {
		o.Proof = v1alpha1.ProofTransformed
	}
	o.Reason, o.Message = argoReason(w, a, main)
	if o.Reason == "" && o.Commit == "" {
		o.Reason, o.Message = v1alpha1.SiteReasonEngineNotProvable, "status.sync names no commit"
	}
	o.StillApplied = o.Reason == v1alpha1.SiteReasonProgressing && (a.Status.Sync.Status == "Synced" || a.isRunning())
	o.FinalFailure = o.Reason == v1alpha1.SiteReasonEngineFailed && a.hasFailed()
	return o
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

func argoReason(w Want, a argoApplication, main *unstructured.Unstructured) (string, string) {
	if main.GetAnnotations()[argoSkipKey] == "true" {
		return v1alpha1.SiteReasonSuspended, "the Application has annotation " + argoSkipKey
	}
	d := a.Spec.Destination
	inside := d.Name == "in-cluster" || strings.TrimRight(d.Server, "/") == argoInCluster
	if inside == w.Elsewhere {
		return v1alpha1.SiteReasonWrongCluster, "spec.destination does not name the Site's cluster"
	}
	for _, c := range a.Status.Conditions {
		if strings.HasSuffix(c.Type, "Error") {
			return v1alpha1.SiteReasonEngineFailed, markEngineText(c.Type + ": " + c.Message)
		}
	}
	return argoSyncReason(a, main)
}

// argoSyncReason returns why the compared commit is not applied and healthy, or an empty reason. The revision in status.sync was compared,
// not applied: it is a proof only if the comparison was made with the present spec and found no difference.
func argoSyncReason(a argoApplication, main *unstructured.Unstructured) (string, string) {
	switch {
	case a.isRunning():
		return v1alpha1.SiteReasonProgressing, "an operation is running"
	case main.GetAnnotations()[argoRefreshKey] != "":
		return v1alpha1.SiteReasonProgressing, "a refresh was requested and has not run yet"
	case !isComparedToSpec(main):
		return v1alpha1.SiteReasonProgressing, "the last comparison was made with an older spec"
	case a.Status.Sync.Status != "Synced" && a.hasFailed():
		return v1alpha1.SiteReasonEngineFailed, markEngineText(a.Status.OperationState.Message)
	case a.Status.Sync.Status != "Synced":
		return v1alpha1.SiteReasonProgressing, "sync status " + a.Status.Sync.Status
	}
	switch h := a.Status.Health; h.Status {
	case "Healthy":
		return "", ""
	case "Degraded", "Missing":
		return v1alpha1.SiteReasonUnhealthy, markEngineText(strings.Trim(h.Status+": "+h.Message, ": "))
	default:
		return v1alpha1.SiteReasonProgressing, strings.Trim("health "+h.Status+": "+markEngineText(h.Message), ": ")
	}
}

func (a argoApplication) isRunning() bool {
	s := a.Status.OperationState
	return len(a.Operation) > 0 || s != nil && (s.Phase == "Running" || s.Phase == "Terminating")
}

func (a argoApplication) hasFailed() bool {
	s := a.Status.OperationState
	return s != nil && (s.Phase == "Failed" || s.Phase == "Error")
}

// isComparedToSpec reports whether the last comparison was made with the sources and the destination that the spec has now.
func isComparedToSpec(main *unstructured.Unstructured) bool {
	compared, _, _ := unstructured.NestedMap(main.Object, "status", "sync", "comparedTo")
	if compared == nil {
		return false
	}
	for _, field := range []string{"source", "sources", "destination"} {
		want, found, _ := unstructured.NestedFieldCopy(main.Object, "spec", field)
		if found && !equalIgnoringEmpty(want, compared[field]) {
			return false
		}
	}
	return true
}

// equalIgnoringEmpty compares two values of JSON. One of them may hold empty fields that the other one leaves out.
func equalIgnoringEmpty(a, b any) bool {
	return reflect.DeepEqual(pruneEmpty(a), pruneEmpty(b))
}

func pruneEmpty(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if p := pruneEmpty(e); p != nil {
				out[k] = p
			}
		}
		if len(out) > 0 {
			return out
		}
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, pruneEmpty(e))
		}
		if len(out) > 0 {
			return out
		}
	case string:
		if v != "" {
			return v
		}
	case bool:
		if v {
			return v
		}
	case nil:
	default:
		b, err := json.Marshal(v)
		if err == nil {
			return string(b)
		}
	}
	return nil
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

func argoRefreshAnnotation(main *unstructured.Unstructured) (Annotation, bool) {
	a := main.GetAnnotations()
	if a[argoRefreshKey] != "" || a[argoSkipKey] == "true" {
		return Annotation{}, false
	}
	ref := Ref{
		Resource: main.GroupVersionKind().GroupVersion().WithResource("applications"), Kind: main.GetKind(),
		Namespace: main.GetNamespace(), Name: main.GetName(),
	}
	return Annotation{On: ref, Key: argoRefreshKey, Value: "normal"}, true
}

func revisionAt(revisions []string, i int) string {
	if i < len(revisions) {
		return revisions[i]
	}
	return ""
}
