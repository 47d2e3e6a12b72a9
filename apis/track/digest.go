package track

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/track/object"
)

// WorkloadDigest returns the digest of the objects that each track has, without the number of its pods. Two revisions of an equal digest need no canary. It
// does not depend on the track.
func (p *Parts) WorkloadDigest() (string, error) {
	objects := map[string]any{}
	for _, m := range p.members {
		if m.perTrack {
			objects[m.file] = withoutSizes(m.Unstructured).Object
		}
	}
	return digest.Of(objects, nil)
}

func withoutSizes(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	if field, _ := sizeFieldOfKind(u); field != "" {
		spec := object.MapAt(u.Object, "spec")
		delete(spec, field)
		// An autoscaler has an upper bound too. A Deployment has no field of that name.
		delete(spec, "maxReplicas")
		delete(spec, "maxReplicaCount")
	}
	return u
}
