package gitdelivery

import (
	"context"
	"maps"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/git"
)

// withTracks returns the entries of a claim's directory, and those in the folders of its tracks by their paths.
func (c *comparison) withTracks(ctx context.Context, dir string, entries map[string]git.Entry) (map[string]git.Entry, error) {
	out := maps.Clone(entries)
	for _, folder := range []string{track.Blue, track.Green, track.FolderShared} {
		if entries[folder].Mode != modeDirectory {
			continue
		}
		inside, err := c.listDirectory(ctx, dir+"/"+folder)
		if err != nil {
			return nil, err
		}
		for name, entry := range inside {
			out[folder+"/"+name] = entry
		}
	}
	return out, nil
}
