package gitdelivery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/state"
)

// formerTrees returns the directories that were left on former branches of the repository, those of the newest first, as many as fit
// beside so many trees. A branch that is used again, or that a person asked to forget, has none. Where the state was lost, the object
// remembers.
func (f facts) formerTrees(trees int) []state.Tree {
	var all []state.Tree
	if f.memory != nil {
		all = slices.Concat(f.memory.Trees, f.memory.Former)
	}
	if f.memory == nil || f.rebuilt {
		all = append(all, f.rememberedFormer()...)
	}
	return state.LimitFormer(slices.DeleteFunc(all, func(t state.Tree) bool {
		return t.Branch == f.branchName() || slices.Contains(f.forgotten, t.Branch)
	}), trees)
}

// rememberedFormer returns the directories on former branches that the status names.
func (f facts) rememberedFormer() []state.Tree {
	var out []state.Tree
	if r := f.lastStatus.Remote; r == nil || r.URL != f.config.Git.URL {
		return nil
	}
	for _, b := range f.lastStatus.FormerBranches {
		for _, path := range b.Paths {
			out = append(out, state.Tree{Branch: b.Branch, DeliveredTree: v1alpha1.DeliveredTree{Path: path}})
		}
	}
	return out
}

// forgottenBranches returns the former branches that the object's annotation asks to forget.
func forgottenBranches(d *v1alpha1.GitDelivery) []string {
	return strings.Split(d.GetAnnotations()[v1alpha1.AnnotationForgetBranches], ",")
}

// reportFormer shows the former branches in the status, and says of each, as an event when it comes there, what a person can do.
func (e *external) reportFormer(d *v1alpha1.GitDelivery, former []v1alpha1.FormerBranch) {
	at := &d.Status.AtProvider
	for _, b := range former {
		if slices.ContainsFunc(at.FormerBranches, func(o v1alpha1.FormerBranch) bool { return o.Branch == b.Branch }) {
			continue
		}
		message := fmt.Sprintf("branch %q does not get the deliveries any more, and keeps directories of the claim: %s. Remove them once no engine reads that branch, "+
			"then annotate the GitDelivery with %s=%s", b.Branch, listNames(b.Paths), v1alpha1.AnnotationForgetBranches, b.Branch)
		e.recorder.Event(d, event.Warning(event.Reason(v1alpha1.ReasonBranchLeft), errors.New(message)))
	}
	at.FormerBranches = former
}
