package gitdelivery

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"k8s.io/utils/lru"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
)

// Bounds of the comparison with what other claims deliver.
const (
	// maxRead is how many files of other claims one look reads for one directory. Where there are more, the next looks read on, and nothing is
	// written until all are compared.
	maxRead = 64
	// maxFiles is how many files of other claims are compared with one directory, of which a provider remembers twice as many.
	maxFiles = maxNamedObjects / 2
	// maxCompared is how many entries of directories of a Site one look goes through for one directory.
	maxCompared = 500_000
	// maxNamedObjects is how many files a provider remembers the objects of.
	maxNamedObjects = 20_000
)

// An overlap is an object that another claim delivers to the same Site.
type overlap struct {
	object policy.Object
	// namespace and name of the other claim.
	namespace, name string
	// orphaned is true for a directory of this cluster that no GitDelivery delivers to any more.
	orphaned bool
}

// A comparingError is a comparison that has not come to its end.
type comparingError struct{}

// Error says what goes on.
func (*comparingError) Error() string {
	return fmt.Sprintf("comparing with what other claims deliver to the Site: each look reads %d of their files", maxRead)
}

// findOverlaps returns the first object of each directory that is to be written which another claim delivers to the same Site, by the path of
// the directory. The branch itself says who delivers what: below a Site's path lie the directories of all claims, and each file is named
// after its object. So a file is read only if it may be the same object.
func (e *external) findOverlaps(ctx context.Context, f facts, s *git.Snapshot) (map[string]overlap, error) {
	out, claim := map[string]overlap{}, f.spec.ClaimRef
	logged := []any{"claim", claim.Namespace + "/" + claim.Name, "group", claim.APIGroup, "revision", f.spec.AskedPosition().Revision}
	for _, t := range f.spec.Trees {
		if t.Action == v1alpha1.ActionKeep || !f.isClaimDirectory(t.Path) {
			continue
		}
		files, id := f.markedFiles(t)
		if f.dirs[t.Path].tree == id {
			continue
		}
		c := comparison{external: e, snapshot: s.Open(), own: objectsByStem(files), claim: logged, site: path.Dir(path.Dir(t.Path)), without: map[string]bool{}}
		found, err := c.searchSite(ctx, t.Path, staysInNamespace(f.sites[t.Site]))
		if failure.ClassOf(err) == failure.ClassTooCostly {
			return nil, &comparingError{} // What others deliver rejects no revision. The next look knows what this one read.
		}
		if err != nil {
			return nil, err
		}
		if found == nil {
			continue
		}
		if found.orphaned, err = e.hasLostDelivery(ctx, f, s, c.site+"/"+found.namespace+"/"+found.name); err != nil {
			return nil, err
		}
		out[t.Path] = *found
	}
	return out, nil
}

// hasLostDelivery reports whether a directory belongs to a claim of this cluster that has lost its GitDelivery: one that was deleted without what it
// delivered. A marker that cannot be read says nothing.
func (e *external) hasLostDelivery(ctx context.Context, f facts, s *git.Snapshot, dir string) (bool, error) {
	m, err := e.readMarkerAt(ctx, f, s, dir+"/"+tree.Marker)
	if err != nil || m == nil || m.ClusterUID != f.marker.ClusterUID {
		return false, nil //nolint:nilerr // Then the directory is a claim's, as far as anybody knows.
	}
	parts, err := e.deliveriesOf(ctx, m.Claim)
	return err == nil && len(parts) == 0, err
}

// isClaimDirectory is true for a directory that lies where those of the claim lie.
func (f facts) isClaimDirectory(dir string) bool {
	c := f.spec.ClaimRef
	return path.Base(dir) == c.Name && path.Base(path.Dir(dir)) == c.Namespace
}

// staysInNamespace is true for a Site to which a claim delivers nothing but objects of its own namespace.
func staysInNamespace(s *catalogv1alpha1.Site) bool {
	return s != nil && s.Spec.TargetNamespaces.ClusterScoped != catalogv1alpha1.ClusterScopedAllow &&
		!slices.ContainsFunc(s.Spec.TargetNamespaces.Allowed, func(name string) bool { return name != "{claimNamespace}" })
}

// objectsByStem are the objects of files, by what the names of their files begin with.
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

