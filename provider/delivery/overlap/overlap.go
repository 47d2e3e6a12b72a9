// Package overlap finds objects that two claims deliver to one Site. An engine that builds all of the Site would stop for every claim of the Site.
package overlap

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
)

// Limits of the comparison with the objects of other claims.
const (
	// MaxRead is the maximum number of files of other claims that one observation reads for one directory. The next observations read further files, and the
	// provider writes nothing until all are compared.
	MaxRead = 64
	// maxFiles is the maximum number of files of other claims that are compared with one directory. The cache holds their objects several times.
	maxFiles = 10_000
	// maxCompared is the maximum number of entries of a Site's directories that one observation visits for one directory.
	maxCompared = 500_000
)

// An Overlap is an object that another claim delivers to the same Site.
type Overlap struct {
	Object policy.Object

	// Namespace and Name of the other claim.
	Namespace, Name string

	// IsOrphaned is true for a directory of this cluster that no GitDelivery delivers to any more. The caller sets it.
	IsOrphaned bool
}

// An IncompleteError reports an incomplete comparison: the next observation continues it.
type IncompleteError struct{}

// Error returns a message about the progress.
func (*IncompleteError) Error() string {
	return fmt.Sprintf("comparing with the deliveries of other claims to the Site: each observation reads %d of their files", MaxRead)
}

// A Comparison compares directories with the directories of other claims. The branch itself shows the objects of each claim: a Site's path has the
// directories of all claims, and each file is named after its object. So a file is read only if it may be the same object.
type Comparison struct {
	// Names of the objects in files that were read before.
	Names *Names

	// ReadFile returns the content of a file, and whether it exists.
	ReadFile func(ctx context.Context, s *git.Snapshot, file string) ([]byte, bool, error)

	// Skipped is called for a file that cannot be read, and that is not compared.
	Skipped func(file string, err error)
}

// A Directory is a claim's directory that is about to be written.
type Directory struct {
	Path string

	// Site that the directory is for. Nil if it does not exist.
	Site *catalogv1alpha1.Site

	// Files of the directory.
	Files tree.Files
}

// Find returns the first object of a directory that another claim delivers to the same Site, or nil. It returns an *IncompleteError if the next observation has
// to continue the comparison.
func (c Comparison) Find(ctx context.Context, s *git.Snapshot, d Directory) (*Overlap, error) {
	r := search{
		Comparison: c, snapshot: s.Open(), own: objectsByStem(d.Files), without: map[string]bool{},
		namespace: path.Base(path.Dir(d.Path)), site: path.Dir(path.Dir(d.Path)),
	}
	found, err := r.searchSite(ctx, d.Path, staysInNamespace(d.Site))
	if failure.ClassOf(err) == failure.ClassTooCostly {
		return nil, &IncompleteError{} // The objects of other claims reject no revision. The next observation uses the files that this observation read.
	}
	return found, err
}

// A search looks for the objects of one directory in the directories of other claims.
type search struct {
	Comparison

	snapshot *git.Snapshot
	own      map[string][]policy.Object
	// namespace of the claim, which pays for cached values.
	namespace string
	// site is the path of the Site.
	site string
	// read is the number of files read in this observation, and compared the number of all compared files.
	read, compared int
	// without are the ids of directories that hold none of the objects. The same directory may exist under many names.
	without map[string]bool
	// entries is the number of visited entries.
	entries int
}

// listDirectory lists a directory of the Site. It returns nothing for a path that no claim's directory has, and an error beyond the bound or when the
// context ends.
func (r *search) listDirectory(ctx context.Context, dir string) (map[string]git.Entry, error) {
	entries, err := r.snapshot.Entries(ctx, dir)
	if failure.ClassOf(err) == failure.ClassInvalid {
		return map[string]git.Entry{}, nil
	}
	if err != nil {
		return entries, err
	}
	return entries, r.countEntries(len(entries))
}

