package prune

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// maxPruned is how many items one plan may remove, and maxItems how many it lists.
	maxPruned = 500
	maxItems  = 500

	// fewItems are never most of a repository.
	fewItems = 5
)

// PlanLifetime is how long a plan may be approved.
const PlanLifetime = time.Hour

// A Verdict says whether an item is removed or kept.
type Verdict string

// Verdicts.
const (
	VerdictPrune Verdict = "Prune"
	VerdictKeep  Verdict = "Keep"
)

// A Reason says why an item is kept. The list is closed.
type Reason string

// Reasons.
const (
	// KeepInUse means that an object of the cluster names it.
	KeepInUse Reason = "InUse"

	// KeepUsedByBundle means that another bundle uses the package.
	KeepUsedByBundle Reason = "UsedByBundle"

	// KeepDependedOn means that a package depends on it that stays.
	KeepDependedOn Reason = "DependedOn"

	// KeepDeleting means that it is being removed already.
	KeepDeleting Reason = "Deleting"

	// KeepPinned means that a user wants it to be kept.
	KeepPinned Reason = "Pinned"

	// KeepTooYoung means that it changed a shorter time ago than minAge, or that it is unknown when.
	KeepTooYoung Reason = "TooYoung"

	// KeepChanged means that an unmanaged commit changed the directory.
	KeepChanged Reason = "Changed"

	// KeepUnremembered means that the directory has a marker, and the state does not have the directory.
	KeepUnremembered Reason = "Unremembered"

	// KeepNotOurs means that the directory has no readable marker, or lies above or below another one; or that the labels of a package are
	// not the labels of a bundle's package.
	KeepNotOurs Reason = "NotOurs"

	// KeepOwnedElsewhere means that it belongs to another control plane.
	KeepOwnedElsewhere Reason = "OwnedElsewhere"

	// KeepStateful means that something in it cannot be made again, or is unknown.
	KeepStateful Reason = "Stateful"

	// KeepNotYourNamespace means that the request does not cover its namespace.
	KeepNotYourNamespace Reason = "NotYourNamespace"

	// KeepRecordMissing means that its bundle has no record that can be read.
	KeepRecordMissing Reason = "RecordMissing"

	// KeepRecordNewer means that a newer version keeps the record of its bundle.
	KeepRecordNewer Reason = "RecordNewer"
)

// Reasons returns all reasons.
func Reasons() []Reason {
	return []Reason{
		KeepInUse, KeepUsedByBundle, KeepDependedOn, KeepDeleting, KeepPinned, KeepTooYoung, KeepChanged, KeepUnremembered, KeepNotOurs, KeepOwnedElsewhere,
		KeepStateful, KeepNotYourNamespace, KeepRecordMissing, KeepRecordNewer,
	}
}

// A Refusal says why nothing of a plan may be done.
type Refusal string

// Refusals.
const (
	// RefusalUncertain means that the owners are unknown, such as while a control plane is being restored.
	RefusalUncertain Refusal = "Uncertain"

	// RefusalStateUntrusted means that the state of the repository cannot be believed.
	RefusalStateUntrusted Refusal = "StateUntrusted"

	// RefusalNotInPlan means that only has a name or path that nothing has.
	RefusalNotInPlan Refusal = "NotInPlan"

	// RefusalMostOfRepository means that more than half of our items would go.
	RefusalMostOfRepository Refusal = "MostOfRepository"

	// RefusalTooMany means that more would go than one plan may remove.
	RefusalTooMany Refusal = "TooMany"
)

// Kinds of items.
const (
	KindDirectory = "Directory"
	KindPackage   = "Package"
)

// An Item is a directory or a package, with its verdict.
type Item struct {
	// Kind is KindDirectory or KindPackage.
	Kind string

	// Namespace and Name of the claim of a directory, or of a package.
	Namespace, Name string

	// Site, Path and Tree of a directory, and the Commit that the state remembers of it.
	Site, Path, Tree, Commit string

	// UID and SpecDigest of a package.
	UID, SpecDigest string

	// Objects that would go, and Stateful ones among them, as KIND/NAME.
	Objects  int
	Stateful []string

	// Verdict, and where it is Keep, the Reason and a sentence.
	Verdict Verdict
	Reason  Reason
	Message string
}

