package prune

import (
	"fmt"
	"path"
	"slices"

	"github.com/intentplane/intentplane/provider/marker"
)

// A directory is a directory of the repository with its marker and its entry of the state.
type directory struct {
	Directory

	marker marker.Marker

	// problem says why it is not a directory of one claim.
	problem string

	// entry that the state has of it, for the same claim.
	entry *Entry

	// living are the objects that name it, or its claim.
	living []*Living
}

// An index finds the objects that name a directory, without a scan of all for each.
type index struct {
	// entries by their paths.
	entries map[string][]*Entry

	// claims are objects by their claim, and paths by the paths that they name; below has each path also under the paths above it.
	claims, paths, below map[string][]*Living
}

func newDirectoryIndex(f *Facts) *index {
	x := &index{entries: map[string][]*Entry{}, claims: map[string][]*Living{}, paths: map[string][]*Living{}, below: map[string][]*Living{}}
	for i := range f.Repository.Entries {
		e := &f.Repository.Entries[i]
		x.entries[e.Path] = append(x.entries[e.Path], e)
	}
	for i := range f.Living {
		l := &f.Living[i]
		key := l.Claim.Namespace + "/" + l.Claim.Name
		x.claims[key] = append(x.claims[key], l)
		for _, p := range l.Paths {
			x.paths[p] = append(x.paths[p], l)
			for _, above := range parentPaths(p) {
				x.below[above] = append(x.below[above], l)
			}
		}
	}
	return x
}

// livingOwners returns the objects that name a claim, in either shape since both have the same directory, or the directory, or one above or below it.
func (x *index) livingOwners(namespace, name, dir string) []*Living {
	out := slices.Concat(x.claims[namespace+"/"+name], x.paths[dir], x.below[dir])
	for _, above := range parentPaths(dir) {
		out = append(out, x.paths[above]...)
	}
	return out
}

// parentPaths returns the directories that a path is in.
func parentPaths(dir string) []string {
	out := []string{}
	for i := range len(dir) {
		if dir[i] == '/' {
			out = append(out, dir[:i])
		}
	}
	return out
}

// judgeDirectories returns an item for each directory, and how many of them are ours.
func judgeDirectories(f *Facts, rules []rule[*directory]) ([]Item, int) {
	items, ours := []Item{}, 0
	nested, x := nestedPaths(f.Directories), newDirectoryIndex(f)
	for i := range f.Directories {
		d := readDirectory(f, &f.Directories[i], nested, x)
		if f.hidesNamespace(d.claimNamespace()) {
			continue
		}
		if d.problem == "" && f.explainOwner(d) == "" {
			ours++
		}
		item := Item{
			Kind: KindDirectory, Namespace: d.marker.Claim.Namespace, Name: d.marker.Claim.Name, Site: d.Site, Path: d.Path, Tree: d.Tree,
			Objects: len(d.Objects), Stateful: statefulObjects(d.Objects),
		}
		if d.entry != nil {
			item.Commit = d.entry.Commit
		}
		items = append(items, judgeByRules(f, d, item, rules))
	}
	return items, ours
}

// claimNamespace returns the namespace that a directory belongs to: that of its claim or, where no marker names a claim, the namespace in its path.
func (d *directory) claimNamespace() string {
	if d.marker.Claim.Namespace != "" {
		return d.marker.Claim.Namespace
	}
	return namespaceOfPath(d.Path)
}

// namespaceOfPath returns the namespace in <path of the Site>/<namespace>/<name>.
func namespaceOfPath(dir string) string { return path.Base(path.Dir(dir)) }