// countEntries counts visited entries. It returns an error beyond maxCompared.
func (r *search) countEntries(n int) error {
	if r.entries += n; r.entries > maxCompared {
		return &failure.Error{Class: failure.ClassTooLarge, Detail: fmt.Sprintf("cannot compare with the deliveries of other claims: their directories have more than %d entries", maxCompared)}
	}
	return nil
}

// hasClaimStem is true if an object of the claim may be in a file with the prefix.
func (r *search) hasClaimStem(stems []string) bool {
	return slices.ContainsFunc(stems, func(stem string) bool { return len(r.own[stem]) > 0 })
}

// stemsOfEntries returns the prefixes of the names of a directory's entries.
func stemsOfEntries(entries map[string]git.Entry) []string {
	out := make([]string, 0, len(entries))
	for name := range entries {
		out = append(out, policy.StemOfFile(path.Base(name)))
	}
	return out
}

// searchSite searches the Site's directories of the claim's own namespace first. It searches other namespaces unless ownNamespaceOnly is set.
func (r *search) searchSite(ctx context.Context, dir string, ownNamespaceOnly bool) (*Overlap, error) {
	ownNamespace := path.Base(path.Dir(dir))
	if found, err := r.searchNamespace(ctx, ownNamespace, path.Base(dir)); found != nil || err != nil || ownNamespaceOnly {
		return found, err
	}
	return r.searchDirectories(ctx, r.site, ownNamespace, func(namespace, _ string) (*Overlap, error) { return r.searchNamespace(ctx, namespace, "") })
}

// searchNamespace searches the directories of the claims of one namespace, except for one name.
func (r *search) searchNamespace(ctx context.Context, namespace, but string) (*Overlap, error) {
	dir := r.site + "/" + namespace
	return r.searchDirectories(ctx, dir, but, func(name, id string) (*Overlap, error) {
		o, err := r.searchClaim(ctx, dir+"/"+name, id)
		if o == nil || err != nil {
			return nil, err
		}
		return &Overlap{Object: *o, Namespace: namespace, Name: name}, nil
	})
}

// searchDirectories searches the directories in a parent directory, except for one name, and except for directories that hold none of the objects.
func (r *search) searchDirectories(ctx context.Context, dir, excluded string, visit func(name, id string) (*Overlap, error)) (*Overlap, error) {
	entries, err := r.listDirectory(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		entry := entries[name]
		if name == excluded || entry.Mode != objects.ModeTree || r.without[entry.ID] {
			continue
		}
		if found, err := visit(name, entry.ID); found != nil || err != nil {
			return found, err
		}
		r.without[entry.ID] = true
	}
	return nil, nil //nolint:nilnil // Nothing is an answer.
}

