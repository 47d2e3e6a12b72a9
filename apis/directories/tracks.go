// Package directories composes the trees of directories in tracks: which folders a directory has, how they share the requests, and the traffic that a Site has to
// prove. It is pure. The function and the provider compose by it.
package directories

import (
	"fmt"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/memo"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// A Tracker composes the trees of directories in tracks. It caches composed trees. It may be used by several goroutines.
type Tracker struct {
	composed *memo.Memo[trackedFiles]
	alone    *memo.Memo[ledger.SiteTree]
}

// NewTracker returns a Tracker that remembers up to about maxBytes.
func NewTracker(maxBytes int) *Tracker {
	return &Tracker{composed: memo.New[trackedFiles](maxBytes), alone: memo.New[ledger.SiteTree](maxBytes / 8)} //nolint:mnd // An id is small.
}

// composedBytes is the approximate memory of a composed tree in addition to its files.
const composedBytes = 600

// A Directory is the input for composing the tree of one Site.
type Directory struct {
	// Aim of the directory.
	Aim step.Aim

	// Own is the tree with the files of the revision: the shared files, and the files of its track. Without files they are not known.
	Own deliveryv1alpha1.Tree

	// Asked is the last requested tree of the directory, from which shared files are taken.
	Asked deliveryv1alpha1.Tree

	// IsAskedInPosition is true if Asked is of the recorded position that the directory is composed for. Else it may never come to it.
	IsAskedInPosition bool

	// IsAskedAgain is true if Asked is of the position that the directory is composed for, whether that is recorded or not.
	IsAskedAgain bool

	// Held is the last reported tree of the directory.
	Held deliveryv1alpha1.DeliveredTree

	// Track of the revision, and its number.
	Track    string
	Revision int64

	// IsPlainLabelled is true if the pods of a revision without tracks, beside which the directory has a track, have a label of their own.
	IsPlainLabelled bool

	// FolderOf returns the id of the folder of a past revision at full size. It is empty where that is not known.
	FolderOf func(revision int64) string
}

// A TrackedTree is the tree of a directory in tracks.
type TrackedTree struct {
	deliveryv1alpha1.Tree

	// Folder is the id of the folder of the revision's track. Empty if the tree does not carry its files.
	Folder string
}

// folderOfTrack returns the id of the folder of a track, or "" if that is not known.
func (t TrackedTree) folderOfTrack(name string) string {
	for _, p := range t.Parts {
		if p.Path == name {
			return p.Tree
		}
	}
	return t.Folder
}

// A folder is that of a track in a directory to compose.
type folder struct {
	deliveryv1alpha1.TreeTrack

	// part is the id of the folder. Empty means that the tree carries its files.
	part string
}

// Compose returns the tree that brings a directory to its aim. Where that cannot be composed, since no object holds the files, the directory stays as it
// is. It returns an error for files without the folders of a directory with tracks.
func (c *Tracker) Compose(d Directory) (TrackedTree, error) {
	retained := TrackedTree{Tree: Retain(d.Own)}
	if len(d.Held.Tracks) == 0 {
		retained = KeepTracked(d) // Of a directory without tracks all files are needed once a track comes beside.
	}
	if d.Aim.Keeps || d.Aim.IsUnknown {
		return retained, nil
	}
	folders := d.foldersAtAim()
	switch {
	case len(folders) == 0, !d.hasSharedFiles():
		return retained, nil
	case len(folders) == 1 && folders[0].Name == track.Plain:
		return d.treeWithoutTracks(retained), nil
	}
	out, err := c.composeFolders(d, folders)
	if err != nil {
		return retained, errors.Wrapf(err, "Site %s", d.Own.Site)
	}
	return out, nil
}

// TreeBefore returns the tree that a directory has to have so that another one takes its place: its reported tree. It stays unchanged once the directory has the
// other one, so that the object does not change again.
func (d Directory) TreeBefore(current deliveryv1alpha1.Tree) string {
	isSame := d.IsAskedAgain && d.Asked.Action == current.Action && d.Asked.Tree == current.Tree
	switch {
	case current.Action == deliveryv1alpha1.ActionKeep:
		return ""
	case isSame && d.Held.Tree == current.Tree:
		return d.Asked.After
	}
	return d.Held.Tree
}

// composeFolders returns the tree of a directory with folders.
func (c *Tracker) composeFolders(d Directory, folders []folder) (TrackedTree, error) {
	files, err := c.filesOfFolders(d, folders)
	if err != nil {
		return TrackedTree{}, err
	}
	out := TrackedTree{Tree: d.Own, Folder: files.folder}
	out.Action, out.Tree.Tree, out.Files = deliveryv1alpha1.ActionDesired, files.id, files.encoded
	out.Parts, out.Tracks = nil, nil
	for _, f := range folders {
		out.Tracks = append(out.Tracks, f.TreeTrack)
		if f.part != "" {
			out.Parts = append(out.Parts, deliveryv1alpha1.TreePart{Path: f.Name, Tree: f.part, Revision: f.Revision})
		}
	}
	return out, nil
}

// treeWithoutTracks returns the tree of a revision without tracks that is alone in a directory, if that is its aim.
func (d Directory) treeWithoutTracks(retained TrackedTree) TrackedTree {
	if !d.bringsOwnFiles() || !d.hasOwnFiles() {
		return retained
	}
	out := TrackedTree{Tree: d.Own}
	out.Action, out.Parts, out.Tracks = deliveryv1alpha1.ActionDesired, nil, nil
	return out
}

// foldersAtAim returns the folders of the directory at its aim, sorted by the names of their tracks, or none if one of them is in no object.
func (d Directory) foldersAtAim() []folder {
	all := map[string]folder{}
	for _, t := range d.Held.Tracks {
		all[t.Name] = folder{TreeTrack: deliveryv1alpha1.TreeTrack{Name: t.Name, Revision: t.Revision, Weight: t.Weight}, part: t.Tree}
	}
	for name, revision := range d.Aim.Put {
		f, ok := d.putRevision(all[name], name, revision)
		if !ok {
			return nil
		}
		all[name] = f
	}
	maps.DeleteFunc(all, func(name string, _ folder) bool { return d.removesTrack(name) })
	if d.Aim.Serving == "" {
		d.retainWeights(all)
	}
	if d.Aim.Serving != "" && !d.weighFolders(all) {
		return nil
	}
	var out []folder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[name])
	}
	return out
}

