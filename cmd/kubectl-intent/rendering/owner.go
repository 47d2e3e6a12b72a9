package rendering

import (
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/provider/marker"
)

// An Owner of directories is a deployment of the named control planes, or of any control plane if the list is empty.
type Owner struct {
	// Claim is the deployment.
	Claim rolloutv1alpha1.ClaimReference

	controlPlanes map[string]bool
}

func ownerOfClaim(c rolloutv1alpha1.ClaimReference, places []catalog.Place) Owner {
	out := Owner{Claim: c, controlPlanes: map[string]bool{}}
	for _, p := range places {
		if name := p.Config.ControlPlane; name != "" {
			out.controlPlanes[name] = true
		}
	}
	return out
}

// ownsMarker reports whether a marker names the owner.
func (o Owner) ownsMarker(m marker.Marker) bool {
	o.Claim.UID, m.Claim.UID = "", ""
	return m.Claim == o.Claim && (len(o.controlPlanes) == 0 || o.controlPlanes[m.ControlPlane])
}

// mayOwnDirectory reports whether a directory may belong to the owner. A copy of an owned directory does not.
func (o Owner) mayOwnDirectory(dir string) bool {
	return strings.HasSuffix("/"+dir, "/"+path.Join(o.Claim.Namespace, o.Claim.Name))
}

// findDirectories returns the sorted directories of the owner in a checkout. A directory with an unreadable marker belongs to another owner.
func (o Owner) findDirectories(root *os.Root) ([]string, error) {
	out := []string{}
	err := fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && e.Name() == ".git" {
			return fs.SkipDir
		}
		if e.Name() != tree.Marker || !e.Type().IsRegular() || !o.mayOwnDirectory(path.Dir(name)) {
			return nil
		}
		b, err := readBeginning(root, name)
		if err != nil {
			return err
		}
		if m, err := marker.Parse(b); err == nil && o.ownsMarker(m) {
			out = append(out, path.Dir(name))
		}
		return nil
	})
	return out, errors.Wrap(err, "cannot read the checkout")
}

// maxMarker limits the size of a marker in bytes. Valid markers are smaller.
const maxMarker = 64 << 10

// readBeginning returns the first bytes of a file. Other writers of the repository may commit large files.
func readBeginning(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // Nothing was written.
	return io.ReadAll(io.LimitReader(f, maxMarker))
}

// removedFiles returns the removal of all files of a directory, with its marker.
func removedFiles(root *os.Root, dir string) ([]Change, error) {
	out, err := compareDirectory(root, dir, tree.Files{})
	if err != nil {
		return nil, err
	}
	name := path.Join(dir, tree.Marker)
	b, err := readBeginning(root, name)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the checkout")
	}
	return append([]Change{{File: name, Diff: unifiedDiff(name, b, nil)}}, out...), nil
}