// A Plan has the items to remove, and the kept items with their reasons.
type Plan struct {
	// Digest identifies the items to remove. A plan that is refused has none.
	Digest string

	// Items are the items to prune, then the items to keep, each ordered by namespace, name and path.
	Items []Item

	// More items are kept that are not listed.
	More int

	// Refusal and Message say why nothing of it may be done.
	Refusal Refusal
	Message string
}

// Pruned returns the items to remove.
func (p Plan) Pruned() []Item {
	n := slices.IndexFunc(p.Items, func(i Item) bool { return i.Verdict != VerdictPrune })
	if n < 0 {
		n = len(p.Items)
	}
	return p.Items[:n]
}

// MakePlan decides on each directory or package. It returns an error for a scope that does not exist.
func MakePlan(f *Facts) (Plan, error) {
	return planByRules(f, directoryRules(), packageRules())
}

// A rule keeps an item if it has a sentence for it.
type rule[T any] struct {
	reason Reason
	keeps  func(f *Facts, subject T) string
}

// judgeByRules returns the item with the reason of the first rule that keeps it.
func judgeByRules[T any](f *Facts, subject T, item Item, rules []rule[T]) Item {
	item.Verdict = VerdictPrune
	for _, r := range rules {
		if message := r.keeps(f, subject); message != "" {
			item.Verdict, item.Reason, item.Message = VerdictKeep, r.reason, message
			return item
		}
	}
	return item
}

func planByRules(f *Facts, directories []rule[*directory], packages []rule[*Package]) (Plan, error) {
	var ours int
	p := Plan{}
	switch f.Scope {
	case ScopeDirectories:
		p.Items, ours = judgeDirectories(f, directories)
	case ScopeBundle:
		p.Items, ours = judgePackages(f, packages)
	default:
		return Plan{}, errors.Errorf("scope %q does not exist: want %s or %s", f.Scope, ScopeBundle, ScopeDirectories)
	}
	missing := f.selectItems(&p)
	slices.SortStableFunc(p.Items, compareItems)
	if p.Refusal, p.Message = f.planRefusal(p.Pruned(), ours, missing); p.Refusal == "" {
		digest, err := f.digestOfItems(p.Pruned())
		if err != nil {
			return Plan{}, err
		}
		p.Digest = digest
	}
	p.More = max(0, len(p.Items)-maxItems)
	p.Items = p.Items[:len(p.Items)-p.More]
	return p, nil
}

// selectItems leaves the items that a user names, and returns the names that none has.
func (f *Facts) selectItems(p *Plan) []string {
	if len(f.Only) == 0 {
		return nil
	}
	found := map[string]bool{}
	p.Items = slices.DeleteFunc(p.Items, func(i Item) bool {
		isNamed := false
		for _, name := range f.Only {
			if name == i.Name || name == i.Path {
				found[name], isNamed = true, true
			}
		}
		return !isNamed
	})
	return slices.DeleteFunc(slices.Clone(f.Only), func(name string) bool { return found[name] })
}

// compareItems orders pruned items before kept items.
func compareItems(a, b Item) int {
	return cmp.Or(
		-cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Path, b.Path), cmp.Compare(a.UID, b.UID),
	)
}

