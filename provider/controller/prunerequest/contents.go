package prunerequest

import (
	"bytes"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/marker"
	"github.com/intentplane/intentplane/provider/prune"
)

const (
	// maxMarkersBytes limits the memory of all markers of a plan, and maxObjectsBytes that of the objects of all its directories.
	maxMarkersBytes, maxObjectsBytes = 16 << 20, 16 << 20

	// minObjectsBytes is the memory that the objects of one directory may take in any case, and objectOverhead that of an object beside its texts.
	minObjectsBytes = maxObjectsBytes / maxPlanned
	objectOverhead  = 64

	// maxPlanned is the maximum number of the directories that a plan removes.
	maxPlanned = 500
)

// contents are what a plan holds of the files of a repository: a few MiB, regardless of the repository. It reads each file and each directory once.
type contents struct {
	// markers are the markers by the ids of their files. Nil stands for a file that is none.
	markers     map[string][]byte
	markerBytes int
	// objects are the objects of directories, by their path and the id of their tree. Nil stands for unreadable ones.
	objects map[string][]prune.Object
}

func newContents() contents {
	return contents{markers: map[string][]byte{}, objects: map[string][]prune.Object{}}
}

// addMarkerContent adds the content of a file, unless that is too long for a marker. Beyond the memory of all markers it counts, and is not held.
func (c *contents) addMarkerContent(id string, content []byte) {
	if _, isKnown := c.markers[id]; isKnown {
		return
	}
	if len(content) > marker.MaxBytes {
		content = nil
	}
	if c.markerBytes += len(content); c.markerBytes > maxMarkersBytes {
		content = nil
	}
	c.markers[id] = bytes.Clone(content) // The content may be a part of a large answer.
}

// checkMarkers returns an error of class TooCostly if the markers take too much memory.
func (c *contents) checkMarkers() error {
	if c.markerBytes > maxMarkersBytes {
		return failure.Newf(failure.ClassTooCostly, "cannot plan: the markers of the directories take more than %d MiB", maxMarkersBytes>>20)
	}
	return nil
}

// addFileObjects adds the objects in the files of one of some directories. A directory whose objects take more than its part of the memory counts as unreadable.
func (c *contents) addFileObjects(key string, files map[string][]byte, directories int) {
	all := prune.ObjectsOf(files)
	size := 0
	for _, o := range all {
		size += len(o.Kind) + len(o.Name) + objectOverhead
	}
	if size > max(minObjectsBytes, maxObjectsBytes/max(1, directories)) {
		all = nil
	}
	c.objects[key] = all
}
