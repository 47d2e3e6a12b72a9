package track

import (
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/track/object"
	"github.com/intentplane/intentplane/apis/tree"
)

// A Layout describes the files of a directory beside the objects.
type Layout struct {
	// Kustomizations are in the directory and in each folder.
	Kustomizations bool
}

// Files returns the directory in which a track is alone: its folder, and the shared folder. At gives it another state.
func (p *Parts) Files(track string, l Layout) (tree.Files, error) {
	if track != Blue && track != Green {
		return nil, errors.Errorf("%q is not a track", track)
	}
	out := tree.Files{}
	for _, m := range p.members {
		if err := p.placeMember(out, m, track); err != nil {
			return nil, errors.Wrap(err, m.file)
		}
	}
	if !l.Kustomizations {
		return out, nil
	}
	for _, folder := range []string{track, FolderShared} {
		if err := kustomizeFolder(out, folder); err != nil {
			return nil, err
		}
	}
	return out, writeKustomization(out, kustomizationFile, []string{track, FolderShared})
}

func (p *Parts) placeMember(out tree.Files, m *member, track string) error {
	if m.shared {
		b, err := p.sharedContent(m, track)
		if err != nil {
			return err
		}
		out[FolderShared+"/"+m.file] = b
	}
	if !m.perTrack {
		return nil
	}
	b, err := object.Encode(p.objectInTrack(m, track))
	out[track+"/"+fileNameInTrack(track, m.file)] = b
	return err
}

// sharedContent returns the content of a shared object with a track in its selectors and routes. Other objects keep their bytes.
func (p *Parts) sharedContent(m *member, track string) ([]byte, error) {
	if !m.front && !m.routed {
		return m.content, nil
	}
	u := m.DeepCopy()
	if m.front {
		object.MakeMap(u.Object, "spec", "selector")[LabelTrack] = track
	}
	for _, rule := range rulesOfRoute(u) {
		p.routeRuleToTrack(m.GetNamespace(), rule, track)
	}
	return object.Encode(u)
}

// routeRuleToTrack gives a rule that sends requests to a front the name of its copy in a track. All weights of the rule are multiplied by 100, so that
// the tracks can share one, and the others keep their proportion to it.
func (p *Parts) routeRuleToTrack(namespace string, rule map[string]any, track string) {
	refs := backendRefs(rule)
	f := p.frontsOfWorkload()
	names := make([]string, len(refs))
	for i, ref := range refs {
		named := map[string]any{"group": ref["group"], "kind": ref["kind"], "namespace": ref["namespace"], "name": nameInTrack(track, object.TextAt(ref, "name"))}
		if front, _ := f.frontOfBackendRef(namespace, named); front != "" {
			names[i] = object.TextAt(named, "name")
		}
	}
	if !slices.ContainsFunc(names, func(n string) bool { return n != "" }) {
		return
	}
	for i, ref := range refs {
		if names[i] != "" {
			ref["name"] = names[i]
		}
		weight, _ := weightOfBackend(ref)
		ref["weight"] = object.Number(weight * 100)
	}
}

// fileNameInTrack returns the name of an object's file in a track. As of any other object it begins with the kind and the name.
func fileNameInTrack(track, file string) string {
	stem := strings.TrimSuffix(file, ".yaml")
	if i := strings.LastIndex(stem, "_"); i >= 0 {
		return nameInTrack(track, stem[:i]) + stem[i:] + ".yaml"
	}
	return nameInTrack(track, stem) + ".yaml"
}

// objectInTrack returns an object as a track has it.
func (p *Parts) objectInTrack(m *member, track string) *unstructured.Unstructured {
	u := m.DeepCopy()
	p.renameReferences(u, track)
	u.SetName(nameInTrack(track, m.GetName()))
	object.MakeMap(u.Object, "metadata", "labels")[LabelTrack] = track
	if m.front {
		keepInternal(u)
	}
	selectTrack(u, track)
	if p.isAutoscaled(m) {
		delete(object.MapAt(u.Object, "spec"), "replicas")
	}
	annotateSize(u)
	return u
}

// isAutoscaled is true for a Deployment that an autoscaler of its track scales. Its files have no number of pods, in no state: each delivery would undo what
// the autoscaler did, and a number that a later file leaves out is set to one. A Deployment of no pods keeps that: no autoscaler scales it.
func (p *Parts) isAutoscaled(m *member) bool {
	if n, ok := object.ParseInteger(object.MapAt(m.Object, "spec")["replicas"]); !m.hasGroupKind("apps", "Deployment") || ok && n == 0 {
		return false
	}
	return slices.ContainsFunc(p.members, func(o *member) bool {
		return o.perTrack && isAutoscaler(o.Unstructured) && scalesDeployment(o.Unstructured, m.GetNamespace(), m.GetName())
	})
}

// renameReferences gives references to objects that each track has the suffix.
func (p *Parts) renameReferences(u *unstructured.Unstructured, track string) {
	object.VisitReferences(u, func(kind string, in map[string]any, field string) {
		if slices.ContainsFunc(p.members, func(m *member) bool {
			return m.perTrack && m.GetKind() == kind && m.GetName() == in[field] && m.GetNamespace() == u.GetNamespace()
		}) {
			in[field] = nameInTrack(track, object.TextAt(in, field))
		}
	})
}

// keepInternal removes the fields of the copy of a Service that give it an external address, or the fixed address of the Service itself.
func keepInternal(u *unstructured.Unstructured) {
	spec := object.MapAt(u.Object, "spec")
	for _, field := range []string{
		"type", "externalIPs", "externalTrafficPolicy", "healthCheckNodePort", "loadBalancerIP", "loadBalancerClass", "loadBalancerSourceRanges",
		"allocateLoadBalancerNodePorts",
	} {
		delete(spec, field)
	}
	if object.TextAt(spec, "clusterIP") != "None" {
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	}
	for _, port := range object.MapsOf(object.ListAt(spec, "ports")) {
		delete(port, "nodePort")
	}
}

// annotateSize records the full size of an object in an annotation, so that a file shows it beside the current size.
func annotateSize(u *unstructured.Unstructured) {
	field, annotation := sizeFieldOfKind(u)
	if n, ok := object.ParseInteger(object.MapAt(u.Object, "spec")[field]); ok && field != "" {
		object.MakeMap(u.Object, "metadata", "annotations")[annotation] = string(object.Number(n))
	}
}

// sizeFieldOfKind returns the field of a kind's spec that holds its size, and the annotation that holds the full size.
func sizeFieldOfKind(u *unstructured.Unstructured) (field, annotation string) {
	switch u.GroupVersionKind().GroupKind().String() {
	case "Deployment.apps":
		return "replicas", AnnotationReplicas
	case "HorizontalPodAutoscaler.autoscaling":
		return "minReplicas", AnnotationMinReplicas
	case "ScaledObject.keda.sh":
		return "minReplicaCount", AnnotationMinReplicas
	}
	return "", ""
}

// kustomizeFolder writes the kustomization of a folder, which lists its files.
func kustomizeFolder(files tree.Files, folder string) error {
	names := append([]string{}, filesOfFolder(files, folder).Names()...) // An empty folder has an empty list.
	return writeKustomization(files, folder+"/"+kustomizationFile, names)
}

func writeKustomization(files tree.Files, name string, resources []string) error {
	slices.Sort(resources)
	b, err := yaml.Marshal(map[string]any{"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources})
	files[name] = b
	return errors.Wrapf(err, "cannot encode %s", name)
}
