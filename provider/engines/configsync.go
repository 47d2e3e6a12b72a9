package engines

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/engines/coverage"
)

const configSyncGroupName = "configsync.gke.io"

type configSyncStage struct {
	Commit    string `json:"commit"`
	GitStatus *struct {
		Dir string `json:"dir"`
	} `json:"gitStatus"`
	ErrorSummary struct {
		TotalCount int64 `json:"totalCount"`
	} `json:"errorSummary"`
	Errors []struct {
		Code         string `json:"code"`
		ErrorMessage string `json:"errorMessage"`
	} `json:"errors"`
}

type configSyncRoot struct {
	Spec struct {
		SourceType string `json:"sourceType"`
		Git        struct {
			Repo     string `json:"repo"`
			Branch   string `json:"branch"`
			Revision string `json:"revision"`
			Dir      string `json:"dir"`
		} `json:"git"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64              `json:"observedGeneration"`
		Conditions         []metav1.Condition `json:"conditions"`
		Source             configSyncStage    `json:"source"`
		Rendering          configSyncStage    `json:"rendering"`
		Sync               configSyncStage    `json:"sync"`
	} `json:"status"`
}

type resourceGroup struct {
	Metadata struct {
		Generation int64 `json:"generation"`
	} `json:"metadata"`
	Spec struct {
		Resources []struct{} `json:"resources"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64              `json:"observedGeneration"`
		Conditions         []metav1.Condition `json:"conditions"`
		ResourceStatuses   []resourceStatus   `json:"resourceStatuses"`
	} `json:"status"`
}

// A resourceStatus is the entry of one object in the status of a ResourceGroup.
type resourceStatus struct {
	Group      string             `json:"group"`
	Kind       string             `json:"kind"`
	Namespace  string             `json:"namespace"`
	Name       string             `json:"name"`
	Status     string             `json:"status"`
	SourceHash string             `json:"sourceHash"`
	Strategy   string             `json:"strategy"`
	Actuation  string             `json:"actuation"`
	Conditions []metav1.Condition `json:"conditions"`
}

// minSourceHash is the number of characters to which Config Sync shortens a commit in sourceHash.
const minSourceHash = 7

// matchCommit returns a function that reports whether the status of an object is about its content in a commit. The ResourceGroup keeps its generation
// while it lists the same objects, so its observedGeneration says nothing about their content. An old version reports the commit of no object.
func (g resourceGroup) matchCommit(commit string) func(resourceStatus) bool {
	isReported := slices.ContainsFunc(g.Status.ResourceStatuses, func(s resourceStatus) bool { return s.SourceHash != "" })
	return func(s resourceStatus) bool {
		return !isReported || len(s.SourceHash) >= minSourceHash && strings.HasPrefix(commit, s.SourceHash)
	}
}

// isResourceApplied reports whether Config Sync applied the object for this ResourceGroup. An object that another ResourceGroup owns, or none since Config Sync left it
// as it was, may have other content: condition OwnershipOverlap is True or Unknown then.
func (s resourceStatus) isResourceApplied() bool {
	isActuated := s.Actuation == "" || s.Actuation == "Succeeded"
	overlap := findCondition(s.Conditions, "OwnershipOverlap").Status
	return isActuated && s.Strategy != "Delete" && (overlap == "" || overlap == metav1.ConditionFalse)
}

// inventoryOf returns the ResourceGroup of a RootSync or RepoSync. It has the same name.
func inventoryOf(main *unstructured.Unstructured) Ref {
	return Ref{
		Resource: schema.GroupVersionResource{Group: "kpt.dev", Version: "v1alpha1", Resource: "resourcegroups"},
		Kind:     "ResourceGroup", Namespace: main.GetNamespace(), Name: main.GetName(),
	}
}

