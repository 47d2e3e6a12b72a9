// Package placeholder keeps the directories of Sites whose last claim goes. Git has no empty directories, and an engine that does not find its directory prunes
// nothing.
package placeholder

import (
	"context"
	"path"
	"slices"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/objects"
)

const (
	// directory that no engine applies.
	directory = ".placeholder"

	file = "README"
	text = "The directory above stays when its last claim goes, so that the GitOps engine which reads it finds it, and prunes.\n"
)

// A lister lists the entries of directories of the branch.
type lister interface {
	Entries(ctx context.Context, dir string) (map[string]git.Entry, error)
}

// Keep adds a placeholder to the directory of each Site with an engine, if a change removes its last claim directory. It returns a *failure.Error if
// the branch cannot be read.
func Keep(ctx context.Context, l lister, c *git.Change, isRead func(dir string) bool) error {
	for _, removed := range c.Remove {
		dir := path.Dir(path.Dir(removed))
		if dir == "." || !isRead(removed) {
			continue
		}
		empty, err := isSiteEmptied(ctx, l, dir, c)
		if err != nil {
			return err
		}
		if empty {
			putDirectory(c, dir+"/"+directory, map[string][]byte{file: []byte(text)})
		}
	}
	return nil
}

func putDirectory(c *git.Change, dir string, files map[string][]byte) {
	if c.Put == nil {
		c.Put = map[string]map[string][]byte{}
	}
	c.Put[dir] = files
}

// isSiteEmptied is true if a change removes the last directory <namespace>/<name> of a Site's directory.
func isSiteEmptied(ctx context.Context, l lister, dir string, c *git.Change) (bool, error) {
	for written, files := range c.Put {
		if len(files) > 0 && path.Dir(path.Dir(written)) == dir {
			return false, nil
		}
	}
	namespaces, err := l.Entries(ctx, dir)
	if err != nil {
		return false, err
	}
	for namespace, entry := range namespaces {
		if entry.Mode != objects.ModeTree {
			return false, nil
		}
		claims, err := l.Entries(ctx, dir+"/"+namespace)
		if err != nil {
			return false, err
		}
		for name := range claims {
			if !slices.Contains(c.Remove, dir+"/"+namespace+"/"+name) {
				return false, nil
			}
		}
	}
	return len(namespaces) > 0, nil
}
