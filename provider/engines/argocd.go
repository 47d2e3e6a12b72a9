package engines

import (
	"encoding/json"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

const (
	argoGroup = "argoproj.io"

	// argoRefresh makes the controller compare now. It removes the annotation when it did.
	argoRefresh = "argocd.argoproj.io/refresh"

	// argoSkip makes the controller leave an Application alone.
	argoSkip = "argocd.argoproj.io/skip-reconcile"

	// argoInCluster is how the controller calls the cluster that it runs in.
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

// An argoView is the source of an Application that is ours, and what was compared and synced of it.
type argoView struct {
	source    argoSource
	compared  string
	attempted string
	proof     v1alpha1.Proof
}

func argoCD(w Want, main *unstructured.Unstructured) Observation {
	a := argoApplication{}
	if err := decode(main, &a); err != nil {
		return unreadable(err)
	}
	o := Observation{Generation: main.GetGeneration(), Health: a.Status.Health.Status}
	v, reason, message := a.view(w)
	if reason != "" {
		o.Reason, o.Message = reason, message
		return o
	}
	o.Root, o.Proof = clean(v.source.Path), v.proof
	o.Commit, o.Attempted = hexOf(v.compared), hexOf(v.attempted)
	if has(main, "ignoreDifferences") && o.Proof == v1alpha1.ProofExact {
		o.Proof = v1alpha1.ProofTransformed
	}
	o.Reason, o.Message = argoReason(w, a, main)
	if o.Reason == "" && o.Commit == "" {
		o.Reason, o.Message = v1alpha1.SiteReasonEngineNotProvable, "status.sync names no commit"
	}
	o.Holds = o.Reason == v1alpha1.SiteReasonProgressing && (a.Status.Sync.Status == "Synced" || a.running())
	o.Broken = o.Reason == v1alpha1.SiteReasonEngineFailed && a.failed()
	return o
}

// view finds the source that is ours.
func (a argoApplication) view(w Want) (argoView, string, string) {
	if a.Spec.SourceHydrator != nil {
		return a.hydrated(w)
	}
	sources, compared, attempted := a.Spec.Sources, a.Status.Sync.Revisions, a.synced()
	if len(sources) == 0 && a.Spec.Source != nil {
		sources, compared = []argoSource{*a.Spec.Source}, []string{a.Status.Sync.Revision}
	}
	why := "it has no source"
	for i, s := range sources {
		if why = wrongSource(w, s.RepoURL, s.TargetRevision, clean(s.Path)); why != "" {
			continue
		}
		if s.Chart != "" || len(s.Helm)+len(s.Plugin)+len(s.Directory.Jsonnet) > 0 {
			return argoView{}, v1alpha1.SiteReasonEngineNotProvable, "its source is rendered by Helm, Jsonnet or a plugin"
		}
		return argoView{source: s, compared: at(compared, i), attempted: at(attempted, i), proof: argoProof(w, s)}, "", ""
	}
	if len(sources) > 1 {
		why = "none of its sources is the Site's"
	}
	return argoView{}, v1alpha1.SiteReasonWrongSource, why
}

// synced are the revisions that the last operation tried, one for each source.
func (a argoApplication) synced() []string {
	s := a.Status.OperationState
	if s == nil {
		return nil
	}
	if len(s.SyncResult.Revisions) > 0 {
		return s.SyncResult.Revisions
	}
	return []string{s.SyncResult.Revision}
}

// hydrated finds the commit that was rendered from: what is compared then is the one with the result.
func (a argoApplication) hydrated(w Want) (argoView, string, string) {
	h := a.Spec.SourceHydrator
	if why := wrongSource(w, h.DrySource.RepoURL, h.DrySource.TargetRevision, clean(h.DrySource.Path)); why != "" {
		return argoView{}, v1alpha1.SiteReasonWrongSource, why
	}
	last, now := a.Status.SourceHydrator.LastSuccessfulOperation, a.Status.SourceHydrator.CurrentOperation
	switch {
	case now != nil && now.Phase == "Failed":
		return argoView{}, v1alpha1.SiteReasonEngineFailed, quote(now.Message)
	case now != nil && now.Phase != "Hydrated", last == nil, a.Status.Sync.Revision != last.HydratedSHA:
		return argoView{}, v1alpha1.SiteReasonProgressing, "what is compared was not rendered from the last commit"
	}
	return argoView{source: h.DrySource, compared: last.DrySHA, attempted: last.DrySHA, proof: v1alpha1.ProofHydrated}, "", ""
}

func argoReason(w Want, a argoApplication, main *unstructured.Unstructured) (string, string) {
	if main.GetAnnotations()[argoSkip] == "true" {
		return v1alpha1.SiteReasonSuspended, "the Application has annotation " + argoSkip
	}
	d := a.Spec.Destination
	inside := d.Name == "in-cluster" || strings.TrimRight(d.Server, "/") == argoInCluster
	if inside == w.Elsewhere {
		return v1alpha1.SiteReasonWrongCluster, "spec.destination is not the Site's cluster"
	}
	for _, c := range a.Status.Conditions {
		if strings.HasSuffix(c.Type, "Error") {
			return v1alpha1.SiteReasonEngineFailed, quote(c.Type + ": " + c.Message)
		}
	}
	return argoApplied(a, main)
}

// argoApplied says what the controller made of the commit. Revision of status.sync is what was compared, not what was applied: it
// proves something only if that comparison is of the present spec, and found no difference.
func argoApplied(a argoApplication, main *unstructured.Unstructured) (string, string) {
	switch {
	case a.running():
		return v1alpha1.SiteReasonProgressing, "an operation is running"
	case main.GetAnnotations()[argoRefresh] != "":
		return v1alpha1.SiteReasonProgressing, "a refresh was asked for, and not made yet"
	case !comparedToSpec(main):
		return v1alpha1.SiteReasonProgressing, "what was compared is not the present spec"
	case a.Status.Sync.Status != "Synced" && a.failed():
		return v1alpha1.SiteReasonEngineFailed, quote(a.Status.OperationState.Message)
	case a.Status.Sync.Status != "Synced":
		return v1alpha1.SiteReasonProgressing, "sync status " + a.Status.Sync.Status
	}
	switch h := a.Status.Health; h.Status {
	case "Healthy":
		return "", ""
	case "Degraded", "Missing":
		return v1alpha1.SiteReasonUnhealthy, quote(strings.Trim(h.Status+": "+h.Message, ": "))
	default:
		return v1alpha1.SiteReasonProgressing, strings.Trim("health "+h.Status+": "+quote(h.Message), ": ")
	}
}

func (a argoApplication) running() bool {
	s := a.Status.OperationState
	return len(a.Operation) > 0 || s != nil && (s.Phase == "Running" || s.Phase == "Terminating")
}

func (a argoApplication) failed() bool {
	s := a.Status.OperationState
	return s != nil && (s.Phase == "Failed" || s.Phase == "Error")
}

// comparedToSpec is true if the last comparison was made with the sources that the spec has now.
func comparedToSpec(main *unstructured.Unstructured) bool {
	compared, _, _ := unstructured.NestedMap(main.Object, "status", "sync", "comparedTo")
	if compared == nil {
		return false
	}
	for _, field := range []string{"source", "sources", "destination"} {
		want, found, _ := unstructured.NestedFieldCopy(main.Object, "spec", field)
		if found && !sameContent(want, compared[field]) {
			return false
		}
	}
	return true
}

// sameContent compares two values. One of them may hold empty fields that the other leaves out.
func sameContent(a, b any) bool {
	return reflect.DeepEqual(prune(a), prune(b))
}

func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if p := prune(e); p != nil {
				out[k] = p
			}
		}
		if len(out) > 0 {
			return out
		}
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, prune(e))
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

// argoProof is weaker where the source changes what it applies, leaves something out, or may not read the claim's directory.
func argoProof(w Want, s argoSource) v1alpha1.Proof {
	shallow := clean(s.Path) != w.ClaimDir && !s.Directory.Recurse
	if len(s.Kustomize) > 0 || s.Directory.Include != "" || s.Directory.Exclude != "" || shallow {
		return v1alpha1.ProofTransformed
	}
	return v1alpha1.ProofExact
}

func askArgoCD(main *unstructured.Unstructured) (Annotation, bool) {
	a := main.GetAnnotations()
	if a[argoRefresh] != "" || a[argoSkip] == "true" {
		return Annotation{}, false
	}
	ref := Ref{
		Resource: main.GroupVersionKind().GroupVersion().WithResource("applications"), Kind: main.GetKind(),
		Namespace: main.GetNamespace(), Name: main.GetName(),
	}
	return Annotation{On: ref, Key: argoRefresh, Value: "normal"}, true
}

func at(revisions []string, i int) string {
	if i < len(revisions) {
		return revisions[i]
	}
	return ""
}