func observeConfigSync(w Want, main, group *unstructured.Unstructured) Observation {
	r := configSyncRoot{}
	if err := DecodeObject(main, &r); err != nil {
		return unreadableObject(err)
	}
	o := Observation{
		Generation: r.Status.ObservedGeneration,
		Commit:     parseCommitID(r.Status.Sync.Commit),
		Attempted:  parseCommitID(r.Status.Sync.Commit),
		Root:       cleanDirectory(r.Spec.Git.Dir),
		Proof:      v1alpha1.ProofExact,
		URL:        sanitizeURL(r.Spec.Git.Repo),
	}
	if o.Reason, o.Message = configSyncReason(w, r, main.GetGeneration(), o.Root); o.Reason == "" {
		o.Health, o.Reason, o.Message = inventoryHealth(inventoryOf(main), group, r.Status.Sync.Commit)
		o.Report = inventoryReport(inventoryOf(main), group, r.Status.Sync.Commit)
	}
	if o.Reason == "" && o.Commit == "" {
		o.Reason, o.Message = v1alpha1.SiteReasonEngineNotProvable, "status.sync names no commit"
	}
	o.StillApplied = o.Reason == v1alpha1.SiteReasonProgressing
	o.FinalFailure = o.Reason == v1alpha1.SiteReasonStalled
	return o
}

func configSyncReason(w Want, r configSyncRoot, generation int64, root string) (string, string) {
	g := r.Spec.Git
	if t := r.Spec.SourceType; t != "" && t != "git" {
		return v1alpha1.SiteReasonEngineNotProvable, fmt.Sprintf("its source is of type %q, which names no commit: set spec.sourceType to git", t)
	}
	if w.Elsewhere {
		return v1alpha1.SiteReasonWrongCluster, "Config Sync applies to the cluster that it runs in, which is not the Site's"
	}
	if message := describeWrongSource(w, g.Branch, root); message != "" {
		return v1alpha1.SiteReasonWrongSource, message
	}
	if g.Revision != "" && g.Revision != "HEAD" && g.Revision != w.Branch {
		return v1alpha1.SiteReasonWrongSource, "its source is pinned to a revision, and follows no branch"
	}
	if r.Status.ObservedGeneration != generation {
		return v1alpha1.SiteReasonProgressing, "the controller has not seen the last change of its object"
	}
	return configSyncStageReason(r, root)
}

// configSyncStageReason returns why the synced commit is not applied from a directory, or an empty reason. The manager observes a new directory before the
// reconciler reads it: until then the stages are about the earlier directory, at the same commit.
func configSyncStageReason(r configSyncRoot, root string) (string, string) {
	if c := findCondition(r.Status.Conditions, "Stalled"); c.Status == metav1.ConditionTrue {
		return v1alpha1.SiteReasonStalled, describeCondition(c)
	}
	stages := []struct {
		name string
		configSyncStage
	}{{name: "source", configSyncStage: r.Status.Source}, {name: "rendering", configSyncStage: r.Status.Rendering}, {name: "sync", configSyncStage: r.Status.Sync}}
	for _, s := range stages {
		if !s.isOfDirectory(root) {
			return v1alpha1.SiteReasonProgressing, s.name + ": the reconciler has not read the directory of the spec yet"
		}
		if s.ErrorSummary.TotalCount > 0 || len(s.Errors) > 0 {
			return v1alpha1.SiteReasonEngineFailed, s.name + ": " + s.describeErrors()
		}
	}
	if c := findCondition(r.Status.Conditions, "Reconciling"); c.Status == metav1.ConditionTrue {
		return v1alpha1.SiteReasonProgressing, describeCondition(c)
	}
	c := findCondition(r.Status.Conditions, "Syncing")
	commit := r.Status.Sync.Commit
	if c.Status != metav1.ConditionFalse || commit == "" || r.Status.Source.Commit != commit || r.Status.Rendering.Commit != commit {
		return v1alpha1.SiteReasonProgressing, "source, rendering and sync are not at the same commit"
	}
	return "", ""
}

// isOfDirectory reports whether a stage is about a directory. A stage that names none is of a version that does not report it.
func (s configSyncStage) isOfDirectory(root string) bool {
	return s.GitStatus == nil || cleanDirectory(s.GitStatus.Dir) == root
}

