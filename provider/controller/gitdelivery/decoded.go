package gitdelivery

import (
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// maxDecodedBytes is how many bytes of decoded files the facts about a delivery hold. What does not fit is decoded each time: a spec can name far more than
// it takes itself.
const maxDecodedBytes = 16 << 20

// decodedTree is what decoding the files of a tree came to. Its readers do not change the files.
type decodedTree struct {
	files tree.Files
	err   error
}

// decodeTrees decodes the files of trees once, as far as they fit.
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
func (f facts) filesOf(t v1alpha1.Tree) (tree.Files, error) {
	if is, ok := f.decoded[placeOf(t)]; ok {
		return is.files, is.err
	}
	return tree.Decode(t.Files)
}
