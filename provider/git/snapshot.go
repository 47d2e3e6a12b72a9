package git

import (
	"maps"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"

	"github.com/intentplane/intentplane/provider/signature"
)

// minGarbage is how many objects, and minGarbageBytes how much, may lie about
// before anybody looks for them.
const (
	minGarbage      = 256
	minGarbageBytes = 1 << 20
)

// A Snapshot is what a remote held at one moment. It never changes, and is
// safe for concurrent use.
type Snapshot struct {
	target string
	empty  bool
	branch View
	state  View
	// seen is the tip of the branch at the remote, on which a draft may have more.
	seen plumbing.Hash
	// history is what is known of the branch's past.
	history *History
	// signer of what follows. Nil leaves it unsigned.
	signer *signature.Signer
	// noted are refs that the client was to note.
	watched map[string]plumbing.Hash
	// rival is the ref of a state that does not count.
	rival string
	// pending are files of the state that a draft will commit. Nil removes one.
	pending map[string][]byte
	// keeping are the trees that it will hold on to.
	keeping map[string]Trees
}

// A View is one commit and the objects below it that are known. What hangs on
// an object that is known is known too, but for files that were left out.
type View struct {
	Commit  plumbing.Hash
	Tree    plumbing.Hash
	objects *Layer[Object]
	// forged says why nothing of it counts. Empty if it does.
	forged string
	// retired is true for a state that names another ref whose state counts.
	retired bool
	// live is how many objects there were when all of them were in use, and liveBytes what they took.
	live, liveBytes int
	// bytes that the objects take, by and large.
	bytes int
}

func sizeOfObjects(objects map[plumbing.Hash]Object) int {
	const overhead = 128 // Of a map, a name, a header of a slice.
	size := 0
	for _, o := range objects {
		size += len(o.Data) + overhead
	}
	return size
}

// An Entry is what stands under a name in a directory.
type Entry struct {
	// Mode is Git's: 100644 a file, 100755 an executable file, 120000 a
	// symbolic link, 160000 a submodule, 40000 a directory.
	Mode string
	// ID of the object.
	ID string
}

// Tip returns the commit of the branch, or nothing if there is no branch.
func (s *Snapshot) Tip() string { return hexOrEmpty(s.branch.Commit) }

// StateTip returns the commit of the state ref, or nothing if there is none.
func (s *Snapshot) StateTip() string { return hexOrEmpty(s.state.Commit) }

// Empty reports whether the repository has no branch at all. Such a repository
// is new, and its first branch may be made; where other branches exist, a
// missing one is somebody's mistake.
func (s *Snapshot) Empty() bool { return s.empty }

// Size returns how many bytes the snapshot takes, by and large.
func (s *Snapshot) Size() int { return s.branch.bytes + s.state.bytes }

// Contains reports whether a commit is in the branch, and whether that is known
// without asking the server.
func (s *Snapshot) Contains(commit string) (is, known bool) {
	if !plumbing.IsHash(commit) || s.seen.IsZero() {
		return false, true
	}
	id := plumbing.NewHash(commit)
	if id == s.branch.Commit {
		return true, true
	}
	return s.history.Has(id)
}

// Subtree returns the tree id of a directory of the branch, or nothing if
// there is none. It returns an error if the path is refused.
func (s *Snapshot) Subtree(path string) (string, error) {
	e, ok, err := s.branch.Find(path)
	if err != nil || !ok || !e.IsDir() {
		return "", err
	}
	return e.ID.String(), nil
}

// Entry returns what stands at a path of the branch. It returns an error if
// the path is refused.
func (s *Snapshot) Entry(path string) (Entry, bool, error) {
	e, ok, err := s.branch.Find(path)
	return Entry{Mode: e.Mode, ID: e.ID.String()}, ok, err
}

// Entries returns what stands in a directory of the branch, by name; nothing
// if there is no directory. It returns an error if the path is refused.
func (s *Snapshot) Entries(path string) (map[string]Entry, error) {
	return s.branch.List(path)
}

// StateEntries returns what stands in a directory of the state, by name. The
// empty path is its root. It returns an error if the path is refused.
func (s *Snapshot) StateEntries(path string) (map[string]Entry, error) {
	return s.state.List(path)
}

// StateFile returns a file of the state, and whether there is one. It returns
// an error if the path is refused.
func (s *Snapshot) StateFile(path string) ([]byte, bool, error) {
	if data, ok := s.pending[path]; ok {
		return data, data != nil, nil
	}
	e, ok, err := s.state.Find(path)
	if err != nil || !ok || e.IsDir() {
		return nil, false, err
	}
	data, err := s.state.Read(plumbing.BlobObject, e.ID)
	return data, err == nil, err
}

func hexOrEmpty(h plumbing.Hash) string {
	if h.IsZero() {
		return ""
	}
	return h.String()
}

func (v View) Read(kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	o, ok := v.objects.Get(id)
	if !ok || o.Kind != kind {
		return nil, Newf(ClassUnknown, "cannot read %s %s: the server did not send it", kind, id)
	}
	return o.Data, nil
}

