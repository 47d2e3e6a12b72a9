package gitdelivery

import (
	"path"
	"slices"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/provider/git"
)

const (
	// placeholder is a directory that no engine applies.
	placeholder = ".placeholder"

	placeholderFile = "README"
	placeholderSays = "The directory above stays when its last claim goes, so that the GitOps engine which reads it finds it, and prunes.\n"
)

// keepPlaces leaves something in the directories of Sites that a change empties. Git has no empty directories, and an engine that does not
// find its directory prunes nothing.
func (f facts) keepPlaces(s *git.Snapshot, c *git.Change) error {
	for _, removed := range c.Remove {
		dir := path.Dir(path.Dir(removed))
		if dir == "." || !f.engineReads(removed) {
			continue
		}
		empty, err := isSiteEmptied(s, dir, c)
		if err != nil {
			return err
		}
		if empty {
			putDirectory(c, dir+"/"+placeholder, map[string][]byte{placeholderFile: []byte(placeholderSays)})
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

// engineReads is true for a directory of a Site that has an engine. Of a deleted Site that is not known.
func (f facts) engineReads(dir string) bool {
	site := f.sites[f.siteOfDirectory(dir)]
	return site != nil && site.Spec.Engine.Type != "" && site.Spec.Engine.Type != catalogv1alpha1.EngineNone
}

// siteOfDirectory is the Site that a directory is or was for, as far as that is known.
func (f facts) siteOfDirectory(dir string) string {
	for _, t := range f.spec.Trees {
		if t.Path == dir {
			return t.Site
		}
	}
	for _, t := range f.lastStatus.Trees {
		if t.Path == dir {
			return t.Site
		}
	}
	if f.memory != nil {
		for _, t := range f.memory.Trees {
			if t.Path == dir {
				return t.Site
			}
		}
	}
	return ""
}

// allSiteNames are the Sites that the delivery is or was about.
func (f facts) allSiteNames() []string {
	out := []string{}
	for _, dir := range f.allDirectories() {
		out = append(out, f.siteOfDirectory(dir))
	}
	for _, t := range f.spec.Trees {
		out = append(out, t.Site)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(name string) bool { return name == "" })
}

// isSiteEmptied is true if a change leaves nothing in a Site's directory, which holds <namespace>/<name>.
func isSiteEmptied(s *git.Snapshot, dir string, c *git.Change) (bool, error) {
	for written, files := range c.Put {
		if len(files) > 0 && path.Dir(path.Dir(written)) == dir {
			return false, nil
		}
	}
	namespaces, err := s.Entries(dir)
	if err != nil {
		return false, err
	}
	for namespace, at := range namespaces {
		if at.Mode != modeDirectory {
			return false, nil
		}
		claims, err := s.Entries(dir + "/" + namespace)
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
