package track

import (
	"cmp"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/track/object"
)

// isAutoscaler is true for a kind that keeps the number of pods of a Deployment: Kubernetes' own, or KEDA's.
func isAutoscaler(u *unstructured.Unstructured) bool {
	return isObjectOfKind(u, "HorizontalPodAutoscaler.autoscaling") || isScaledObject(u)
}

func isScaledObject(u *unstructured.Unstructured) bool {
	return isObjectOfKind(u, "ScaledObject.keda.sh")
}

func isObjectOfKind(u *unstructured.Unstructured, kind string) bool {
	return u.GroupVersionKind().GroupKind().String() == kind
}

// scalesDeployment is true for an autoscaler of a Deployment, which is the kind that a ScaledObject scales unless it names another kind.
func scalesDeployment(scaler *unstructured.Unstructured, namespace, name string) bool {
	target := object.MapAt(scaler.Object, "spec", "scaleTargetRef")
	return cmp.Or(object.TextAt(target, "kind"), "Deployment") == "Deployment" && object.TextAt(target, "name") == name && scaler.GetNamespace() == namespace
}

func (p *Parts) scalesWorkload(m *member) bool {
	return slices.ContainsFunc(p.workloadMembers(), func(w *member) bool { return scalesDeployment(m.Unstructured, w.GetNamespace(), w.GetName()) })
}

// checkScalers refuses an autoscaler of each track that scales no Deployment of the workload, and an autoscaler that may leave a track without pods: the pods
// come before its requests.
func (p *Parts) checkScalers() error {
	for _, m := range p.members {
		if !m.perTrack || !isAutoscaler(m.Unstructured) {
			continue
		}
		if !p.scalesWorkload(m) {
			return errors.Errorf("%s: scales nothing that has tracks: leave it out of spec.canary.perTrack, since two would scale the same pods",
				object.Of(m.Unstructured))
		}
		if err := checkKeepsPods(m.Unstructured); err != nil {
			return errors.Wrap(err, object.Of(m.Unstructured).String())
		}
	}
	return nil
}

// checkKeepsPods refuses a ScaledObject that may scale to no pods, which KEDA does unless it says otherwise.
func checkKeepsPods(u *unstructured.Unstructured) error {
	if !isScaledObject(u) {
		return nil
	}
	spec := object.MapAt(u.Object, "spec")
	if n, ok := object.ParseInteger(spec["minReplicaCount"]); !ok || n < 1 {
		return errors.New("spec.minReplicaCount: must be 1 or more in a canary: a track has pods before it gets requests")
	}
	if spec["idleReplicaCount"] != nil {
		return errors.New("spec.idleReplicaCount: leave it out in a canary: a track has pods before it gets requests")
	}
	return nil
}
