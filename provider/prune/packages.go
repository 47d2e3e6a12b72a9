package prune

import (
	"fmt"
	"slices"
)

// judgePackages returns an item for each package that may be one to remove, and how many packages of the namespaces are ours.
func judgePackages(f *Facts, rules []rule[*Package]) ([]Item, int) {
	items, packages, ours := []Item{}, []*Package{}, 0
	indexed := *f
	indexed.packageIndex = newPackageIndex(f)
	f = &indexed
	for i := range f.Packages {
		p := &f.Packages[i]
		if f.coversNamespace(p.Namespace) && isMadeByBundle(p) {
			ours++
		}
		if !f.isBundleRequested(p) || f.explainOwnBundle(p) != "" {
			continue
		}
		item := Item{
			Kind: KindPackage, Namespace: p.Namespace, Name: p.Name, UID: p.UID, SpecDigest: p.SpecDigest,
			Objects: len(p.Objects), Stateful: statefulObjects(p.Objects),
		}
		items, packages = append(items, judgeByRules(f, p, item, rules)), append(packages, p)
	}
	if hasKeepRule(rules, KeepDependedOn) {
		keepDependedOn(f, items, packages)
	}
	return items, ours
}

// isMadeByBundle reports whether a bundle made a package, by its field owner and its labels.
func isMadeByBundle(p *Package) bool { return p.IsMade && p.Label == p.Name && p.Bundle.Name != "" }

// isBundleRequested reports whether a request is about the bundle that made a package.
func (f *Facts) isBundleRequested(p *Package) bool {
	return f.Bundle == BundleName{} || f.Bundle == p.Bundle && f.Namespace == p.Namespace
}

// explainOwnBundle returns a sentence if the bundle that made the package names it: it did not leave the bundle, or came back.
func (f *Facts) explainOwnBundle(p *Package) string {
	if f.packageIndex.named[ownPackage{keyOfBundle(p), p.Name}] {
		return fmt.Sprintf("bundle %s names it", p.Bundle.Name)
	}
	return ""
}

func hasKeepRule(rules []rule[*Package], reason Reason) bool {
	return slices.ContainsFunc(rules, func(r rule[*Package]) bool { return r.reason == reason })
}

// packageRules returns the rules that keep a package. The first rule that does gives the reason.
func packageRules() []rule[*Package] {
	return []rule[*Package]{
		{KeepNotYourNamespace, func(f *Facts, p *Package) string { return f.explainNamespace(p.Namespace) }},
		{KeepNotOurs, explainLabels},
		{KeepRecordNewer, func(f *Facts, p *Package) string {
			return f.explainRecord(p, "a newer version keeps the record of bundle %s: use that version", func(r *Record) bool { return r != nil && r.IsNewer })
		}},
		{KeepRecordMissing, func(f *Facts, p *Package) string {
			return f.explainRecord(p, "bundle %s has no record that can be read: it is made again, ask again then",
				func(r *Record) bool { return r == nil || r.IsBroken && !r.IsNewer })
		}},
		{KeepDeleting, func(_ *Facts, p *Package) string { return sentenceOrEmpty(p.Deleting, "it is being deleted") }},
		{KeepPinned, func(_ *Facts, p *Package) string { return sentenceOrEmpty(p.Pinned, "it is labelled to be kept") }},
		{KeepInUse, (*Facts).explainController},
		{KeepUsedByBundle, (*Facts).explainUsers},
		{KeepOwnedElsewhere, func(_ *Facts, p *Package) string {
			return sentenceOrEmpty(p.Reason == string(KeepOwnedElsewhere), "another control plane owns its directories")
		}},
		{KeepTooYoung, func(f *Facts, p *Package) string { return f.explainAge(p.Since) }},
		{KeepStateful, func(f *Facts, p *Package) string { return f.explainStateful(p.Objects, p.Unread) }},
		// The dependents of a package are known when all are judged: keepDependedOn.
		{KeepDependedOn, func(*Facts, *Package) string { return "" }},
	}
}

