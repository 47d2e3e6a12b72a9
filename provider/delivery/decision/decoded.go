package decision

import (
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// maxDecodedBytes is the maximum size of the decoded files in the facts about a delivery. Files beyond it are decoded at each use: a compressed spec can
// decode to far more bytes than its own size.
const maxDecodedBytes = 16 << 20

// decodedTree is the result of decoding the files of a tree. Its readers do not change the files.
type decodedTree struct {
	files tree.Files
	err   error
}

// DecodeFiles returns the facts with the decoded files of the trees of the spec, up to maxDecodedBytes.
func (f Facts) DecodeFiles() Facts {
	f.decoded = decodeTrees(f.Spec.Trees)
	return f
}

// decodeTrees decodes the files of trees once, up to maxDecodedBytes.
func decodeTrees(trees []v1alpha1.Tree) map[string]decodedTree {
	out, size := map[string]decodedTree{}, 0
	for _, t := range trees {
		if t.Action != v1alpha1.ActionDesired {
			continue
		}
		files, err := tree.Decode(t.Files)
		for _, content := range files {
			size += len(content)
		}
		if size > maxDecodedBytes {
			return out
		}
		out[placeOf(t)] = decodedTree{files: files, err: err}
	}
	return out
}

// placeOf returns the branch and path of a tree, by which a spec names it once.
func placeOf(t v1alpha1.Tree) string { return t.Branch + " " + t.Path }

// filesOf returns the files of a tree of the spec. It returns an error for files that cannot be decoded.
func (f Facts) filesOf(t v1alpha1.Tree) (tree.Files, error) {
	if decoded, ok := f.decoded[placeOf(t)]; ok {
		return decoded.files, decoded.err
	}
	return tree.Decode(t.Files)
}