func (s configSyncStage) describeErrors() string {
	out := []string{}
	for _, e := range s.Errors {
		out = append(out, strings.Trim("KNV"+e.Code+": "+e.ErrorMessage, ": "))
	}
	if len(out) == 0 {
		return fmt.Sprintf("%d errors", s.ErrorSummary.TotalCount)
	}
	return markEngineText(strings.Join(out, "; "))
}

// inventoryReport returns the objects that were applied at a commit. An older version does not say how each of them ended.
func inventoryReport(ref Ref, group *unstructured.Unstructured, commit string) coverage.Report {
	g := resourceGroup{}
	if group == nil || DecodeObject(group, &g) != nil {
		return coverage.Report{}
	}
	out := coverage.Report{Applied: g.listApplied(commit)}
	if g.isStatusDisabled() {
		out.Uncompared = ref.String() + " has no status.resourceStatuses"
	}
	return out
}

// listApplied yields the objects that were applied at a commit.
func (g resourceGroup) listApplied(commit string) iter.Seq[policy.Object] {
	isOfCommit := g.matchCommit(commit)
	return func(yield func(policy.Object) bool) {
		for _, s := range g.Status.ResourceStatuses {
			isListed := s.isResourceApplied() && isOfCommit(s)
			if isListed && !yield(policy.Object{Group: s.Group, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}) {
				return
			}
		}
	}
}

// isStatusDisabled reports whether Config Sync writes the objects without their statuses, as statusMode: disabled makes it do.
func (g resourceGroup) isStatusDisabled() bool {
	return len(g.Spec.Resources) > 0 && len(g.Status.ResourceStatuses) == 0
}

// inventoryHealth returns the health of the objects that were applied at a commit: an applied object need not be healthy. It is empty where Config Sync
// reports none.
func inventoryHealth(ref Ref, group *unstructured.Unstructured, commit string) (health, reason, message string) {
	if group == nil {
		return "", v1alpha1.SiteReasonProgressing, ref.String() + " does not exist, so the health of the objects is unknown: Config Sync makes it when it applies them"
	}
	g := resourceGroup{}
	if err := DecodeObject(group, &g); err != nil {
		return "", v1alpha1.SiteReasonEngineNotProvable, err.Error()
	}
	earlier, waiting, failed := g.sortByHealth(commit)
	if c := findCondition(g.Status.Conditions, "Stalled"); c.Status == metav1.ConditionTrue && len(earlier) == 0 {
		return "Unknown", v1alpha1.SiteReasonUnhealthy, describeCondition(c)
	}
	if g.Status.ObservedGeneration != g.Metadata.Generation {
		return "Unknown", v1alpha1.SiteReasonProgressing, "the ResourceGroup is not up to date"
	}
	if g.isStatusDisabled() {
		return "", "", ""
	}
	switch {
	case len(failed) > 0:
		return "Failed", v1alpha1.SiteReasonUnhealthy, markEngineText(strings.Join(failed, ", "))
	case len(earlier) > 0:
		text := "the ResourceGroup has no status at the synced commit for " + strings.Join(earlier, ", ")
		return "Unknown", v1alpha1.SiteReasonProgressing, markEngineText(text)
	case len(waiting) > 0:
		return "InProgress", v1alpha1.SiteReasonProgressing, markEngineText(strings.Join(waiting, ", "))
	}
	return "Current", "", ""
}

// sortByHealth describes the objects whose status is about an earlier commit, and the objects of the commit that are not healthy yet, or failed.
func (g resourceGroup) sortByHealth(commit string) (earlier, waiting, failed []string) {
	isOfCommit := g.matchCommit(commit)
	for _, s := range g.Status.ResourceStatuses {
		name := strings.Trim(fmt.Sprintf("%s %s/%s", s.Kind, s.Namespace, s.Name), " ")
		switch {
		case !isOfCommit(s):
			earlier = append(earlier, name)
		case s.Status == "Failed":
			failed = append(failed, name+" is "+s.Status)
		case s.Status != "Current":
			waiting = append(waiting, name+" is "+s.Status)
		}
	}
	slices.Sort(earlier)
	slices.Sort(waiting)
	slices.Sort(failed)
	return earlier, waiting, failed
}