func (v View) Entries(id plumbing.Hash) ([]TreeEntry, error) {
	if id.IsZero() {
		return nil, nil
	}
	data, err := v.Read(plumbing.TreeObject, id)
	if err != nil {
		return nil, err
	}
	return ParseTree(data)
}

func (v View) Find(path string) (TreeEntry, bool, error) {
	if err := CheckPath(path); err != nil {
		return TreeEntry{}, false, &Error{Class: ClassInvalid, Detail: err.Error()}
	}
	at := TreeEntry{Mode: ModeTree, ID: v.Tree}
	for name := range strings.SplitSeq(path, "/") {
		if !at.IsDir() {
			return TreeEntry{}, false, nil
		}
		entries, err := v.Entries(at.ID)
		if err != nil {
			return TreeEntry{}, false, err
		}
		next, ok := FindEntry(entries, name)
		if !ok {
			return TreeEntry{}, false, nil
		}
		at = next
	}
	return at, true, nil
}

func (v View) List(path string) (map[string]Entry, error) {
	id := v.Tree
	if path != "" {
		e, ok, err := v.Find(path)
		if err != nil || !ok || !e.IsDir() {
			return nil, err
		}
		id = e.ID
	}
	entries, err := v.Entries(id)
	out := make(map[string]Entry, len(entries))
	for _, e := range entries {
		out[e.Name] = Entry{Mode: e.Mode, ID: e.ID.String()}
	}
	return out, err
}

// withCommit returns the view after a commit that adds objects.
func (v View) withCommit(commit Object, added []Object) (View, error) {
	own := make(map[plumbing.Hash]Object, len(added)+1)
	for _, o := range append(added, commit) {
		if !o.SendOnly {
			own[o.ID] = o
		}
	}
	next := View{Commit: commit.ID, bytes: v.bytes + sizeOfObjects(own), live: v.live, liveBytes: v.liveBytes}
	next.objects = v.objects.With(own)
	var err error
	if next.Tree, err = CommitTree(commit.Data); err != nil {
		return View{}, err
	}
	// Each delivery leaves the trees behind that it replaced. To look for them
	// each time costs more than they take.
	if next.objects.Len() < 2*next.live+minGarbage && next.bytes < next.liveBytes+next.liveBytes/2+minGarbageBytes {
		return next, nil
	}
	return next.compactView(everything)
}

// compactView drops what does not hang on the commit, and what the filter leaves out.
func (v View) compactView(filter packp.Filter) (View, error) {
	own := map[plumbing.Hash]Object{}
	if commit, ok := v.objects.Get(v.Commit); ok {
		own[v.Commit] = commit
	}
	if err := v.addReachable(own, v.Tree); err != nil {
		return View{}, err
	}
	if filter == withoutBlobs {
		maps.DeleteFunc(own, func(_ plumbing.Hash, o Object) bool { return o.Kind == plumbing.BlobObject })
	}
	objects := (*Layer[Object])(nil).With(own)
	size := sizeOfObjects(own)
	return View{Commit: v.Commit, Tree: v.Tree, objects: objects, forged: v.forged, retired: v.retired, live: objects.Len(), bytes: size, liveBytes: size}, nil
}

// addReachable what hangs on an object. Trees may lie in each other as deep as somebody likes, so nothing here calls itself.
func (v View) addReachable(own map[plumbing.Hash]Object, id plumbing.Hash) error {
	for next := []plumbing.Hash{id}; len(next) > 0; {
		id, next = next[len(next)-1], next[:len(next)-1]
		o, ok := v.objects.Get(id)
		if _, done := own[id]; done || !ok {
			continue // What is not there is a file that was not fetched, or a submodule.
		}
		own[id] = o
		if o.Kind != plumbing.TreeObject {
			continue
		}
		entries, err := ParseTree(o.Data)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if _, done := own[e.ID]; !done {
				next = append(next, e.ID)
			}
		}
	}
	return nil
}

// tidyViews drops what deliveries left behind: trees that were replaced, and files of
// the branch, which the server has by now.
func (s *Snapshot) tidyViews() *Snapshot {
	if s.branch.IsTidy() && s.state.IsTidy() {
		return s
	}
	next := *s
	next.branch, next.state = s.branch.Tidy(withoutBlobs), s.state.Tidy(everything)
	return &next
}

func (v View) IsTidy() bool { return v.objects.Len() == v.live }

func (v View) Tidy(filter packp.Filter) View {
	if v.IsTidy() {
		return v
	}
	next, err := v.compactView(filter)
	if err != nil {
		return v // It is as good as it was.
	}
	return next
}

// TreeWithout returns the id that a directory of the branch has without one of its
// entries, whether that is there or not; nothing if there is no directory. It
// returns an error if the path is refused.
func (s *Snapshot) TreeWithout(path, entry string) (string, error) {
	return (&Commit{view: s.branch}).Subtree(path, entry)
}
