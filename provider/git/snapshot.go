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
	branch view
	state  view
	// seen is the tip of the branch at the remote, on which a draft may have more.
	seen plumbing.Hash
	// history is what is known of the branch's past.
	history *history
	// signer of what follows. Nil leaves it unsigned.
	signer *signature.Signer
	// noted are refs that the client was to note.
	noted map[string]plumbing.Hash
	// rival is the ref of a state that does not count.
	rival string
	// pending are files of the state that a draft will commit. Nil removes one.
	pending map[string][]byte
	// keeping are the trees that it will hold on to.
	keeping map[string]Trees
}

// A view is one commit and the objects below it that are known. What hangs on
// an object that is known is known too, but for files that were left out.
type view struct {
	commit  plumbing.Hash
	tree    plumbing.Hash
	objects *layer[object]
	// forged says why nothing of it counts. Empty if it does.
	forged string
	// retired is true for a state that names another ref whose state counts.
	retired bool
	// live is how many objects there were when all of them were in use, and liveBytes what they took.
	live, liveBytes int
	// bytes that the objects take, by and large.
	bytes int
}

func sizeOf(objects map[plumbing.Hash]object) int {
	const overhead = 128 // Of a map, a name, a header of a slice.
	size := 0
	for _, o := range objects {
		size += len(o.data) + overhead
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
func (s *Snapshot) Tip() string { return hexOrNone(s.branch.commit) }

// StateTip returns the commit of the state ref, or nothing if there is none.
func (s *Snapshot) StateTip() string { return hexOrNone(s.state.commit) }

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
	if id == s.branch.commit {
		return true, true
	}
	return s.history.has(id)
}

// Subtree returns the tree id of a directory of the branch, or nothing if
// there is none. It returns an error if the path is refused.
func (s *Snapshot) Subtree(path string) (string, error) {
	e, ok, err := s.branch.find(path)
	if err != nil || !ok || !e.isDir() {
		return "", err
	}
	return e.id.String(), nil
}

// Entry returns what stands at a path of the branch. It returns an error if
// the path is refused.
func (s *Snapshot) Entry(path string) (Entry, bool, error) {
	e, ok, err := s.branch.find(path)
	return Entry{Mode: e.mode, ID: e.id.String()}, ok, err
}

// Entries returns what stands in a directory of the branch, by name; nothing
// if there is no directory. It returns an error if the path is refused.
func (s *Snapshot) Entries(path string) (map[string]Entry, error) {
	return s.branch.list(path)
}

// StateEntries returns what stands in a directory of the state, by name. The
// empty path is its root. It returns an error if the path is refused.
func (s *Snapshot) StateEntries(path string) (map[string]Entry, error) {
	return s.state.list(path)
}

// StateFile returns a file of the state, and whether there is one. It returns
// an error if the path is refused.
func (s *Snapshot) StateFile(path string) ([]byte, bool, error) {
	if data, ok := s.pending[path]; ok {
		return data, data != nil, nil
	}
	e, ok, err := s.state.find(path)
	if err != nil || !ok || e.isDir() {
		return nil, false, err
	}
	data, err := s.state.read(plumbing.BlobObject, e.id)
	return data, err == nil, err
}

func hexOrNone(h plumbing.Hash) string {
	if h.IsZero() {
		return ""
	}
	return h.String()
}

func (v view) read(kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	o, ok := v.objects.get(id)
	if !ok || o.kind != kind {
		return nil, failf(ClassUnknown, "cannot read %s %s: the server did not send it", kind, id)
	}
	return o.data, nil
}

func (v view) entries(id plumbing.Hash) ([]entry, error) {
	if id.IsZero() {
		return nil, nil
	}
	data, err := v.read(plumbing.TreeObject, id)
	if err != nil {
		return nil, err
	}
	return parseTree(data)
}

func (v view) find(path string) (entry, bool, error) {
	if err := CheckPath(path); err != nil {
		return entry{}, false, &Error{Class: ClassInvalid, Detail: err.Error()}
	}
	at := entry{mode: modeTree, id: v.tree}
	for name := range strings.SplitSeq(path, "/") {
		if !at.isDir() {
			return entry{}, false, nil
		}
		entries, err := v.entries(at.id)
		if err != nil {
			return entry{}, false, err
		}
		next, ok := findEntry(entries, name)
		if !ok {
			return entry{}, false, nil
		}
		at = next
	}
	return at, true, nil
}

func (v view) list(path string) (map[string]Entry, error) {
	id := v.tree
	if path != "" {
		e, ok, err := v.find(path)
		if err != nil || !ok || !e.isDir() {
			return nil, err
		}
		id = e.id
	}
	entries, err := v.entries(id)
	out := make(map[string]Entry, len(entries))
	for _, e := range entries {
		out[e.name] = Entry{Mode: e.mode, ID: e.id.String()}
	}
	return out, err
}

// with returns the view after a commit that adds objects.
func (v view) with(commit object, added []object) (view, error) {
	own := make(map[plumbing.Hash]object, len(added)+1)
	for _, o := range append(added, commit) {
		if !o.light {
			own[o.id] = o
		}
	}
	next := view{commit: commit.id, bytes: v.bytes + sizeOf(own), live: v.live, liveBytes: v.liveBytes}
	next.objects = v.objects.with(own)
	var err error
	if next.tree, err = treeOf(commit.data); err != nil {
		return view{}, err
	}
	// Each delivery leaves the trees behind that it replaced. To look for them
	// each time costs more than they take.
	if next.objects.len() < 2*next.live+minGarbage && next.bytes < next.liveBytes+next.liveBytes/2+minGarbageBytes {
		return next, nil
	}
	return next.compact(everything)
}

// compact drops what does not hang on the commit, and what the filter leaves out.
func (v view) compact(filter packp.Filter) (view, error) {
	own := map[plumbing.Hash]object{}
	if commit, ok := v.objects.get(v.commit); ok {
		own[v.commit] = commit
	}
	if err := v.adopt(own, v.tree); err != nil {
		return view{}, err
	}
	if filter == withoutBlobs {
		maps.DeleteFunc(own, func(_ plumbing.Hash, o object) bool { return o.kind == plumbing.BlobObject })
	}
	objects := (*layer[object])(nil).with(own)
	size := sizeOf(own)
	return view{commit: v.commit, tree: v.tree, objects: objects, forged: v.forged, retired: v.retired, live: objects.len(), bytes: size, liveBytes: size}, nil
}

// adopt what hangs on an object. Trees may lie in each other as deep as somebody likes, so nothing here calls itself.
func (v view) adopt(own map[plumbing.Hash]object, id plumbing.Hash) error {
	for next := []plumbing.Hash{id}; len(next) > 0; {
		id, next = next[len(next)-1], next[:len(next)-1]
		o, ok := v.objects.get(id)
		if _, done := own[id]; done || !ok {
			continue // What is not there is a file that was not fetched, or a submodule.
		}
		own[id] = o
		if o.kind != plumbing.TreeObject {
			continue
		}
		entries, err := parseTree(o.data)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if _, done := own[e.id]; !done {
				next = append(next, e.id)
			}
		}
	}
	return nil
}

// tidy drops what deliveries left behind: trees that were replaced, and files of
// the branch, which the server has by now.
func (s *Snapshot) tidy() *Snapshot {
	if s.branch.isTidy() && s.state.isTidy() {
		return s
	}
	next := *s
	next.branch, next.state = s.branch.tidy(withoutBlobs), s.state.tidy(everything)
	return &next
}

func (v view) isTidy() bool { return v.objects.len() == v.live }

func (v view) tidy(filter packp.Filter) view {
	if v.isTidy() {
		return v
	}
	next, err := v.compact(filter)
	if err != nil {
		return v // It is as good as it was.
	}
	return next
}

// Without returns the id that a directory of the branch has without one of its
// entries, whether that is there or not; nothing if there is no directory. It
// returns an error if the path is refused.
func (s *Snapshot) Without(path, entry string) (string, error) {
	return (&Commit{view: s.branch}).Subtree(path, entry)
}
