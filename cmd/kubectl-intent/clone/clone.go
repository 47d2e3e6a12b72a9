// Package clone reads the state of deployments that control planes keep in a repository from a clone of it. It asks no server, so it serves
// where a control plane is lost.
package clone

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/tree"
)

// retiredFile is in a state that does not count any more, because another ref holds the valid state.
const retiredFile = "retired.json"

// A Clone is a repository on this machine. The program git reads it.
type Clone struct {
	dir string

	// env is the environment of git beside the environment of this program.
	env []string
}

// A stateRef is a ref with the state of one control plane.
type stateRef struct {
	name         string
	controlPlane string

	// at is the date of the last commit.
	at time.Time
}

// Open opens the clone that a folder is in: one with a work tree, or a bare one. It returns an error for a folder that is in none.
func Open(ctx context.Context, dir string) (*Clone, error) {
	c := &Clone{dir: dir}
	_, err := c.runGit(ctx, "", "rev-parse", "--git-dir")
	return c, errors.Wrapf(err, "cannot open a clone at %s", dir)
}

// Fetch makes a clone in a folder that does not exist, with the tip of a branch and the states of control planes. The program git uses the
// credentials of the user. It returns an error for a URL that is not of https, http or ssh, and where git cannot fetch.
func Fetch(ctx context.Context, dir, url, branch string) (*Clone, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, errors.Wrap(err, "cannot make a folder for the clone")
	}
	c := &Clone{dir: dir, env: []string{"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=https:http:ssh"}}
	if _, err := c.runGit(ctx, "", "init", "--quiet", "--bare"); err != nil {
		return nil, errors.Wrap(err, "cannot make a clone")
	}
	states := []string{"+refs/intentplane/*:refs/intentplane/*", "+refs/heads/intentplane-state/*:refs/heads/intentplane-state/*"}
	args := append([]string{"fetch", "--quiet", "--no-tags", "--depth=1", "--end-of-options", url, "+refs/heads/" + branch + ":refs/heads/" + branch}, states...)
	_, err := c.runGit(ctx, "", args...)
	return c, errors.Wrapf(err, "cannot fetch branch %s of %s", branch, url)
}

// controlPlaneOf returns the control plane whose state a ref holds, or "". A clone has the branch of a remote below the name of that.
func controlPlaneOf(ref string) string {
	if name, ok := strings.CutPrefix(ref, "refs/intentplane/"); ok {
		name, isState := strings.CutSuffix(name, "/state")
		return validPathSegment(name, isState)
	}
	branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
	if remote, ok := strings.CutPrefix(ref, "refs/remotes/"); ok {
		_, branch, isBranch = strings.Cut(remote, "/")
	}
	name, isState := strings.CutPrefix(branch, "intentplane-state/")
	return validPathSegment(name, isBranch && isState)
}

// validPathSegment returns a name that is valid and has no slash, else "".
func validPathSegment(name string, isValid bool) string {
	if !isValid || strings.Contains(name, "/") {
		return ""
	}
	return name
}

// listStateRefs returns the valid state of each control plane in the clone: the state with the newest commit.
func (c *Clone) listStateRefs(ctx context.Context) ([]stateRef, error) {
	out, err := c.runGit(ctx, "", "for-each-ref", "--format=%(refname) %(committerdate:unix)")
	if err != nil {
		return nil, errors.Wrap(err, "cannot list the refs of the clone")
	}
	var all []stateRef
	for line := range strings.Lines(out) {
		ref, isState := stateOfLine(line)
		if !isState {
			continue
		}
		retired, err := c.listTreeEntries(ctx, ref.name, retiredFile)
		if err != nil {
			return nil, err
		}
		if len(retired) == 0 {
			all = append(all, ref)
		}
	}
	return newestStates(all), nil
}

func stateOfLine(line string) (stateRef, bool) {
	name, date, _ := strings.Cut(strings.TrimSpace(line), " ")
	seconds, err := strconv.ParseInt(date, 10, 64)
	out := stateRef{name: name, controlPlane: controlPlaneOf(name), at: time.Unix(seconds, 0)}
	return out, err == nil && out.controlPlane != ""
}

// newestStates returns one state of each control plane, sorted by its name.
func newestStates(all []stateRef) []stateRef {
	slices.SortStableFunc(all, func(a, b stateRef) int {
		return cmp.Or(cmp.Compare(a.controlPlane, b.controlPlane), b.at.Compare(a.at))
	})
	return slices.CompactFunc(all, func(a, b stateRef) bool { return a.controlPlane == b.controlPlane })
}

// readStateFile returns a file of a state, or "" where it has none of that path.
func (c *Clone) readStateFile(ctx context.Context, s stateRef, file string) (string, error) {
	found, err := c.listTreeEntries(ctx, s.name, file)
	if err != nil || len(found) == 0 {
		return "", err
	}
	all, err := c.readBlobs(ctx, found)
	if err != nil {
		return "", errors.Wrapf(err, "cannot read %s of %s", file, s.name)
	}
	return string(all[0]), nil
}

// ReadFiles returns the files of a Git tree, without the marker. It returns an error where the clone does not have the tree, and for a tree
// that no deployment delivers.
func (c *Clone) ReadFiles(ctx context.Context, id string) (tree.Files, error) {
	entries, err := c.listTreeEntries(ctx, id, "", "-r")
	if err != nil {
		return nil, err
	}
	if len(entries) > tree.MaxFiles {
		return nil, errors.Errorf("tree %s has more than %d files", id, tree.MaxFiles)
	}
	entries = slices.DeleteFunc(entries, func(e treeEntry) bool { return e.name == tree.Marker })
	all, err := c.readBlobs(ctx, entries)
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read tree %s", id)
	}
	out := tree.Files{}
	for i, e := range entries {
		out[e.name] = all[i]
	}
	return out, nil
}

// ReadDirectory returns the files of a directory of a branch, without the marker, whose tree without the marker has an id. The state has such trees of earlier revisions, and
// the tip of the branch has the directory itself. It returns an error where neither has it.
func (c *Clone) ReadDirectory(ctx context.Context, id, branch, path string) (tree.Files, error) {
	files, err := c.ReadFiles(ctx, id)
	if err == nil {
		return files, nil
	}
	refs, err := c.refsOfBranch(ctx, branch)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		if files, err := c.ReadFiles(ctx, ref+":"+path); err == nil && tree.ID(files) == id {
			return files, nil
		}
	}
	return nil, errors.Errorf("neither branch %s nor the state of the clone has directory %s as tree %s: fetch both", branch, path, id)
}

// refsOfBranch returns the refs of a branch: the ref of the clone, and the refs of its remotes.
func (c *Clone) refsOfBranch(ctx context.Context, branch string) ([]string, error) {
	out, err := c.runGit(ctx, "", "for-each-ref", "--format=%(refname)", "refs/heads/"+branch, "refs/remotes/*/"+branch)
	return strings.Fields(out), errors.Wrap(err, "cannot list the refs of the clone")
}
