package gitdelivery

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/tenantcache"
)

// Limits of the comparison with the objects of other claims.
const (
	// maxRead is the maximum number of files of other claims that one observation reads for one directory. The next observations read further files, and the
	// provider writes nothing until all are compared.
	maxRead = 64
	// maxFiles is the maximum number of files of other claims that are compared with one directory. The cache holds their objects several times.
	maxFiles = 10_000
	// maxCompared is the maximum number of entries of a Site's directories that one observation visits for one directory.
	maxCompared = 500_000
	// maxNamedBytes is the limit for the cached objects of files, and for the cached names of directories, of all namespaces together.
	maxNamedBytes = 16 << 20
	// textOverhead is the approximate memory of a text in a cache beside its bytes.
	textOverhead = 32
)

// An overlap is an object that another claim delivers to the same Site.
type overlap struct {
	object policy.Object
	// namespace and name of the other claim.
	namespace, name string
	// orphaned is true for a directory of this cluster that no GitDelivery delivers to any more.
	orphaned bool
}

// A comparingError reports an incomplete comparison: the next observation continues it.
type comparingError struct{}

// Error returns a message about the progress.
func (*comparingError) Error() string {
	return fmt.Sprintf("comparing with the deliveries of other claims to the Site: each observation reads %d of their files", maxRead)
}

