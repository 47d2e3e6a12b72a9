package prunerequest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/marker"
)

// TestMarkersAreBounded reads files that have the name of a marker, and are longer than one, or too many.
func TestMarkersAreBounded(t *testing.T) {
	c := newContents()
	c.addMarkerContent("long", make([]byte, 8<<20))
	if err := c.checkMarkers(); err != nil || c.markers["long"] != nil {
		t.Errorf("\nA file that is too long for a marker is none, and takes no memory.\naddMarker(...): %d bytes, %v", len(c.markers["long"]), err)
	}
	for range 2 {
		for n := range 2 * maxMarkersBytes / marker.MaxBytes {
			c.addMarkerContent(fmt.Sprint(n), make([]byte, marker.MaxBytes))
		}
	}
	held := 0
	for _, content := range c.markers {
		held += len(content)
	}
	if diff := cmp.Diff(failure.ClassTooCostly, failure.ClassOf(c.checkMarkers())); diff != "" || held != maxMarkersBytes {
		t.Errorf("\nThe markers of a plan have a bound.\naddMarker(...): %d bytes, -want, +got:\n%s", held, diff)
	}
}

func TestObjectsAreBounded(t *testing.T) {
	const few, many = 100, 5000
	files := func(objects int) map[string][]byte {
		out := map[string][]byte{}
		for n := range objects {
			name := fmt.Sprintf("part-%d.yaml", n/few)
			out[name] = fmt.Appendf(out[name], "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c-%d}\n", n)
		}
		return out
	}
	cases := map[string]struct {
		reason      string
		objects     int
		directories int
		want        int
	}{
		"Few":   {reason: "The objects of a usual directory are known beside many others.", objects: few, directories: maxPlanned, want: few},
		"Alone": {reason: "A directory with many objects has the memory of a plan alone.", objects: many, directories: 1, want: many},
		"Many":  {reason: "A directory with more objects than its part of the memory counts as unreadable.", objects: many, directories: maxPlanned},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newContents()
			c.addFileObjects("d", files(tc.objects), tc.directories)
			if diff := cmp.Diff(tc.want, len(c.objects["d"])); diff != "" {
				t.Errorf("\n%s\naddObjects(...): objects: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