// planRefusal returns why nothing of a plan may be done, if that is so. Ours is the number of our items with any verdict.
func (f *Facts) planRefusal(pruned []Item, ours int, missing []string) (Refusal, string) {
	if owners := f.unknownOwners(); owners != "" {
		return RefusalUncertain, owners
	}
	if f.Scope == ScopeDirectories && f.Repository.Untrusted != "" {
		return RefusalStateUntrusted, f.Repository.Untrusted
	}
	if len(missing) > 0 {
		return RefusalNotInPlan, "spec.only: not in the plan: " + strings.Join(missing, ", ")
	}
	if n := len(pruned); n > maxPruned {
		return RefusalTooMany, fmt.Sprintf("%d items would be removed, and one plan removes at most %d: name some of them in only", n, maxPruned)
	}
	if n := len(pruned); n > fewItems && 2*n > ours && !f.AllowMost {
		return RefusalMostOfRepository, fmt.Sprintf("%d of %d items would be removed, which is more than half: allowMost allows it", n, ours)
	}
	return "", ""
}

// unknownOwners returns a sentence if the owners are unknown.
func (f *Facts) unknownOwners() string {
	if len(f.Unlisted) > 0 {
		return "the provider cannot list " + strings.Join(f.Unlisted, ", ")
	}
	if f.Scope != ScopeDirectories {
		return ""
	}
	if f.Repository.ControlPlane == "" || f.Repository.ClusterUID == "" {
		return "the provider does not know the name of this control plane, or the UID of its cluster"
	}
	for _, d := range f.Repository.Deliveries {
		if slices.Contains([]string{"OwnedElsewhere", "MemoryUnknown", "OrderBehind", "Diverged"}, d.Reason) {
			named := fmt.Sprintf("GitDelivery %s/%s", d.Namespace, d.Name)
			if f.hidesNamespace(d.Namespace) {
				named = "a GitDelivery of another namespace"
			}
			return fmt.Sprintf("%s of the repository is %s, so a restore may be going on: solve that first", named, d.Reason)
		}
	}
	return ""
}

// coversNamespace reports whether a request is about a namespace.
func (f *Facts) coversNamespace(namespace string) bool {
	isSystem := f.Namespace == f.SystemNamespace && f.Namespace != ""
	isNamed := slices.Contains(f.Namespaces, "*") || slices.Contains(f.Namespaces, namespace)
	return namespace != "" && (namespace == f.Namespace || isSystem && isNamed)
}

// hidesNamespace reports whether the author of the request may not learn the content of a namespace.
func (f *Facts) hidesNamespace(namespace string) bool {
	return f.Namespace != f.SystemNamespace && namespace != f.Namespace
}

// explainNamespace says of a namespace that is not covered how it would be.
func (f *Facts) explainNamespace(namespace string) string {
	if f.coversNamespace(namespace) {
		return ""
	}
	return fmt.Sprintf("namespace %q is not the request's namespace: a request in namespace %q may name others in namespaces", namespace, f.SystemNamespace)
}

// statefulObjects returns the objects that cannot be made again.
func statefulObjects(all []Object) []string {
	out := []string{}
	for _, o := range all {
		if o.Irreversible || slices.Contains([]string{"PersistentVolumeClaim", "PersistentVolume", "StatefulSet", "CustomResourceDefinition", "Namespace"}, o.Kind) {
			out = append(out, o.Kind+"/"+o.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// explainStateful returns a sentence if something in it cannot be made again, or is unknown.
func (f *Facts) explainStateful(objects []Object, unread bool) string {
	switch all := statefulObjects(objects); {
	case f.AllowStateful:
		return ""
	case unread:
		return "not all of its files can be read, so it is unknown whether something cannot be made again: allowStateful removes it nevertheless"
	case len(all) > 0:
		return "it has objects that cannot be recreated: " + strings.Join(all, ", ") + ": allowStateful removes it nevertheless"
	}
	return ""
}

// explainAge returns a sentence for a change that is younger than the limit, in the future, or unknown.
func (f *Facts) explainAge(plannedAt time.Time) string {
	switch age := f.Now.Sub(plannedAt); {
	case plannedAt.IsZero():
		return "it is unknown when it changed"
	case age < 0 || age < f.MinAge:
		return fmt.Sprintf("it changed at %s, and minAge is %s", plannedAt.UTC().Format(time.RFC3339), f.MinAge)
	}
	return ""
}