// removesTrack is true for a track that the directory does not have at its aim: there are never more than two.
func (d Directory) removesTrack(name string) bool {
	if d.Aim.IsAlone {
		return name != d.Aim.Serving
	}
	_, isPut := d.Aim.Put[name]
	return len(d.Aim.Put) > 1 && !isPut
}

// putRevision returns the folder of a revision in a track, in the place of the previous folder.
func (d Directory) putRevision(previous folder, name string, revision int64) (folder, bool) {
	f := folder{TreeTrack: deliveryv1alpha1.TreeTrack{Name: name, Revision: revision, Weight: previous.Weight}}
	if name == d.Track && revision == d.Revision {
		return f, d.hasOwnFiles()
	}
	if f.part = d.FolderOf(revision); f.part == "" && previous.Revision == revision {
		f.part = previous.part
	}
	return f, f.part != "" || name == track.Plain && d.hasPlainFiles(revision)
}

// retainWeights leaves the requests where the directory was asked to have them in the same position, if it was asked for the same folders: the repository may
// have brought them there since it reported.
func (d Directory) retainWeights(all map[string]folder) {
	if !d.IsAskedInPosition || len(d.Asked.Tracks) != len(all) {
		return
	}
	for _, t := range d.Asked.Tracks {
		if all[t.Name].Revision != t.Revision {
			return
		}
	}
	for _, t := range d.Asked.Tracks {
		f := all[t.Name]
		f.Weight = t.Weight
		all[t.Name] = f
	}
}

// weighFolders gives the tracks their shares of the requests. It returns false if the track that is to serve is not there.
func (d Directory) weighFolders(all map[string]folder) bool {
	_, serves := all[d.Aim.Serving]
	for name, f := range all {
		f.Weight = d.Aim.Weight
		if name == d.Aim.Serving {
			f.Weight = 100 - d.Aim.Weight
		}
		all[name] = f
	}
	return serves
}

// hasOwnFiles is true if the files of the revision's track are known.
func (d Directory) hasOwnFiles() bool {
	isPart := func(p deliveryv1alpha1.TreePart) bool { return p.Path == d.Track }
	return len(d.Own.Files) > 0 && !slices.ContainsFunc(d.Own.Parts, isPart)
}

// hasPlainFiles is true if the directory has no tracks, and its files are known: it was asked for with them, or is asked for with a track beside them, which the
// repository does not have yet.
func (d Directory) hasPlainFiles(revision int64) bool {
	a := d.Asked
	if len(d.Held.Tracks) > 0 || a.Action != deliveryv1alpha1.ActionDesired || len(a.Files) == 0 {
		return false
	}
	return len(a.Tracks) == 0 && a.Tree == d.Held.Tree || CarriesTrack(a, track.Plain, revision)
}

// CarriesTrack is true for a tree with the files of a revision in a track.
func CarriesTrack(t deliveryv1alpha1.Tree, name string, revision int64) bool {
	isTrack := func(current deliveryv1alpha1.TreeTrack) bool {
		return current.Name == name && current.Revision == revision
	}
	isPart := func(p deliveryv1alpha1.TreePart) bool { return p.Path == name }
	return len(t.Files) > 0 && slices.ContainsFunc(t.Tracks, isTrack) && !slices.ContainsFunc(t.Parts, isPart)
}

// hasSharedFiles is true if the files that the tracks share are known. The files of a revision without tracks share nothing.
func (d Directory) hasSharedFiles() bool {
	if d.Track == track.Plain && !d.Aim.IsAlone {
		return carriesSharedFiles(d.Asked)
	}
	return len(d.Own.Files) > 0 || len(d.Asked.Files) > 0
}

