// Package leftover describes a directory with tracks: the objects of a track, the shared objects, and the leftovers, which are references that do not follow a
// workload into its tracks. It is pure.
package leftover

import (
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/track/object"
	"github.com/intentplane/intentplane/apis/tree"
)

// A Description lists the objects of a directory that a track has, and the objects that the tracks share.
type Description struct {
	// PerTrack are the objects of the track, by their names without the suffix.
	PerTrack []object.Object `json:"perTrack"`

	// Shared are the objects that the tracks share, the routes apart.
	Shared []object.Object `json:"shared"`

	// Routed are the routes whose weights divide the requests between the tracks.
	Routed []object.Object `json:"routed"`

	// Leftovers are references, by name or selector, that do not follow a workload into the tracks.
	Leftovers []Leftover `json:"leftovers,omitempty"`
}

// A placed object is one of a directory, by its name without a suffix.
type placed struct {
	object  object.Object
	content *unstructured.Unstructured

	// perTrack is true for an object in the folder of a track, and isRouted for a route that divides the requests.
	perTrack, isRouted bool
}

// Describe returns the content of a directory with the folder of a track. It returns an error that names the file for a file that is not an object.
func Describe(files tree.Files, trackName string) (*Description, error) {
	routes, err := track.Routes(files)
	if err != nil {
		return nil, err
	}
	d := &Description{PerTrack: []object.Object{}, Shared: []object.Object{}, Routed: []object.Object{}}
	all := []placed{}
	for _, name := range files.Names() {
		if track.IsKustomization(name) {
			continue
		}
		u, err := object.Decode(files[name])
		if err != nil {
			return nil, errors.Wrap(err, name)
		}
		o := placed{object: object.Of(u), content: u, perTrack: strings.HasPrefix(name, trackName+"/")}
		d.add(&o, trackName, routes)
		all = append(all, o)
	}
	d.Leftovers = findLeftovers(d, all)
	return d, nil
}

// add an object, whose name loses the suffix of the track.
func (d *Description) add(o *placed, trackName string, routes []track.Route) {
	o.isRouted = slices.ContainsFunc(routes, func(r track.Route) bool {
		return o.object == object.Object{Group: track.GatewayGroup, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
	})
	switch {
	case o.perTrack:
		o.object.Name = strings.TrimSuffix(o.object.Name, track.Suffix(trackName))
		d.PerTrack = append(d.PerTrack, o.object)
	case o.isRouted:
		d.Routed = append(d.Routed, o.object)
	default:
		d.Shared = append(d.Shared, o.object)
	}
}
