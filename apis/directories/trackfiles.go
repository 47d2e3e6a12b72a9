package directories

import (
	"fmt"
	"slices"

	"github.com/intentplane/intentplane/apis/memo"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// trackedFiles are the encoded files of a directory in a state, with the ids of their tree and of the folder of the track.
type trackedFiles struct {
	id      string
	encoded []byte
	folder  string
}

// filesOfFolders returns the files of a directory with folders. A directory that already has these folders and weights keeps its files.
func (c *Tracker) filesOfFolders(d Directory, folders []folder) (trackedFiles, error) {
	var first trackedFiles
	for i, serving := range d.servingFolders(folders) {
		out, err := c.filesInState(d, folders, d.stateOfFolders(folders, serving))
		if err != nil || out.id == d.Held.Tree {
			return out, err
		}
		if i == 0 {
			first = out
		}
	}
	return first, nil
}

// filesInState returns the files of a directory with folders in a state.
func (c *Tracker) filesInState(d Directory, folders []folder, s track.State) (trackedFiles, error) {
	parts := map[string]string{}
	for _, f := range folders {
		if f.part != "" {
			parts[f.Name] = f.part
		}
	}
	key := d.filesCacheKey(s, parts)
	if cached, ok := c.composed.Get(key); ok {
		return cached, nil
	}
	out, err := d.computeFiles(s, parts)
	if err == nil {
		c.composed.Put(key, out, len(out.encoded)+composedBytes)
	}
	return out, err
}

// filesCacheKey returns the key of the files of a directory in the cache. A requested tree without an id is of a directory that stays: the key has the digest of its files.
func (d Directory) filesCacheKey(s track.State, parts map[string]string) memo.Key {
	requested := d.Asked.Tree
	if requested == "" {
		requested = fmt.Sprintf("%x", memo.KeyOf(string(d.Asked.Files)))
	}
	return memo.KeyOf(fmt.Sprintf("%s %v %s %v %t %v %v %s", d.Own.Tree, d.Own.Parts, requested, d.Asked.Parts, d.bringsOwnFiles(), s, parts, d.Track))
}

func (d Directory) computeFiles(s track.State, parts map[string]string) (trackedFiles, error) {
	files, err := d.sourceFiles(s, parts[track.Plain] != "")
	if err != nil {
		return trackedFiles{}, err
	}
	if files, err = track.At(files, s); err != nil {
		return trackedFiles{}, err
	}
	out := trackedFiles{}
	if out.id, err = tree.GraftedID(files, parts); err != nil {
		return out, err
	}
	if d.bringsOwnFiles() {
		out.folder = track.FolderID(files, d.Track)
	}
	out.encoded, err = tree.Encode(files)
	return out, err
}

// sourceFiles returns the files that the tree carries, in any state: the files of the revision, and shared files that leave with the other track, or only
// the shared files that the directory has. Files without tracks are among them unless their folder is a part.
func (d Directory) sourceFiles(s track.State, isPlainPart bool) (tree.Files, error) {
	ownFiles, err := tree.Decode(d.Own.Files)
	if err != nil && len(d.Own.Files) > 0 {
		return nil, err
	}
	requested, err := tree.Decode(d.Asked.Files)
	if err != nil && len(d.Asked.Files) > 0 {
		return nil, err
	}
	shared := track.WithoutFolders(requested, track.Names()...)
	switch {
	case d.bringsOwnFiles() && d.Track == track.Plain:
		return track.Join(shared, ownFiles, track.Plain)
	case d.bringsOwnFiles() && (s.Alone || len(requested) == 0):
		return withoutOthers(ownFiles, d.Track), nil
	case d.bringsOwnFiles() && track.IsFlat(requested):
		return track.Join(withoutOthers(ownFiles, d.Track), requested, d.Track)
	case d.bringsOwnFiles() && isPlainPart:
		return track.Retain(withoutOthers(ownFiles, d.Track), requested)
	case d.bringsOwnFiles():
		return track.Retain(track.WithPlain(withoutOthers(ownFiles, d.Track), requested), requested)
	case len(requested) > 0:
		return shared, nil
	}
	return track.WithoutFolders(ownFiles, track.Names()...), nil
}

// withoutOthers returns the files of a directory without the folders of other tracks.
func withoutOthers(files tree.Files, name string) tree.Files {
	return track.WithoutFolders(files, slices.DeleteFunc(track.Names(), func(t string) bool { return t == name })...)
}