// bringsOwnFiles is true if the directory gets the files of the revision.
func (d Directory) bringsOwnFiles() bool { return d.Aim.Put[d.Track] == d.Revision }

// stateOfFolders returns the state that the files of a directory with folders have, of which one serves.
func (d Directory) stateOfFolders(folders []folder, serving string) track.State {
	if len(folders) == 1 {
		return track.State{Serving: folders[0].Name, Alone: true}
	}
	s := track.State{Serving: serving, IsLabelled: d.IsPlainLabelled}
	for _, f := range folders {
		if f.Name != s.Serving {
			s.Other, s.Weight = f.Name, int(f.Weight)
		}
	}
	s.Ahead = s.Weight
	if d.Aim.Ahead != nil {
		s.Ahead = max(s.Weight, int(*d.Aim.Ahead))
	}
	return s
}

// servingFolders returns the folders that may serve, the folder of the aim first: where the weights stay and a folder comes, the other folder. Where no pods change, a
// directory may name both in either order.
func (d Directory) servingFolders(folders []folder) []string {
	if len(folders) == 1 || d.bringsOwnFiles() {
		return []string{d.Aim.Serving}
	}
	var out []string
	for _, f := range folders {
		_, comes := d.Aim.Put[f.Name]
		if f.Name == d.Aim.Serving || d.Aim.Serving == "" && !comes {
			out = append([]string{f.Name}, out...)
			continue
		}
		out = append(out, f.Name)
	}
	return out
}

// Alone returns the tree in which the revision is alone in a directory, and the folder of its track. It returns false if its files are not known.
func (c *Tracker) Alone(d Directory) (ledger.SiteTree, bool) {
	if !d.hasOwnFiles() {
		return ledger.SiteTree{}, false
	}
	if d.Track == track.Plain {
		return ledger.SiteTree{Site: d.Own.Site, ID: d.Own.Tree}, true
	}
	key := memo.KeyOf(fmt.Sprintf("%s %s %v %s", d.Own.Site, d.Own.Tree, d.Own.Parts, d.Track))
	if cached, ok := c.alone.Get(key); ok {
		return cached, true
	}
	files, err := tree.Decode(d.Own.Files)
	if err == nil {
		files, err = track.At(withoutOthers(files, d.Track), track.State{Serving: d.Track, Alone: true})
	}
	if err != nil {
		return ledger.SiteTree{}, false
	}
	out := ledger.SiteTree{Site: d.Own.Site, ID: tree.ID(files), Part: track.FolderID(files, d.Track)}
	c.alone.Put(key, out, composedBytes)
	return out, true
}

// KeepTracked returns the tree that leaves a directory as it is. If the directory holds the requested tree, that is requested again. The object
// keeps the files of a directory in tracks in either case, since later stages need the shared files.
func KeepTracked(d Directory) TrackedTree {
	t := d.Asked
	if t.Action == deliveryv1alpha1.ActionDesired && t.Tree != "" && t.Tree == d.Held.Tree {
		return TrackedTree{Tree: t}
	}
	out := Retain(d.Own)
	if carriesSharedFiles(t) {
		out.Files, out.Encoding = t.Files, t.Encoding
	}
	return TrackedTree{Tree: out}
}

// Retain returns a directory that stays as it is.
func Retain(t deliveryv1alpha1.Tree) deliveryv1alpha1.Tree {
	t.Action, t.Tree, t.Files, t.Parts, t.Tracks = deliveryv1alpha1.ActionKeep, "", nil, nil, nil
	return t
}

// carriesSharedFiles is true for a tree that carries the shared files of the tracks of a directory. A tree that stays carries no other files.
func carriesSharedFiles(t deliveryv1alpha1.Tree) bool {
	return len(t.Files) > 0 && (len(t.Tracks) > 0 || t.Action == deliveryv1alpha1.ActionKeep)
}

// RestoreTracked returns the tree that restores the directory of a past revision, in which its track is alone. Where that has the shared files of the last
// requested tree, it is requested with these: the object keeps the files, which the stages of the next rollback need.
func (c *Tracker) RestoreTracked(d Directory, t ledger.SiteTree, p ledger.Past) TrackedTree {
	if p.Track != "" && t.Part != "" && len(d.Asked.Files) > 0 {
		d.Own.Files, d.Aim = nil, step.Aim{Serving: p.Track, IsAlone: true}
		alone := folder{TreeTrack: deliveryv1alpha1.TreeTrack{Name: p.Track, Revision: p.Number, Weight: 100}, part: t.Part} //nolint:mnd // All requests, in percent.
		if out, err := c.composeFolders(d, []folder{alone}); err == nil && out.Tree.Tree == t.ID {
			return out
		}
	}
	out := TrackedTree{Tree: d.Own}
	out.Action, out.Tree.Tree, out.Files, out.Parts, out.Tracks = deliveryv1alpha1.ActionRestore, t.ID, nil, nil, nil
	if !ledger.IsPlain(p.Track) {
		out.Folder = t.Part
		out.Tracks = []deliveryv1alpha1.TreeTrack{{Name: p.Track, Revision: p.Number, Weight: 100}}
	}
	return out
}
