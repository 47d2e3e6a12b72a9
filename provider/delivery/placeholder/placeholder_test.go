package placeholder

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/objects"
)

// A branch lists the entries of directories by the paths of its files.
type branch []string

// Entries returns files and directories.
func (b branch) Entries(_ context.Context, dir string) (map[string]git.Entry, error) {
	out := map[string]git.Entry{}
	for _, name := range b {
		inside, ok := strings.CutPrefix(name, dir+"/")
		if !ok {
			continue
		}
		entry := git.Entry{Mode: objects.ModeFile}
		if strings.Contains(inside, "/") {
			entry.Mode = objects.ModeTree
		}
		first, _, _ := strings.Cut(inside, "/")
		out[first] = entry
	}
	return out, nil
}

func TestKeep(t *testing.T) {
	const web, api, placeholderDir = "clusters/edge1/team-a/web", "clusters/edge1/team-a/api", "clusters/edge1/.placeholder"
	cases := map[string]struct {
		reason string
		files  branch
		put    []string
		remove []string
		unread bool
		want   bool
	}{
		"Last":      {reason: "The last directory of a Site leaves a placeholder.", files: branch{web + "/a.yaml"}, remove: []string{web}, want: true},
		"Both":      {reason: "The last directories of a Site leave a placeholder.", files: branch{web + "/a.yaml", api + "/a.yaml"}, remove: []string{web, api}, want: true},
		"Neighbour": {reason: "A Site with another directory needs no placeholder.", files: branch{web + "/a.yaml", api + "/a.yaml"}, remove: []string{web}},
		"File":      {reason: "A Site with another file needs no placeholder.", files: branch{web + "/a.yaml", "clusters/edge1/README"}, remove: []string{web}},
		"Replaced":  {reason: "A Site that gets another directory needs no placeholder.", files: branch{web + "/a.yaml"}, put: []string{api}, remove: []string{web}},
		"Unread":    {reason: "A directory that no engine reads gets no placeholder.", files: branch{web + "/a.yaml"}, remove: []string{web}, unread: true},
		"Root":      {reason: "A directory at the root of the branch gets no placeholder.", files: branch{"team-a/web/a.yaml"}, remove: []string{"team-a/web"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &git.Change{Remove: tc.remove, Put: map[string]map[string][]byte{}}
			for _, dir := range tc.put {
				c.Put[dir] = map[string][]byte{"a.yaml": nil}
			}
			err := Keep(t.Context(), tc.files, c, func(string) bool { return !tc.unread })
			if diff := cmp.Diff(tc.want, len(c.Put[placeholderDir]) > 0); err != nil || diff != "" {
				t.Errorf("\n%s\nKeep(...): %v, has a placeholder: -want, +got:\n%s", tc.reason, err, diff)
			}
			if !tc.want && len(c.Put) != len(tc.put) {
				t.Errorf("\n%s\nKeep(...): got directories %v", tc.reason, c.Put)
			}
		})
	}
}