// A comparison looks for objects in the directories of other claims.
type comparison struct {
	*external

	snapshot *git.Snapshot
	own      map[string][]policy.Object
	// claim says in the log which claim and revision it is about.
	claim []any
	// site is the path of the Site.
	site string
	// read files, and files that were compared, be they read now or before.
	read, compared int
	// without are the ids of directories that hold none of the objects. The same directory may be there under many names.
	without map[string]bool
	// entries that were gone through.
	entries int
}

// listDirectory lists a directory of the Site. It returns nothing for a path that no claim's directory has, and an error beyond the bound or when the
// context ends.
func (c *comparison) listDirectory(ctx context.Context, dir string) (map[string]git.Entry, error) {
	entries, err := c.snapshot.Entries(ctx, dir)
	if failure.ClassOf(err) == failure.ClassInvalid {
		return map[string]git.Entry{}, nil
	}
	if err != nil {
		return entries, err
	}
	return entries, c.countEntries(len(entries))
}

// countEntries counts entries that were gone through. It returns an error beyond the bound.
func (c *comparison) countEntries(n int) error {
	if c.entries += n; c.entries > maxCompared {
		return &failure.Error{Class: failure.ClassTooLarge, Detail: fmt.Sprintf("cannot compare with what other claims deliver: their directories have more than %d entries", maxCompared)}
	}
	return nil
}

// hasStemOf is true if one of our objects may be in a file whose name begins so.
func (c *comparison) hasStemOf(stems []string) bool {
	return slices.ContainsFunc(stems, func(stem string) bool { return len(c.own[stem]) > 0 })
}

// stemsOfEntries returns what the names of the entries of a directory begin with.
func stemsOfEntries(entries map[string]git.Entry) []string {
	out := make([]string, 0, len(entries))
	for name := range entries {
		out = append(out, policy.StemOfFile(path.Base(name)))
	}
	return out
}

// searchSite searches the Site's directories, those of the claim's own namespace first, and only those if nothing else can hold its objects.
func (c *comparison) searchSite(ctx context.Context, dir string, ownNamespaceOnly bool) (*overlap, error) {
	own := path.Base(path.Dir(dir))
	if found, err := c.searchNamespace(ctx, own, path.Base(dir)); found != nil || err != nil || ownNamespaceOnly {
		return found, err
	}
	return c.searchDirectories(ctx, c.site, own, func(namespace, _ string) (*overlap, error) { return c.searchNamespace(ctx, namespace, "") })
}

// searchNamespace searches the directories of the claims of one namespace, but for one of them.
func (c *comparison) searchNamespace(ctx context.Context, namespace, but string) (*overlap, error) {
	dir := c.site + "/" + namespace
	return c.searchDirectories(ctx, dir, but, func(name, id string) (*overlap, error) {
		o, err := c.searchClaim(ctx, dir+"/"+name, id)
		if o == nil || err != nil {
			return nil, err
		}
		return &overlap{object: *o, namespace: namespace, name: name}, nil
	})
}

// searchDirectories searches the directories in another one, but for one of them, and for those that are known to hold nothing.
func (c *comparison) searchDirectories(ctx context.Context, dir, but string, search func(name, id string) (*overlap, error)) (*overlap, error) {
	entries, err := c.listDirectory(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		at := entries[name]
		if name == but || at.Mode != modeDirectory || c.without[at.ID] {
			continue
		}
		if found, err := search(name, at.ID); found != nil || err != nil {
			return found, err
		}
		c.without[at.ID] = true
	}
	return nil, nil //nolint:nilnil // Nothing is an answer.
}