// readDirectory reads the marker, and finds the entry of the state and the objects that name the directory.
func readDirectory(f *Facts, from *Directory, nested map[string]string, x *index) *directory {
	d := &directory{Directory: *from}
	m, err := marker.Parse(from.Marker)
	switch {
	case from.Marker == nil:
		d.problem = "it has no marker"
	case err != nil:
		d.problem = err.Error()
	case nested[from.Path] != "":
		d.problem = fmt.Sprintf("directory %s is above or below it", nested[from.Path])
		if f.hidesNamespace(namespaceOfPath(nested[from.Path])) {
			d.problem = "a directory of another namespace is above or below it"
		}
	}
	if err != nil {
		return d
	}
	d.marker = m
	d.living = x.livingOwners(m.Claim.Namespace, m.Claim.Name, d.Path)
	for _, e := range x.entries[d.Path] {
		if e.Namespace == m.Claim.Namespace && e.Name == m.Claim.Name {
			d.entry = e
		}
	}
	return d
}

// nestedPaths returns, for each path that is above or below another one, the other one.
func nestedPaths(all []Directory) map[string]string {
	paths := map[string]bool{}
	for _, d := range all {
		paths[d.Path] = true
	}
	out := map[string]string{}
	for _, d := range all {
		for _, above := range parentPaths(d.Path) {
			if paths[above] {
				out[d.Path], out[above] = above, d.Path
			}
		}
	}
	return out
}

// directoryRules returns the rules that keep a directory. The first rule that does gives the reason.
func directoryRules() []rule[*directory] {
	return []rule[*directory]{
		{KeepNotOurs, func(_ *Facts, d *directory) string { return d.problem }},
		{KeepOwnedElsewhere, (*Facts).explainOwner},
		{KeepNotYourNamespace, func(f *Facts, d *directory) string { return f.explainNamespace(d.marker.Claim.Namespace) }},
		{KeepPinned, func(f *Facts, d *directory) string {
			return f.explainLiving(d, "keeps it: it is labelled to be kept", func(l *Living) bool { return l.Pinned })
		}},
		{KeepDeleting, func(f *Facts, d *directory) string {
			return f.explainLiving(d, "is being deleted and removes it", func(l *Living) bool { return l.Deleting && !l.Pinned })
		}},
		{KeepInUse, func(f *Facts, d *directory) string {
			return f.explainLiving(d, "uses it", func(l *Living) bool { return !l.Deleting && !l.Pinned })
		}},
		{KeepUnremembered, explainMemory},
		{KeepChanged, explainTree},
		{KeepTooYoung, func(f *Facts, d *directory) string {
			if d.entry == nil {
				return ""
			}
			return f.explainAge(d.entry.At)
		}},
		{KeepStateful, func(f *Facts, d *directory) string { return f.explainStateful(d.Objects, d.Unread) }},
	}
}

// explainOwner returns a sentence for a directory of another control plane.
func (f *Facts) explainOwner(d *directory) string {
	r, m := f.Repository, d.marker
	switch {
	case m.ControlPlane != r.ControlPlane:
		return fmt.Sprintf("it belongs to control plane %q: prune it there", m.ControlPlane)
	case m.ClusterUID == r.ClusterUID, r.TakeOverFrom != "" && m.ClusterUID == r.TakeOverFrom:
		return ""
	}
	return fmt.Sprintf("it belongs to the cluster with UID %q: if that is lost, name it in takeOverFrom of the configuration", m.ClusterUID)
}

// explainLiving returns a sentence if an object that counts names the directory.
func (f *Facts) explainLiving(d *directory, action string, counts func(*Living) bool) string {
	for _, l := range d.living {
		if counts(l) {
			if f.hidesNamespace(l.Namespace) {
				return fmt.Sprintf("an object of another namespace %s", action)
			}
			return fmt.Sprintf("%s %s/%s %s", l.Kind, l.Namespace, l.Name, action)
		}
	}
	return ""
}

func explainMemory(_ *Facts, d *directory) string {
	if d.entry != nil {
		return ""
	}
	return "the state does not have it: remove it in Git by hand, or make a claim of that name with adopt: true and delete the claim"
}

func explainTree(_ *Facts, d *directory) string {
	if d.entry == nil || d.entry.Tree == d.Tree && d.Tree != "" {
		return ""
	}
	return fmt.Sprintf("an unmanaged commit changed it: it has tree %s, and the state has %s: remove it in Git by hand, "+
		"or make a claim of that name with adopt: true and delete the claim", d.Tree, d.entry.Tree)
}