// Removable returns the items of a plan that may go now: items without a dependent in the plan. Where all depend on each other, all may.
func (p Plan) Removable(f *Facts) []Item {
	all := []Item{}
	goes := map[string]bool{}
	for _, i := range p.Pruned() {
		if goes[i.UID] = p.Refusal == ""; goes[i.UID] {
			all = append(all, i)
		}
	}
	// dependents has the UIDs of the packages that go and depend on a package: two of them, since a package may depend on itself.
	dependents := map[packageKey][]string{}
	for i := range f.Packages {
		o := &f.Packages[i]
		if !goes[o.UID] {
			continue
		}
		for _, name := range o.DependsOn {
			if key := (packageKey{namespace: o.Namespace, name: name}); len(dependents[key]) < 2 && !slices.Contains(dependents[key], o.UID) {
				dependents[key] = append(dependents[key], o.UID)
			}
		}
	}
	isNeeded := func(i Item) bool {
		return slices.ContainsFunc(dependents[packageKey{namespace: i.Namespace, name: i.Name}], func(uid string) bool { return uid != i.UID })
	}
	if first := slices.DeleteFunc(slices.Clone(all), isNeeded); len(first) > 0 {
		return first
	}
	return all
}

func sentenceOrEmpty(holds bool, sentence string) string {
	if holds {
		return sentence
	}
	return ""
}

// explainLabels returns a sentence for an object that no bundle made, or whose labels a user changed.
func explainLabels(_ *Facts, p *Package) string {
	switch {
	case !p.IsMade:
		return "no bundle made it"
	case p.Bundle.Name == "" || p.Label != p.Name:
		return fmt.Sprintf("its labels name package %q of bundle %q, so a user changed them", p.Label, p.Bundle.Name)
	}
	return ""
}

// explainRecord returns a sentence for a bundle that exists and whose record has an error. A package of a deleted bundle needs no record.
func (f *Facts) explainRecord(p *Package, sentence string, isWrong func(*Record) bool) string {
	record := f.packageIndex.records[keyOfBundle(p)]
	if exists := record != nil || f.packageIndex.bundles[keyOfBundle(p)]; !exists || !isWrong(record) {
		return ""
	}
	return fmt.Sprintf(sentence, p.Bundle.Name)
}

// explainController returns a sentence if another object controls the package.
func (f *Facts) explainController(p *Package) string {
	if l := f.packageIndex.controllers[packageKey{p.Kind, p.Namespace, p.Name}]; l != nil {
		return fmt.Sprintf("%s %s/%s uses it", l.Kind, l.Namespace, l.Name)
	}
	return ""
}

// explainUsers returns a sentence if another bundle of the namespace names the package in its spec or in its record, or if an unreadable
// record could name it.
func (f *Facts) explainUsers(p *Package) string {
	key := packageKey{namespace: p.Namespace, name: p.Name}
	if b := f.packageIndex.bundleUsers[key]; b != nil {
		return fmt.Sprintf("bundle %s uses it", b.Name)
	}
	if r := f.packageIndex.recordUsers[key]; r != nil {
		return fmt.Sprintf("the record of bundle %s uses it", r.Name)
	}
	for _, r := range f.packageIndex.unreadable[p.Namespace] {
		if r.BundleName != p.Bundle {
			return fmt.Sprintf("the record of bundle %s cannot be read, and could use it", r.Name)
		}
	}
	return ""
}

// keepDependedOn keeps the dependencies of packages that stay: of packages outside of the plan, of packages that the plan keeps, and of those that are kept
// for them. It goes through each dependency once.
func keepDependedOn(f *Facts, items []Item, packages []*Package) {
	goes, byName := map[*Package]int{}, map[packageKey][]*Package{}
	for i, p := range packages {
		if items[i].Verdict == VerdictPrune && f.isItemSelected(&items[i]) {
			goes[p] = i
			key := packageKey{namespace: p.Namespace, name: p.Name}
			byName[key] = append(byName[key], p)
		}
	}
	staying := []*Package{}
	for i := range f.Packages {
		if _, isGoing := goes[&f.Packages[i]]; !isGoing {
			staying = append(staying, &f.Packages[i])
		}
	}
	for n := 0; n < len(staying); n++ {
		dependent := staying[n]
		for _, name := range dependent.DependsOn {
			for _, p := range byName[packageKey{namespace: dependent.Namespace, name: name}] {
				i, isGoing := goes[p]
				if !isGoing {
					continue
				}
				delete(goes, p)
				staying = append(staying, p)
				items[i].Verdict, items[i].Reason, items[i].Message = VerdictKeep, KeepDependedOn, fmt.Sprintf("package %s depends on it and stays", dependent.Name)
			}
		}
	}
}

// isItemSelected reports whether a user means an item.
func (f *Facts) isItemSelected(i *Item) bool {
	return len(f.Only) == 0 || slices.Contains(f.Only, i.Name)
}