// searchClaim returns the first of our objects that a claim's directory holds too. A directory without a marker belongs to no claim. What its id
// holds never changes, so that a directory whose files are known to have other names is not listed again: with 1,000 claims at a Site each of them
// is compared with all others.
func (c *comparison) searchClaim(ctx context.Context, dir, id string) (*policy.Object, error) {
	if known, ok := c.named.stems.get(id); ok && !c.hasStemOf(known) {
		return nil, c.countEntries(len(known))
	}
	entries, err := c.listDirectory(ctx, dir)
	if _, marked := entries[tree.Marker]; err != nil || !marked {
		return nil, err
	}
	if entries, err = c.withTracks(ctx, dir, entries); err != nil {
		return nil, err
	}
	c.named.stems.cache.Add(id, stemsOfEntries(entries))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		own := c.own[policy.StemOfFile(path.Base(name))]
		if len(own) == 0 || entries[name].Mode != modeFile {
			continue
		}
		theirs, err := c.objectsOfFile(ctx, dir+"/"+name, entries[name].ID)
		if err != nil {
			return nil, err
		}
		for _, o := range own {
			if slices.Contains(theirs, o) {
				return &o, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // Nothing is an answer.
}

// withTracks returns the entries of a claim's directory, and those in the folders of its tracks by their paths.
func (c *comparison) withTracks(ctx context.Context, dir string, entries map[string]git.Entry) (map[string]git.Entry, error) {
	out := maps.Clone(entries)
	for _, folder := range append(track.Names(), track.FolderShared) {
		if entries[folder].Mode != modeDirectory {
			continue
		}
		inside, err := c.listDirectory(ctx, dir+"/"+folder)
		if err != nil {
			return nil, err
		}
		for name, entry := range inside {
			out[folder+"/"+name] = entry
		}
	}
	return out, nil
}

// objectsOfFile returns the objects of a file. What an id holds never changes, so it is read once. It returns a *comparingError if enough was read for one look.
func (c *comparison) objectsOfFile(ctx context.Context, file, id string) ([]policy.Object, error) {
	if c.compared++; c.compared > maxFiles {
		return nil, &failure.Error{Class: failure.ClassTooLarge, Detail: fmt.Sprintf("cannot compare with what other claims deliver: more than %d of their files may hold the same objects", maxFiles)}
	}
	if known, ok := c.named.objects.get(id); ok {
		return known, nil
	}
	if c.read++; c.read > maxRead || !c.snapshot.HasRequestsLeft() {
		return nil, &comparingError{}
	}
	content, ok, err := c.repo.ReadFile(ctx, c.snapshot, file)
	if concernsOneFile(err) {
		// No engine can read it either. It is read again by the next look.
		c.logger.Info("Cannot compare with a file of another claim", append(slices.Clone(c.claim), "file", file, "error", err)...)
		return nil, nil
	}
	if err != nil || !ok {
		return nil, err
	}
	all := policy.ObjectsIn(path.Base(file), content)
	c.named.objects.cache.Add(id, all)
	return all, nil
}

// concernsOneFile is true for an error that is about one file, and not about the repository: a claim is not stopped by what another one did.
func concernsOneFile(err error) bool {
	switch failure.ClassOf(err) {
	case failure.ClassInvalid, failure.ClassTooLarge, failure.ClassNotFound, failure.ClassUnknown:
		return true
	}
	return false
}

// namedObjects remembers what files and directories hold, by their ids: what an id holds never changes. It may be used by several goroutines.
type namedObjects struct {
	// objects of files.
	objects remembered[[]policy.Object]
	// stems are what the names of the entries of claims' directories begin with.
	stems remembered[[]string]
}

func newNamedObjects() *namedObjects {
	return &namedObjects{objects: remembered[[]policy.Object]{lru.New(maxNamedObjects)}, stems: remembered[[]string]{lru.New(maxNamedObjects)}}
}

// remembered are the values of ids that were used last.
type remembered[V any] struct{ cache *lru.Cache }

func (r remembered[V]) get(id string) (V, bool) {
	v, _ := r.cache.Get(id)
	out, ok := v.(V)
	return out, ok
}

// checkOverlaps refuses to write what another claim delivers to the same Site: an engine that builds all of the Site would stop for every
// claim of it. The claim that is there stays. A tenant learns the names of its own namespace only.
func checkOverlaps(f facts) *decision {
	c := f.spec.ClaimRef
	for _, t := range f.spec.Trees {
		o, ok := f.overlaps[t.Path]
		if !ok {
			continue
		}
		return refuse(v1alpha1.ReasonObjectConflict, "claim %s/%s may not deliver %s to Site %q: %s", c.Namespace, c.Name, o.object, t.Site, o.describeFor(c.Namespace))
	}
	return nil
}

// describeFor says which claim delivers the object, and what a tenant of a namespace can do.
func (o overlap) describeFor(namespace string) string {
	switch {
	case o.orphaned && o.namespace == namespace:
		return "claim " + o.namespace + "/" + o.name + " delivered it there, was deleted, and left its directory. " +
			"Give the service another name, or remove that directory from the branch"
	case o.orphaned:
		return "a claim of another namespace delivered it there, was deleted, and left its directory. " +
			"Give the service another name, or let an administrator remove that directory from the branch"
	case o.namespace == namespace:
		return "claim " + o.namespace + "/" + o.name + " delivers it there already. Give the service another name, or remove it from the other claim"
	}
	return "a claim of another namespace delivers it there already. Give the service another name, or remove it from the other claim"
}