// searchClaim returns the first object that another claim's directory holds as well. A directory without a marker belongs to no claim. The content of an
// id never changes, so that a directory with cached prefixes of other names is not listed again: with 1,000 claims at a Site, each claim is compared with
// all others.
func (r *search) searchClaim(ctx context.Context, dir, id string) (*policy.Object, error) {
	if cached, ok := r.Names.stems.Get(id); ok && !r.hasClaimStem(cached) {
		return nil, r.countEntries(len(cached))
	}
	entries, err := r.listDirectory(ctx, dir)
	if _, marked := entries[tree.Marker]; err != nil || !marked {
		return nil, err
	}
	if entries, err = r.withTrackEntries(ctx, dir, entries); err != nil {
		return nil, err
	}
	r.Names.cacheFileStems(r.namespace, id, stemsOfEntries(entries))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		ours := r.own[policy.StemOfFile(path.Base(name))]
		if len(ours) == 0 || entries[name].Mode != objects.ModeFile {
			continue
		}
		theirs, err := r.objectsOfFile(ctx, dir+"/"+name, entries[name].ID)
		if err != nil {
			return nil, err
		}
		for _, o := range ours {
			if slices.Contains(theirs, o) {
				return &o, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // Nothing is an answer.
}

// withTrackEntries returns the entries of a claim's directory, and the entries in the folders of its tracks by their paths.
func (r *search) withTrackEntries(ctx context.Context, dir string, entries map[string]git.Entry) (map[string]git.Entry, error) {
	out := maps.Clone(entries)
	for _, folder := range append(track.Names(), track.FolderShared) {
		if entries[folder].Mode != objects.ModeTree {
			continue
		}
		inside, err := r.listDirectory(ctx, dir+"/"+folder)
		if err != nil {
			return nil, err
		}
		for name, entry := range inside {
			out[folder+"/"+name] = entry
		}
	}
	return out, nil
}

// objectsOfFile returns the objects of a file. The content of an id never changes, so it is read once. It returns a *IncompleteError if the observation has
// read MaxRead files or used up its requests.
func (r *search) objectsOfFile(ctx context.Context, file, id string) ([]policy.Object, error) {
	if r.compared++; r.compared > maxFiles {
		return nil, &failure.Error{Class: failure.ClassTooLarge, Detail: fmt.Sprintf("cannot compare with the deliveries of other claims: more than %d of their files may hold the same objects", maxFiles)}
	}
	if cached, ok := r.Names.objects.Get(id); ok {
		return cached, nil
	}
	if r.read++; r.read > MaxRead || !r.snapshot.HasRequestsLeft() {
		return nil, &IncompleteError{}
	}
	content, ok, err := r.ReadFile(ctx, r.snapshot, file)
	if concernsOneFile(err) {
		// No engine can read the file either. The next observation reads it again.
		r.Skipped(file, err)
		return nil, nil
	}
	if err != nil || !ok {
		return nil, err
	}
	all := policy.ObjectsIn(path.Base(file), content)
	r.Names.cacheFileObjects(r.namespace, id, all)
	return all, nil
}

// concernsOneFile is true for an error about one file, and not about the repository: an invalid file of one claim does not stop another claim.
func concernsOneFile(err error) bool {
	switch failure.ClassOf(err) {
	case failure.ClassInvalid, failure.ClassTooLarge, failure.ClassNotFound, failure.ClassUnknown:
		return true
	}
	return false
}

// staysInNamespace is true for a Site to which a claim delivers nothing but objects of its own namespace.
func staysInNamespace(s *catalogv1alpha1.Site) bool {
	return s != nil && s.Spec.TargetNamespaces.ClusterScoped != catalogv1alpha1.ClusterScopedAllow &&
		!slices.ContainsFunc(s.Spec.TargetNamespaces.Allowed, func(name string) bool { return name != "{claimNamespace}" })
}

// objectsByStem returns the objects in files, by the prefix of their file names.
func objectsByStem(files tree.Files) map[string][]policy.Object {
	out := map[string][]policy.Object{}
	for name, content := range files {
		for _, o := range policy.ObjectsIn(name, content) {
			stem := policy.StemOf(o.Kind, o.Name)
			out[stem] = append(out[stem], o)
		}
	}
	return out
}

// DescribeFor returns the claim that delivers the object, and the action for a tenant of a namespace.
func (o Overlap) DescribeFor(namespace string) string {
	switch {
	case o.IsOrphaned && o.Namespace == namespace:
		return "claim " + o.Namespace + "/" + o.Name + " delivered it there, was deleted, and left its directory. " +
			"Give the service another name, or remove that directory from the branch"
	case o.IsOrphaned:
		return "a claim of another namespace delivered it there, was deleted, and left its directory. " +
			"Give the service another name, or let an administrator remove that directory from the branch"
	case o.Namespace == namespace:
		return "claim " + o.Namespace + "/" + o.Name + " delivers it there already. Give the service another name, or remove it from the other claim"
	}
	return "a claim of another namespace delivers it there already. Give the service another name, or remove it from the other claim"
}