// findOverlaps returns, by the path of each pending directory, its first object that another claim delivers to the same Site. The branch itself shows the
// objects of each claim: a Site's path has the directories of all claims, and each file is named after its object. So a file is read only if it may be the
// same object.
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
		c := comparison{external: e, snapshot: s.Open(), own: objectsByStem(files), claim: logged, namespace: claim.Namespace, site: path.Dir(path.Dir(t.Path)), without: map[string]bool{}}
		found, err := c.searchSite(ctx, t.Path, staysInNamespace(f.sites[t.Site]))
		if failure.ClassOf(err) == failure.ClassTooCostly {
			return nil, &comparingError{} // The objects of other claims reject no revision. The next observation uses the files that this observation read.
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

// hasLostDelivery reports whether a directory belongs to a claim of this cluster whose GitDelivery was deleted without its directories. It is false for an
// unreadable marker.
func (e *external) hasLostDelivery(ctx context.Context, f facts, s *git.Snapshot, dir string) (bool, error) {
	m, err := e.readMarkerAt(ctx, f, s, dir+"/"+tree.Marker)
	if err != nil || m == nil || m.ClusterUID != f.marker.ClusterUID {
		return false, nil //nolint:nilerr // Then the directory counts as a claim's directory.
	}
	parts, err := e.deliveriesOf(ctx, m.Claim)
	return err == nil && len(parts) == 0, err
}

// isClaimDirectory is true for a directory named by the claim's namespace and name.
func (f facts) isClaimDirectory(dir string) bool {
	c := f.spec.ClaimRef
	return path.Base(dir) == c.Name && path.Base(path.Dir(dir)) == c.Namespace
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

// A comparison looks for objects in the directories of other claims.
type comparison struct {
	*external

	snapshot *git.Snapshot
	own      map[string][]policy.Object
	// claim has the claim and revision as log values, and namespace is the namespace of the claim, which pays for cached values.
	claim     []any
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

// countEntries counts visited entries. It returns an error beyond maxCompared.
func (c *comparison) countEntries(n int) error {
	if c.entries += n; c.entries > maxCompared {
		return &failure.Error{Class: failure.ClassTooLarge, Detail: fmt.Sprintf("cannot compare with the deliveries of other claims: their directories have more than %d entries", maxCompared)}
	}
	return nil
}

// hasStemOf is true if an object of the claim may be in a file with the prefix.
func (c *comparison) hasStemOf(stems []string) bool {
	return slices.ContainsFunc(stems, func(stem string) bool { return len(c.own[stem]) > 0 })
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
func (c *comparison) searchSite(ctx context.Context, dir string, ownNamespaceOnly bool) (*overlap, error) {
	ownNamespace := path.Base(path.Dir(dir))
	if found, err := c.searchNamespace(ctx, ownNamespace, path.Base(dir)); found != nil || err != nil || ownNamespaceOnly {
		return found, err
	}
	return c.searchDirectories(ctx, c.site, ownNamespace, func(namespace, _ string) (*overlap, error) { return c.searchNamespace(ctx, namespace, "") })
}

// searchNamespace searches the directories of the claims of one namespace, except for one name.
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

// searchDirectories searches the directories in a parent directory, except for one name, and except for directories that hold none of the objects.
func (c *comparison) searchDirectories(ctx context.Context, dir, excluded string, search func(name, id string) (*overlap, error)) (*overlap, error) {
	entries, err := c.listDirectory(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		entry := entries[name]
		if name == excluded || entry.Mode != modeDirectory || c.without[entry.ID] {
			continue
		}
		if found, err := search(name, entry.ID); found != nil || err != nil {
			return found, err
		}
		c.without[entry.ID] = true
	}
	return nil, nil //nolint:nilnil // Nothing is an answer.
}

// searchClaim returns the first object that another claim's directory holds as well. A directory without a marker belongs to no claim. The content of an
// id never changes, so that a directory with cached prefixes of other names is not listed again: with 1,000 claims at a Site, each claim is compared with
// all others.
func (c *comparison) searchClaim(ctx context.Context, dir, id string) (*policy.Object, error) {
	if cached, ok := c.named.stems.Get(id); ok && !c.hasStemOf(cached) {
		return nil, c.countEntries(len(cached))
	}
	entries, err := c.listDirectory(ctx, dir)
	if _, marked := entries[tree.Marker]; err != nil || !marked {
		return nil, err
	}
	if entries, err = c.withTracks(ctx, dir, entries); err != nil {
		return nil, err
	}
	c.named.putStems(c.namespace, id, stemsOfEntries(entries))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		objects := c.own[policy.StemOfFile(path.Base(name))]
		if len(objects) == 0 || entries[name].Mode != modeFile {
			continue
		}
		theirs, err := c.objectsOfFile(ctx, dir+"/"+name, entries[name].ID)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			if slices.Contains(theirs, o) {
				return &o, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // Nothing is an answer.
}

// withTracks returns the entries of a claim's directory, and the entries in the folders of its tracks by their paths.
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

// objectsOfFile returns the objects of a file. The content of an id never changes, so it is read once. It returns a *comparingError if the observation has
// read maxRead files or used up its requests.
func (c *comparison) objectsOfFile(ctx context.Context, file, id string) ([]policy.Object, error) {
	if c.compared++; c.compared > maxFiles {
		return nil, &failure.Error{Class: failure.ClassTooLarge, Detail: fmt.Sprintf("cannot compare with the deliveries of other claims: more than %d of their files may hold the same objects", maxFiles)}
	}
	if cached, ok := c.named.objects.Get(id); ok {
		return cached, nil
	}
	if c.read++; c.read > maxRead || !c.snapshot.HasRequestsLeft() {
		return nil, &comparingError{}
	}
	content, ok, err := c.repo.ReadFile(ctx, c.snapshot, file)
	if concernsOneFile(err) {
		// No engine can read the file either. The next observation reads it again.
		c.logger.Info("Cannot compare with a file of another claim", append(slices.Clone(c.claim), "file", file, "error", err)...)
		return nil, nil
	}
	if err != nil || !ok {
		return nil, err
	}
	all := policy.ObjectsIn(path.Base(file), content)
	c.named.putObjects(c.namespace, id, all)
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

// namedObjects caches the objects of files and the file names of directories, by id: the content of an id never changes. The namespace with the most of them
// loses its own first. It is safe for concurrent use.
type namedObjects struct {
	// objects of files.
	objects *tenantcache.Cache[[]policy.Object]
	// stems are the prefixes of the names of entries in claims' directories.
	stems *tenantcache.Cache[[]string]
}

func newNamedObjects() *namedObjects {
	return &namedObjects{objects: tenantcache.New[[]policy.Object](maxNamedBytes), stems: tenantcache.New[[]string](maxNamedBytes)}
}

func (n *namedObjects) putStems(namespace, id string, stems []string) {
	size := 0
	for _, stem := range stems {
		size += len(stem) + textOverhead
	}
	n.stems.Put(namespace, id, stems, size)
}

func (n *namedObjects) putObjects(namespace, id string, all []policy.Object) {
	size := 0
	for _, o := range all {
		size += len(o.Group) + len(o.Kind) + len(o.Namespace) + len(o.Name) + 4*textOverhead
	}
	n.objects.Put(namespace, id, all, size)
}

// checkOverlaps refuses to write an object that another claim delivers to the same Site: an engine that builds all of the Site would stop for every claim
// of the Site. The earlier claim keeps the object. A tenant learns the names of its own namespace only.
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

// describeFor returns the claim that delivers the object, and the action for a tenant of a namespace.
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
